// How often each instruction of a trace was executed: exact, from its straight runs.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "reports/arc_code.h"

namespace jprof::reports {

class RunCounts {
 public:
  explicit RunCounts(ArcCode& code) : code_(code) {}

  void Add(const StraightRun& run);

  // By byte of the piece's code: how often the instruction that begins there was executed, and at
  // the end 0. Empty: none was.
  std::vector<uint64_t> Executed(uint32_t piece) const;
  // How often the conditional branch at that byte was taken.
  uint64_t Taken(uint32_t piece, uint64_t offset) const;
  size_t pieces() const { return differences_.size(); }

 private:
  ArcCode& code_;
  // By piece and byte: the change of the number against the byte before.
  std::vector<std::vector<int64_t>> differences_;
  std::unordered_map<uint64_t, uint64_t> taken_;  // piece << 32 | offset
};

}  // namespace jprof::reports
