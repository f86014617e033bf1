#include "jprof/hotspot/vm/heap_counters.h"

#include "jprof/hotspot/vm/load.h"

namespace jprof::hotspot {
namespace {

// The layout is that of the files hsperfdata, version 2.0.
constexpr uint32_t kMagic = 0xc0c0feca;
constexpr uint64_t kUsedAt = 8, kFirstEntryAt = 24, kCountAt = 28;
struct Entry {
  uint32_t length, name_at, vector_length;
  uint8_t type, flags, units, variability;
  uint32_t value_at;
};

}  // namespace

HeapCounters HeapCounters::Find(const VmStructs& structs) {
  HeapCounters found;
  const void* const start = structs.Static("PerfMemory", "_start");
  const uint64_t begin = start != nullptr ? LoadAt<uint64_t>(reinterpret_cast<uint64_t>(start)) : 0;
  if (begin == 0 || LoadAt<uint32_t>(begin) != kMagic) return found;
  const uint64_t end = begin + LoadAt<uint32_t>(begin + kUsedAt);
  uint64_t at = begin + LoadAt<uint32_t>(begin + kFirstEntryAt);
  for (uint32_t left = LoadAt<uint32_t>(begin + kCountAt); left > 0; --left) {
    if (at + sizeof(Entry) > end) break;
    const auto entry = LoadAt<Entry>(at);
    if (entry.length == 0 || at + entry.length > end) break;
    found.Add(reinterpret_cast<const char*>(at + entry.name_at),
              reinterpret_cast<const char*>(at + entry.value_at), entry.vector_length);
    at += entry.length;
  }
  return found;
}

void HeapCounters::Add(std::string_view name, const char* value, uint64_t size) {
  if (name == "sun.gc.cause") {
    cause_ = {value, size};
  } else if (name == "sun.gc.lastCause") {
    last_cause_ = {value, size};
  } else if (name.starts_with("sun.gc.generation.") && name.contains(".space.") &&
             name.ends_with(".used")) {
    used_.push_back(reinterpret_cast<const int64_t*>(value));
  }
}

uint64_t HeapCounters::Used() const {
  int64_t sum = 0;
  for (const int64_t* const one : used_) sum += __atomic_load_n(one, __ATOMIC_RELAXED);
  return static_cast<uint64_t>(sum);
}

std::string HeapCounters::Cause() const {
  std::string cause = cause_.Value();
  return cause == "No GC" ? last_cause_.Value() : cause;
}

}  // namespace jprof::hotspot
