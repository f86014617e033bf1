// Collects the damages of a profile: one line per kind, with the number of occurrences.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "profile/files/printable_text.h"

namespace jprof::profile {

class Damages {
 public:
  // `what` names the file and the damage, with the same text for the same kind; `first` states
  // where it first occurred. Both may hold any bytes; Lines() are printable.
  void Add(const std::string& what, const std::string& first = "") {
    auto [entry, is_new] = kinds_.try_emplace(what);
    if (is_new) entry->second.first = first;
    ++entry->second.count;
  }

  bool empty() const { return kinds_.empty(); }

  std::vector<std::string> Lines() const {
    std::vector<std::string> lines;
    for (const auto& [what, seen] : kinds_) {
      std::string line = what;
      if (seen.count > 1) line += fmt::format(" ({} times)", seen.count);
      if (!seen.first.empty())
        line += fmt::format("{} {}", seen.count > 1 ? ", first:" : ":", seen.first);
      lines.push_back(CleanText(line));
    }
    return lines;
  }

 private:
  struct Seen {
    uint64_t count = 0;
    std::string first;
  };
  std::map<std::string, Seen> kinds_;
};

}  // namespace jprof::profile
