#include "jprof/hotspot/vm/nmethod.h"

#include <algorithm>

namespace jprof::hotspot {
namespace {

constexpr int kDigitBits = 6, kMostDigits = 5;
constexpr uint32_t kHighDigits = 64;  // bytes whose value means that another one follows

constexpr int kFirstWithoutZeros = 20;  // JDK-8292758

}  // namespace

Coding CodingOf(Fields& field, const MemoryReader& memory) {
  const uint64_t major = field.Address("Abstract_VM_Version", "_vm_major_version");
  return major != 0 && memory.At<int32_t>(major) >= kFirstWithoutZeros ? Coding::kNoZeros
                                                                       : Coding::kAllBytes;
}

bool CompressedReader::Read(uint32_t* value) {
  const uint32_t excluded = coding_ == Coding::kNoZeros ? 1 : 0;
  uint32_t sum = 0;
  for (int digit = 0; digit < kMostDigits; ++digit) {
    if (at_ >= end_ || *at_ < excluded) return false;
    const uint32_t byte = *at_++;
    sum += (byte - excluded) << (digit * kDigitBits);
    if (byte < 256 - kHighDigits) break;
  }
  *value = sum;
  return true;
}

uint32_t FindScope(MemoryReader& memory, uint64_t pcs, uint64_t count, int64_t pc_offset) {
  uint64_t low = 0, high = count;
  while (low < high) {
    const uint64_t middle = (low + high) / 2;
    int32_t offset;
    if (!memory.Load(pcs + middle * sizeof(PcDesc), &offset)) return 0;
    (offset < pc_offset ? low : high) = offset < pc_offset ? middle + 1 : middle;
  }
  if (low == count) return 0;
  const uint64_t found = pcs + low * sizeof(PcDesc) + offsetof(PcDesc, scope_offset);
  return static_cast<uint32_t>(std::max(memory.Get<int32_t>(found), 0));
}

bool ReadScope(MemoryReader& memory, uint64_t scopes, uint64_t size, uint32_t offset, Coding coding,
               Scope* scope) {
  if (offset == 0 || offset >= size) return false;
  uint8_t bytes[3 * kMostDigits];
  const size_t count = std::min<size_t>(sizeof bytes, size - offset);
  if (!memory.Copy(scopes + offset, count, bytes)) return false;
  CompressedReader reader(bytes, bytes + count, coding);
  uint32_t bci;
  if (!reader.Read(&scope->sender) || !reader.Read(&scope->method) || !reader.Read(&bci))
    return false;
  scope->bci = static_cast<int32_t>(bci) - 1;  // -1 is written as 0
  return scope->sender < offset;  // an inlined scope follows the one that it is inlined into
}

}  // namespace jprof::hotspot
