#include "model/itrace/run_counts.h"

#include <algorithm>
#include <map>
#include <utility>

namespace jprof::model {
namespace {

// The longest run that is counted: a longer one without a branch is a gap in a damaged trace.
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
    AddChange(number, at - piece.start, 1);
    AddChange(number, until - piece.start, -1);
    if (run.taken && until == end) ++taken_[uint64_t{number} << 32 | (run.last - piece.start)];
    at = until;
  }
}

void RunCounts::AddChange(uint32_t piece, uint64_t offset, int64_t by) {
  uint32_t& place = places_[uint64_t{piece} << 32 | offset];
  if (place == kNone) {
    place = static_cast<uint32_t>(changes_.size());
    if (piece >= last_.size()) last_.resize(piece + 1, kNone);
    changes_.push_back({static_cast<uint32_t>(offset), std::exchange(last_[piece], place)});
  }
  changes_[place].by += by;
}

std::vector<ExecutedFrom> RunCounts::Executed(uint32_t piece) const {
  std::map<uint64_t, int64_t> changes;
  for (uint32_t at = IsExecuted(piece) ? last_[piece] : kNone; at != kNone;
       at = changes_[at].previous) {
    changes[changes_[at].offset] = changes_[at].by;
  }
  std::vector<ExecutedFrom> executed;
  int64_t sum = 0;
  for (const auto& [offset, by] : changes) {
    if (by != 0) executed.push_back({offset, static_cast<uint64_t>(sum += by)});
  }
  return executed;
}

uint64_t RunCounts::Taken(uint32_t piece, uint64_t offset) const {
  const auto found = taken_.find(uint64_t{piece} << 32 | offset);
  return found == taken_.end() ? 0 : found->second;
}

}  // namespace jprof::model
