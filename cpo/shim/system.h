// System calls as functions that are no cancellation points: malloc is none.
#pragma once

#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace jprof::cpo {

inline int OpenFile(const char* path, int flags, mode_t mode = 0) {
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode));
}
inline ssize_t ReadBytes(int file, char* bytes, size_t count) {
  return syscall(SYS_read, file, bytes, count);
}
inline bool WriteBytesAt(int file, const char* bytes, size_t count, off_t at) {
  return syscall(SYS_pwrite64, file, bytes, count, at) == static_cast<ssize_t>(count);
}
inline bool Allocate(int file, off_t at, size_t count) {
  return syscall(SYS_fallocate, file, 0, at, static_cast<off_t>(count)) == 0;
}
inline void CloseFile(int file) { syscall(SYS_close, file); }

inline void* Map(void* where, size_t bytes, int protection, int flags, int file, off_t at) {
  return reinterpret_cast<void*>(syscall(SYS_mmap, where, bytes, protection, flags, file, at));
}
inline int Unmap(void* memory, size_t bytes) {
  return static_cast<int>(syscall(SYS_munmap, memory, bytes));
}
// Returns anonymous memory of this library, which it does not log, or null if there is none.
inline void* MapZeros(size_t bytes) {
  void* const memory = Map(nullptr, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace jprof::cpo
