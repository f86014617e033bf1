#include "jprof/hotspot/probe/compiled_probe.h"

#include <cstring>

#include "jprof/hotspot/vm/load.h"
#include "jprof/hotspot/vm/struct_lookup.h"

namespace jprof::hotspot {
namespace {

constexpr int32_t kFromTheBeginning = -1;  // InvocationEntryBci

bool LoadsAddress(const uint8_t* code, size_t bytes, uint64_t address) {
  return address != 0 && memmem(code, bytes, &address, sizeof address) != nullptr;
}

// Returns whether the code calls an address. A call (E8) is relative to the instruction after it.
bool Calls(const uint8_t* code, size_t bytes, uint64_t address) {
  constexpr size_t kCallBytes = 5;
  const uint8_t* const end = code + bytes;
  for (const uint8_t* at = code; at + kCallBytes <= end; ++at) {
    at = static_cast<const uint8_t*>(std::memchr(at, 0xe8, static_cast<size_t>(end - at)));
    if (at == nullptr || at + kCallBytes > end) return false;
    const auto call = reinterpret_cast<uint64_t>(at);
    const int64_t distance = LoadAt<int32_t>(call + 1);
    if (call + kCallBytes + static_cast<uint64_t>(distance) == address) return true;
  }
  return false;
}

}  // namespace

bool MentionsProbe(const uint8_t* code, size_t bytes, const ProbeTargets& targets) {
#if defined(__x86_64__)
  for (const uint64_t target : {targets.entry, targets.exit})
    if (LoadsAddress(code, bytes, target) || Calls(code, bytes, target)) return true;
  return false;
#else
  return true;
#endif
}

Result<CompiledProbe> CompiledProbe::Open(const VmStructs& structs, const ProbeTargets& targets) {
  Fields field(structs);
  const CodeCache cache(field);
  const int64_t entry_bci = field("nmethod", "CompiledMethod", "_entry_bci");
  if (auto complete = field.Check(); !complete) return std::unexpected(complete.error());
  return CompiledProbe(cache, entry_bci, targets);
}

bool CompiledProbe::Counts(const void* code, size_t bytes) const {
  const MemoryReader memory(nullptr);
  const auto at = reinterpret_cast<uint64_t>(code);
  const CodeBlob blob = cache_.BlobAt(memory, at);
  if (blob.header == 0) return true;  // freed: the VM keeps the code, so this does not happen
  if (memory.At<int32_t>(blob.header + static_cast<uint64_t>(entry_bci_)) != kFromTheBeginning)
    return true;
  return MentionsProbe(static_cast<const uint8_t*>(code), bytes, targets_);
}

}  // namespace jprof::hotspot
