// Numbers texts, as pprof and OTLP refer to them. Number 0 is "".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace jprof::reports {

class StringTable {
 public:
  StringTable() { Of(""); }

  uint32_t Of(std::string_view text) {
    const auto [known, is_new] =
        numbers_.try_emplace(std::string(text), static_cast<uint32_t>(texts_.size()));
    if (is_new) texts_.push_back(&known->first);
    return known->second;
  }
  const std::vector<const std::string*>& texts() const { return texts_; }

 private:
  std::unordered_map<std::string, uint32_t> numbers_;
  std::vector<const std::string*> texts_;  // of numbers_
};

}  // namespace jprof::reports
