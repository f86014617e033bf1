#include "jprof/unwind/unwind_table.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

namespace jprof::unwind {
namespace {

// Stores each rule once: a module has tens of thousands of functions and a few hundred rules.
class RuleSet {
 public:
  explicit RuleSet(std::vector<FrameRule>& rules) : rules_(rules) { IndexOf(FrameRule()); }

  uint32_t IndexOf(const FrameRule& rule) {
    const auto [known, is_new] = index_.try_emplace(rule, static_cast<uint32_t>(rules_.size()));
    if (is_new) rules_.push_back(rule);
    return known->second;
  }

 private:
  struct Hash {
    size_t operator()(const FrameRule& rule) const {
      const auto words = std::bit_cast<std::array<uint64_t, 2>>(rule);
      return (words[0] * 0x9e3779b97f4a7c15 ^ words[1]) * 0xff51afd7ed558ccd >> 20;
    }
  };
  std::vector<FrameRule>& rules_;
  std::unordered_map<FrameRule, uint32_t, Hash> index_;
};

CodeRange Reachable(CodeRange code) {
  constexpr uint64_t kMaxSpan = (uint64_t{1} << 32) - 1;
  return {code.low, code.high - code.low > kMaxSpan ? code.low + kMaxSpan : code.high};
}

}  // namespace

UnwindTable::UnwindTable(FrameBytes eh_frame, CodeRange code, const Machine& machine) {
  const CallFrames frames(eh_frame, Reachable(code), machine);
  RuleSet rules(rules_);
  CallFrames::Rows rows;
  uint64_t end = code.low;  // of the previous function
  const auto add = [&](uint64_t address, const FrameRule& rule, bool starts_function) {
    const auto pc = static_cast<uint32_t>(address - code.low);
    const uint32_t index = rules.IndexOf(rule);
    if (!starts_function && rows_.back().pc == pc) {
      rows_.back().rule = index & kGap;
    } else if (starts_function || rows_.back().rule != index) {
      rows_.push_back({pc, index & kGap, starts_function});
    }
  };
  for (const CallFrames::Function& function : frames.functions()) {
    if (function.code.low != end) rows_.push_back({static_cast<uint32_t>(end - code.low), kGap, 0});
    frames.RowsOf(function, rows);
    bool first = true;
    for (const auto& [address, rule] : rows) add(address, rule, std::exchange(first, false));
    end = function.code.high;
  }
  rows_.push_back({static_cast<uint32_t>(end - code.low), kGap, 0});
  rows_.shrink_to_fit();
  rules_.shrink_to_fit();
}

const UnwindTable::Row* UnwindTable::Find(uint64_t pc) const {
  const auto after = std::upper_bound(rows_.begin(), rows_.end(), pc,
                                      [](uint64_t at, const Row& row) { return at < row.pc; });
  return after == rows_.begin() ? nullptr : &*(after - 1);
}

const UnwindTable::Row* UnwindTable::FunctionOf(const Row* row) const {
  if (row->rule == kGap) return nullptr;
  while (!row->starts_function) --row;  // a function's first row precedes its other rows
  return row;
}

}  // namespace jprof::unwind
