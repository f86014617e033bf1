#include "cpo/shim/log.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "cpo/shim/state.h"
#include "cpo/shim/system.h"
#include "cpo/shim/text.h"

namespace jprof::cpo {
namespace {

constexpr size_t kChunkBytes = kChunkSlots * sizeof(LogSlot);

// Has the disk provide the next chunk's bytes: a page of a file that it cannot would kill the
// program when it is written.
bool Extend(int file, off_t at) {
  rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < at + kChunkBytes) return false;
  if (Allocate(file, at, kChunkBytes)) return true;
  if (errno != EOPNOTSUPP) return false;
  static const char kZeros[4096] = {};
  for (size_t done = 0; done < kChunkBytes; done += sizeof kZeros) {
    if (!WriteBytesAt(file, kZeros, sizeof kZeros, at + static_cast<off_t>(done))) return false;
  }
  return true;
}

// Returns a chunk of the file, new and mapped, or null with errno.
LogSlot* MapChunk(int file, size_t number) {
  const off_t at = static_cast<off_t>(number * kChunkBytes);
  if (!Extend(file, at)) return nullptr;
  void* const made = Map(nullptr, kChunkBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, at);
  return made != MAP_FAILED ? static_cast<LogSlot*>(made) : nullptr;
}

LogSlot* Chunk(size_t number) { return __atomic_load_n(&g_state.chunks[number], __ATOMIC_ACQUIRE); }

LogSlot* Grow(size_t number) {
  const TryLock lock;
  if (!lock) return nullptr;
  if (LogSlot* const chunk = Chunk(number)) return chunk;  // another thread's
  const int file = OpenFile(g_state.log, O_RDWR | O_NOFOLLOW);
  if (file < 0) return nullptr;
  LogSlot* const chunk = MapChunk(file, number);
  CloseFile(file);
  __atomic_store_n(&g_state.chunks[number], chunk, __ATOMIC_RELEASE);
  return chunk;
}

LogSlot* Reserve() {
  const uint64_t slot = __atomic_fetch_add(&g_state.next_slot, 1, __ATOMIC_RELAXED);
  const size_t number = slot / kChunkSlots;
  LogSlot* chunk = number < kMostChunks ? Chunk(number) : nullptr;
  if (chunk == nullptr && number < kMostChunks) chunk = Grow(number);
  if (chunk != nullptr) return chunk + slot % kChunkSlots;
  auto* const header = reinterpret_cast<LogHeader*>(Chunk(0));
  // It is null in a child that a signal handler forked while this thread was here.
  if (header != nullptr) __atomic_fetch_add(&header->lost, 1, __ATOMIC_RELAXED);
  return nullptr;
}

void Publish(LogSlot* slot, SlotKind kind) {
  __atomic_store_n(&slot->kind, static_cast<uint8_t>(kind), __ATOMIC_RELEASE);
}

int CreateFile(const char* folder) {
  constexpr unsigned kMostPrograms = 1000;  // that one process executes
  for (unsigned program = 0; program < kMostPrograms; ++program) {
    Text<PATH_MAX> path;
    path.Add(folder).Add("/pages.").AddNumber(static_cast<uint64_t>(getpid()), 10);
    if (program > 0) path.Add(".").AddNumber(program, 10);
    const int file = OpenFile(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (file >= 0) memcpy(g_state.log, path.c_str(), path.size() + 1);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

}  // namespace

uint64_t Now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000 + static_cast<uint64_t>(time.tv_nsec);
}

bool CreateLog(const char* folder, uint64_t threshold, uint32_t large_page) {
  const int file = CreateFile(folder);
  if (file < 0) return false;
  LogSlot* const chunk = MapChunk(file, 0);
  const int error = errno;
  CloseFile(file);
  errno = error;
  if (chunk == nullptr) {
    unlink(g_state.log);
    return false;
  }
  auto* const header = reinterpret_cast<LogHeader*>(chunk);
  header->pid = static_cast<uint32_t>(getpid());
  header->large_page = large_page;
  header->threshold = threshold;
  header->began = Now();
  memcpy(header->magic, kLogMagic, sizeof kLogMagic);
  g_state.next_slot = kHeaderSlots;
  __atomic_store_n(&g_state.chunks[0], chunk, __ATOMIC_RELEASE);
  return true;
}

void Write(SlotKind kind, uint32_t number, uint64_t a, uint64_t b, uint64_t c) {
  LogSlot* const slot = Reserve();
  if (slot == nullptr) return;
  slot->a = a;
  slot->b = b;
  slot->c = c;
  slot->number = number;
  Publish(slot, kind);
}

void WriteText(SlotKind kind, uint32_t number, const char* text, size_t bytes) {
  if (bytes > kMostTextBytes) bytes = kMostTextBytes;
  for (size_t part = 0; part * kTextBytes <= bytes; ++part) {
    LogSlot* const slot = Reserve();
    if (slot == nullptr) return;
    const size_t left = bytes - part * kTextBytes;
    memcpy(slot->text, text + part * kTextBytes, left < kTextBytes ? left : kTextBytes);
    slot->number = number;
    slot->part = static_cast<uint8_t>(part);
    Publish(slot, kind);
  }
}

void Note(const char* text) {
  const uint32_t number = __atomic_fetch_add(&g_state.notes, 1, __ATOMIC_RELAXED);
  WriteText(SlotKind::kNote, number, text, strlen(text));
}

}  // namespace jprof::cpo
