#include "jprof/hotspot/vm/line_table.h"

#include "jprof/hotspot/vm/load.h"

namespace jprof::hotspot {
namespace {

// The lowest bit of the flags of a ConstMethod states whether it has a table of lines.
constexpr uint8_t kHasLines = 1;

// An entry is the differences to the one before: in one byte, or after kLong as two numbers.
constexpr uint8_t kEnd = 0, kLong = 0xff;
constexpr int kLineBits = 3;

constexpr uint64_t kMostWords = 1 << 20;  // a ConstMethod with more is damaged

int64_t Signed(uint32_t coded) {
  return static_cast<int64_t>(coded >> 1) ^ -static_cast<int64_t>(coded & 1);
}

}  // namespace

uint32_t LineIn(const uint8_t* table, const uint8_t* end, Coding coding, uint32_t bci) {
  int64_t at = 0, line = 0, found_at = -1, found = 0;
  while (table < end && *table != kEnd) {
    const uint8_t both = *table++;
    if (both == kLong) {
      CompressedReader reader(table, end, coding);
      uint32_t bytes, lines;
      if (!reader.Read(&bytes) || !reader.Read(&lines)) return 0;
      table = reader.at();
      at += Signed(bytes);
      line += Signed(lines);
    } else {
      at += both >> kLineBits;
      line += both & ((1 << kLineBits) - 1);
    }
    if (at > int64_t{bci} || at <= found_at) continue;
    found_at = at;
    found = line;
  }
  return found > 0 && found <= 0xffff ? static_cast<uint32_t>(found) : 0;
}

LineTables::LineTables(Fields& field, const MethodLayout& method)
    : flags_(field.Optional("ConstMethod", "_flags")),
      words_(field.Optional("ConstMethod", "_constMethod_size")),
      code_size_(method.code_size),
      header_bytes_(method.const_method_bytes),
      coding_(CodingOf(field, MemoryReader(nullptr))) {
  if (flags_ < 0) flags_ = field.Optional("ConstMethod", "_flags._flags");  // from JDK 21 on
}

uint32_t LineTables::LineOf(uint64_t const_method, uint32_t bci) const {
  if (flags_ < 0 || words_ < 0) return 0;
  const auto at = [&](int64_t offset) { return const_method + static_cast<uint64_t>(offset); };
  if ((LoadAt<uint8_t>(at(flags_)) & kHasLines) == 0) return 0;
  const uint64_t table = at(header_bytes_) + LoadAt<uint16_t>(at(code_size_));
  const uint64_t words = LoadAt<uint32_t>(at(words_));
  const uint64_t end = const_method + words * 8;
  if (words > kMostWords || table > end) return 0;
  return LineIn(reinterpret_cast<const uint8_t*>(table), reinterpret_cast<const uint8_t*>(end),
                coding_, bci);
}

}  // namespace jprof::hotspot
