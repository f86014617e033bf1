#include "jprof/hotspot/nmethod.h"

#include <algorithm>

namespace jprof::hotspot {
namespace {

constexpr int kDigitBits = 6, kMostDigits = 5;
constexpr uint32_t kHighDigits = 64;  // bytes that say that another one follows

}  // namespace

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

const PcDesc* FindPcDesc(const PcDesc* begin, const PcDesc* end, int64_t pc_offset) {
  const PcDesc* found =
      std::lower_bound(begin, end, pc_offset,
                       [](const PcDesc& desc, int64_t offset) { return desc.pc_offset < offset; });
  return found == end ? nullptr : found;
}

bool ReadScope(const uint8_t* scopes, size_t size, uint32_t offset, Coding coding, Scope* scope) {
  if (offset == 0 || offset >= size) return false;
  CompressedReader reader(scopes + offset, scopes + size, coding);
  uint32_t bci;
  if (!reader.Read(&scope->sender) || !reader.Read(&scope->method) || !reader.Read(&bci))
    return false;
  scope->bci = static_cast<int32_t>(bci) - 1;  // -1 is written as 0
  return scope->sender < offset;  // what is inlined is described after what it is inlined into
}

}  // namespace jprof::hotspot
