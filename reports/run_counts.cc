#include "reports/run_counts.h"

#include <algorithm>

namespace jprof::reports {
namespace {

// A longer run without a branch is a gap in a damaged trace.
constexpr uint64_t kLongestRun = 1 << 20;
constexpr uint64_t kLongestPiece = 64 << 20;

}  // namespace

void RunCounts::Add(const StraightRun& run) {
  const uint64_t end = run.last + (run.open ? 0 : 1);
  if (end <= run.begin || end - run.begin > kLongestRun) return;
  for (uint64_t at = run.begin; at < end;) {
    uint32_t number = code_.PieceAt(run.pid, at, run.time_ns);
    if (code_.pieces()[number].at.kind == CodeAt::Kind::kUnnamed) {  // skip to where it ends
      number = code_.PieceAt(run.pid, run.last, run.time_ns);
      at = std::max(at, code_.pieces()[number].start);
    }
    const CodePiece& piece = code_.pieces()[number];
    if (piece.at.kind == CodeAt::Kind::kUnnamed || piece.end - piece.start > kLongestPiece) return;
    const uint64_t until = std::min(end, piece.end);
    if (number >= differences_.size()) differences_.resize(number + 1);
    std::vector<int64_t>& difference = differences_[number];
    difference.resize(piece.end - piece.start + 1);
    ++difference[at - piece.start];
    --difference[until - piece.start];
    if (run.taken && until == end) ++taken_[uint64_t{number} << 32 | (run.last - piece.start)];
    at = until;
  }
}

std::vector<uint64_t> RunCounts::Executed(uint32_t piece) const {
  std::vector<uint64_t> executed;
  if (piece >= differences_.size()) return executed;
  int64_t sum = 0;
  for (const int64_t difference : differences_[piece])
    executed.push_back(static_cast<uint64_t>(sum += difference));
  return executed;
}

uint64_t RunCounts::Taken(uint32_t piece, uint64_t offset) const {
  const auto found = taken_.find(uint64_t{piece} << 32 | offset);
  return found == taken_.end() ? 0 : found->second;
}

}  // namespace jprof::reports
