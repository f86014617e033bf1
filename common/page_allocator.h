// An allocator for large tables of the agent, which takes and returns whole pages: a block of
// at least kLeast bytes is a mapping of its own, a smaller one comes from operator new. The
// agent lives in the program's process, and memory that is returned to malloc is not returned
// to the system:
// - glibc has a heap for each few threads, and each thread of the agent may get another one;
// - freeing a large block raises glibc's limits for all later blocks of the program, so that it
//   maps fewer blocks and gives back less.
// Thread-safe; not for signal handlers.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <limits>
#include <new>
#include <string>
#include <vector>

namespace jprof {

template <typename T>
struct PageAllocator {
  using value_type = T;
  static constexpr size_t kLeast = size_t{1} << 16;

  PageAllocator() = default;
  template <typename U>
  PageAllocator(const PageAllocator<U>&) {}  // NOLINT: containers convert it

  T* allocate(size_t n) {
    if (n > std::numeric_limits<size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
    const size_t bytes = n * sizeof(T);
    if (bytes < kLeast) return static_cast<T*>(::operator new(bytes));
    void* const memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t n) {
    const size_t bytes = n * sizeof(T);
    if (bytes < kLeast) return ::operator delete(memory);
    munmap(memory, bytes);
  }
  bool operator==(const PageAllocator&) const = default;
};

template <typename T>
using PageVector = std::vector<T, PageAllocator<T>>;
using PageString = std::basic_string<char, std::char_traits<char>, PageAllocator<char>>;

}  // namespace jprof
