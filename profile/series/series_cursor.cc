#include "profile/series/series_cursor.h"

#include <algorithm>
#include <span>

#include "common/bytes.h"
#include "profile/files/file_list.h"

namespace jprof::profile {
namespace {

std::unexpected<Error> Damaged(size_t snapshot) {
  return Fail("series: snapshot {} is damaged", snapshot);
}

}  // namespace

Result<SeriesCursor> SeriesCursor::Open(const Series& series, size_t first, uint64_t memory) {
  SeriesCursor cursor(series, memory);
  if (series.limits_.words > memory / sizeof(uint64_t))
    return NotEnoughMemory(kControlFile, memory);
  cursor.words_.resize(series.limits_.words);
  for (size_t number = 1; number <= series.intervals().size(); ++number) {
    const bool good =
        cursor.FindTakeovers(number) && (number > first || cursor.ApplyControl(number));
    if (cursor.bytes() > memory) return NotEnoughMemory(kSeriesFile, memory);
    if (!good) return Damaged(number);
  }
  cursor.at_ = first;
  return cursor;
}

// Returns how much memory it uses.
uint64_t SeriesCursor::bytes() const {
  return words_.size() * sizeof(words_[0]) + takeovers_.capacity() * sizeof(takeovers_[0]);
}

// Adds the takeovers of the snapshot. Returns false if it is damaged, or if there is no memory.
bool SeriesCursor::FindTakeovers(size_t snapshot) {
  const auto control = series_->FramesOf(snapshot).Control(memory_);
  if (!control) return false;
  ByteCursor in(*control);
  return DecodeTakeovers(in, series_->limits_.nodes, [&](uint32_t record, uint32_t node) {
    takeovers_.push_back({record, node, static_cast<uint32_t>(snapshot)});
    return bytes() <= memory_;
  });
}

// Changes the words to those of the snapshot. Returns false if it is damaged.
bool SeriesCursor::ApplyControl(size_t snapshot) {
  const auto control = series_->FramesOf(snapshot).Control(memory_);
  if (!control) return false;
  while (past_ < takeovers_.size() && takeovers_[past_].snapshot <= snapshot) ++past_;
  ByteCursor in(*control);
  return DecodeTakeovers(in, series_->limits_.nodes, [](uint32_t, uint32_t) { return true; }) &&
         DecodeWords(in, words_);
}

// Adds what nodes have gained until the snapshot, since the one before. Returns false if it is
// damaged.
bool SeriesCursor::ApplyNodes(size_t snapshot, NodeGains& gains) {
  const auto raw = series_->FramesOf(snapshot).Nodes(memory_);
  const std::span later = std::span(takeovers_).subspan(past_);
  const auto end = std::ranges::find_if(
      later, [snapshot](const SeriesTakeover& one) { return one.snapshot != snapshot; });
  return raw && DecodeNodes(*raw, series_->limits_.nodes, {later.begin(), end}, memory_, gains);
}

Result<std::shared_ptr<Window>> SeriesCursor::Next(size_t last) {
  auto window = std::make_shared<Window>();
  NodeGains& gains = window->nodes = NodeGains(series_->limits_.extras);
  window->first = at_;
  window->last = last;
  const auto& intervals = series_->intervals();
  window->begin_ns = at_ == 0 ? 0 : intervals[at_ - 1].end_ns;
  window->end_ns = intervals[last - 1].end_ns;
  TakeControl(words_, window->begin, window->begin_threads);
  while (at_ < last) {
    ++at_;
    const bool good = ApplyNodes(at_, gains) && ApplyControl(at_);
    if (gains.bytes() > memory_) return NotEnoughMemory(kSeriesFile, memory_);
    if (!good) return Damaged(at_);
  }
  TakeControl(words_, window->end, window->end_threads);
  // What nodes gained here belongs to the records that took it over later.
  for (const SeriesTakeover& later : std::span(takeovers_).subspan(past_)) {
    if (gains.bytes() > memory_) return NotEnoughMemory(kSeriesFile, memory_);
    gains.Move(later.node, later.record);
  }
  return window;
}

}  // namespace jprof::profile
