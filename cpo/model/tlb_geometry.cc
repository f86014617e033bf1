#include "cpo/model/tlb_geometry.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include <algorithm>
#include <charconv>
#include <vector>

namespace jprof::cpo {
namespace {

constexpr uint32_t kFull = 0;  // ways of a descriptor: as many as entries

// Descriptors of leaf 2 for data and shared TLBs (Intel SDM, volume 2A, table "Encoding of CPUID
// leaf 2 descriptors"). `level` 0 is the first one.
struct Descriptor {
  uint8_t byte;
  int level;
  bool small, large;  // the sizes that it holds
  uint32_t entries, ways;
};
constexpr Descriptor kDescriptors[] = {
    {0x03, 0, true, false, 64, 4},     {0x04, 0, false, true, 8, 4},
    {0x05, 0, false, true, 32, 4},     {0x56, 0, false, true, 16, 4},
    {0x57, 0, true, false, 16, 4},     {0x59, 0, true, false, 16, kFull},
    {0x5a, 0, false, true, 32, 4},     {0x5b, 0, true, true, 64, kFull},
    {0x5c, 0, true, true, 128, kFull}, {0x5d, 0, true, true, 256, kFull},
    {0x63, 0, false, true, 32, 4},     {0x64, 1, true, false, 512, 4},
    {0x6a, 0, true, false, 64, 8},     {0x6b, 1, true, false, 256, 8},
    {0x6c, 1, false, true, 128, 8},    {0xa0, 0, true, false, 32, kFull},
    {0xb3, 0, true, false, 128, 4},    {0xb4, 1, true, false, 256, 4},
    {0xba, 0, true, false, 64, 4},     {0xc0, 0, true, true, 8, 4},
    {0xc1, 1, true, true, 1024, 8},    {0xc2, 0, true, true, 16, 4},
    {0xc3, 1, true, true, 1536, 6},    {0xc4, 0, false, true, 32, 4},
    {0xca, 1, true, false, 512, 4},
};

void Put(TlbGeometry& geometry, int level, bool small, bool large, TlbArray array) {
  if (array.ways == kFull) array.ways = array.entries;
  TlbLevel& target = level == 0 ? geometry.first : geometry.second;
  if (small) target.small = array;
  if (large && !small) target.large = array;
  if (small && large) target.shared = true;
}

// Leaf 18H: a subleaf for each array, with its sets and ways.
void DecodeLeaf18(const Cpuid& cpuid, TlbGeometry& geometry) {
  const uint32_t last = std::min(cpuid(0x18, 0)[0], 64u);
  for (uint32_t subleaf = 0; subleaf <= last; ++subleaf) {
    const auto [eax, ebx, ecx, edx] = cpuid(0x18, subleaf);
    const uint32_t type = edx & 31, level = (edx >> 5) & 7;
    const bool for_loads = type == 1 || type == 3 || type == 4;  // data, unified, loads only
    if (!for_loads || (level != 1 && level != 2) || (ebx & 3) == 0) continue;
    const uint32_t ways = ebx >> 16, entries = ways * ecx;
    Put(geometry, static_cast<int>(level) - 1, ebx & 1, ebx & 2,
        {entries, (edx & 0x100) != 0 ? entries : ways});
  }
}

void DecodeLeaf2(const Cpuid& cpuid, TlbGeometry& geometry) {
  CpuidWords words = cpuid(2, 0);
  words[0] &= ~0xffu;  // how often to ask, always 1
  for (const uint32_t word : words) {
    if (word >> 31 != 0) continue;  // holds no descriptors
    for (int shift = 0; shift < 32; shift += 8) {
      const auto* found =
          std::ranges::find(kDescriptors, (word >> shift) & 0xff, &Descriptor::byte);
      if (found == std::end(kDescriptors)) continue;
      Put(geometry, found->level, found->small, found->large, {found->entries, found->ways});
    }
  }
}

TlbGeometry DecodeIntel(const Cpuid& cpuid) {
  TlbGeometry geometry;
  if (cpuid(0, 0)[0] >= 0x18) DecodeLeaf18(cpuid, geometry);
  if (geometry.first.small.entries == 0) DecodeLeaf2(cpuid, geometry);
  return geometry;
}

// The ways of the second level in leaf 80000006H; where the code is of a range, its least.
uint32_t WaysOf(uint32_t code, uint32_t entries) {
  constexpr uint32_t kWays[16] = {0, 1, 2, 3, 4, 6, 8, 0, 16, 0, 32, 48, 64, 96, 128, 0};
  return code == 15 ? entries : kWays[code];
}

// The fields for data of a word of leaf 80000005H and of leaf 80000006H.
TlbArray FirstOfAmd(uint32_t word) {
  const uint32_t entries = (word >> 16) & 0xff, ways = word >> 24;
  return {entries, ways == 0xff ? entries : ways};
}
TlbArray SecondOfAmd(uint32_t word) {
  const uint32_t entries = (word >> 16) & 0xfff, ways = WaysOf(word >> 28, entries);
  if (ways == 0) return {};
  return {entries / ways * ways, ways};
}

TlbGeometry DecodeAmd(const Cpuid& cpuid) {
  const uint32_t version = cpuid(1, 0)[0];
  uint32_t family = (version >> 8) & 15;
  if (family == 15) family += (version >> 20) & 0xff;
  const CpuidWords first = cpuid(0x80000005u, 0), second = cpuid(0x80000006u, 0);
  TlbGeometry geometry{{FirstOfAmd(first[1]), FirstOfAmd(first[0])},
                       {SecondOfAmd(second[1]), SecondOfAmd(second[0])}};
  if (family < 0x17) return geometry;
  for (TlbLevel* level : {&geometry.first, &geometry.second}) {
    level->shared = true;
    level->large = {};
  }
  return geometry;
}

bool HasBothSizes(const TlbLevel& level) {
  return level.Of(false).entries != 0 && level.Of(true).entries != 0;
}

std::string ArrayText(std::string_view name, const TlbArray& array) {
  if (array.entries == 0) return {};
  if (array.ways == array.entries) return fmt::format("{}={}/full,", name, array.entries);
  return fmt::format("{}={}/{},", name, array.entries, array.ways);
}

std::string LevelText(const std::string& name, const TlbLevel& level) {
  if (level.shared) return ArrayText(name, level.small);
  return ArrayText(name + "-4k", level.small) + ArrayText(name + "-2m", level.large);
}

bool ParseNumber(std::string_view text, uint32_t& number) {
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && stopped == end && number > 0 && number <= (1u << 20);
}

bool ParseArray(std::string_view text, TlbArray& array) {
  const size_t slash = text.find('/');
  if (slash == text.npos || !ParseNumber(text.substr(0, slash), array.entries)) return false;
  const std::string_view ways = text.substr(slash + 1);
  array.ways = array.entries;
  return ways == "full" || (ParseNumber(ways, array.ways) && array.entries % array.ways == 0);
}

// Puts the array of this name where it belongs. Returns false if there is no such name or it
// contradicts one before it.
bool PutNamed(TlbGeometry& geometry, std::string_view name, const TlbArray& array) {
  if (!name.starts_with("l1") && !name.starts_with("l2")) return false;
  TlbLevel& level = name[1] == '1' ? geometry.first : geometry.second;
  const std::string_view kind = name.substr(2);
  TlbArray& target = kind == "-2m" ? level.large : level.small;
  const bool known = kind.empty() || kind == "-4k" || kind == "-2m";
  if (!known || target.entries != 0 || level.shared) return false;
  if (kind.empty() && level.large.entries != 0) return false;
  target = array;
  level.shared = kind.empty();
  return true;
}

}  // namespace

TlbGeometry DefaultTlb() { return {{{64, 4}, {32, 4}, false}, {{1536, 12}, {}, true}}; }

Result<TlbGeometry> DecodeTlb(const Cpuid& cpuid) {
  const CpuidWords vendor = cpuid(0, 0);
  const bool amd = vendor[1] == 0x68747541;  // "Auth" of AuthenticAMD
  const TlbGeometry geometry = amd ? DecodeAmd(cpuid) : DecodeIntel(cpuid);
  if (HasBothSizes(geometry.first)) return geometry;
  return Fail("the processor does not describe its TLB by CPUID; state it as in {}",
              TextOf(DefaultTlb()));
}

TlbGeometry ThisTlb() {
#ifdef __x86_64__
  return DecodeTlb([](uint32_t leaf, uint32_t subleaf) {
           CpuidWords words{};
           __get_cpuid_count(leaf, subleaf, &words[0], &words[1], &words[2], &words[3]);
           return words;
         })
      .value_or(DefaultTlb());
#else
  return DefaultTlb();
#endif
}

std::string TextOf(const TlbGeometry& geometry) {
  std::string text = LevelText("l1", geometry.first) + LevelText("l2", geometry.second);
  if (!text.empty()) text.pop_back();
  return text;
}

Result<TlbGeometry> ParseTlb(std::string_view text) {
  TlbGeometry geometry;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    const size_t equals = item.find('=');
    TlbArray array;
    if (equals == item.npos || !ParseArray(item.substr(equals + 1), array) ||
        !PutNamed(geometry, item.substr(0, equals), array)) {
      return WrongUse("'{}' in '{}' is no array of a TLB; write it as in {}", item, text,
                      TextOf(DefaultTlb()));
    }
  }
  if (HasBothSizes(geometry.first)) return geometry;
  return WrongUse("'{}' lacks a size of pages in the first level; write it as in {}", text,
                  TextOf(DefaultTlb()));
}

}  // namespace jprof::cpo
