#include "profile/read/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "profile/read/reader.h"

namespace jprof::profile {
namespace {

// Stores the gain in a counter of the file.
bool StoreCount(int64_t gain, uint32_t& count) {
  constexpr int64_t kMost = std::numeric_limits<uint32_t>::max();
  count = static_cast<uint32_t>(std::clamp<int64_t>(gain, 0, kMost));
  return gain >= 0 && gain <= kMost;
}

bool ApplyTo(const NodeGain& gain, Node& node) {
  node.self = gain.self;
  bool exact = StoreCount(gain.dispatches, node.dispatches);
  if (HasNoCounts(node)) return exact;
  if (HasWideCount(node)) {
    const auto count = static_cast<uint64_t>(std::max<int64_t>(gain.entries[0], 0));
    node.entries[0] = static_cast<uint32_t>(count);
    node.entries[1] = static_cast<uint32_t>(count >> 32);
    return exact && gain.entries[0] >= 0;
  }
  for (const int k : {0, 1}) {
    exact &= StoreCount(gain.entries[k], node.entries[k]);
    exact &= StoreCount(gain.exits[k], node.exits[k]);
  }
  return exact;
}

// Adds values of a damaged file, whose sum may overflow.
int64_t Plus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

template <typename T>
void Subtract(T& value, T begin) {
  value = value >= begin ? static_cast<T>(value - begin) : T{};
}

}  // namespace

void NodeGain::Add(const NodeGain& other) {
  for (const int k : {0, 1}) {
    entries[k] = Plus(entries[k], other.entries[k]);
    exits[k] = Plus(exits[k], other.exits[k]);
  }
  self = Plus(self, other.self);
  dispatches = Plus(dispatches, other.dispatches);
}

bool NodeGains::Has(uint32_t node) const {
  const Piece* const piece = Find(node);
  if (piece == nullptr) return false;
  const size_t place = node % kPiece;
  const int64_t* const extra = piece->extra.get() + place * extras_;
  return piece->gains[place] != NodeGain{} ||
         std::any_of(extra, extra + extras_, [](int64_t value) { return value != 0; });
}

void NodeGains::Move(uint32_t from, uint32_t to) {
  if (Find(from) == nullptr) return;
  const NodeGain moved = std::exchange(At(from), {});
  At(to).Add(moved);
  for (size_t m = 0; m < extras_; ++m) {
    const int64_t value = std::exchange(ExtraAt(from)[m], 0);
    ExtraAt(to)[m] = Plus(ExtraAt(to)[m], value);
  }
}

NodeGains NodeGains::TakeNegative() {
  const auto counts_of = [](NodeGain& gain) {
    return std::array{&gain.entries[0], &gain.entries[1], &gain.exits[0], &gain.exits[1],
                      &gain.dispatches};
  };
  NodeGains negative(extras_);
  for (size_t p = 0; p < pieces_.size(); ++p) {
    if (!pieces_[p]) continue;
    for (size_t place = 0; place < kPiece; ++place) {
      const auto counts = counts_of(pieces_[p]->gains[place]);
      if (std::ranges::all_of(counts, [](const int64_t* count) { return *count >= 0; })) continue;
      const auto taken = counts_of(negative.At(static_cast<uint32_t>(p * kPiece + place)));
      for (size_t k = 0; k < counts.size(); ++k)
        if (*counts[k] < 0) *taken[k] = std::exchange(*counts[k], 0);
    }
  }
  return negative;
}

void NodeGains::Add(const NodeGains& other) {
  for (size_t p = 0; p < other.pieces_.size(); ++p) {
    if (!other.pieces_[p]) continue;
    const Piece& from = *other.pieces_[p];
    Piece& to = PieceOf(static_cast<uint32_t>(p * kPiece));
    for (size_t place = 0; place < kPiece; ++place) to.gains[place].Add(from.gains[place]);
    for (size_t i = 0; i < kPiece * extras_; ++i) to.extra[i] = Plus(to.extra[i], from.extra[i]);
  }
}

bool NodeGains::Apply(uint32_t index, Node& node, int64_t* extra) const {
  const Piece* const piece = Find(index);
  const size_t place = index % kPiece;
  for (size_t m = 0; m < extras_; ++m)
    extra[m] = piece != nullptr ? piece->extra[place * extras_ + m] : 0;
  return ApplyTo(piece != nullptr ? piece->gains[place] : NodeGain{}, node);
}

NodeGains::Piece& NodeGains::PieceOf(uint32_t node) {
  const size_t place = node / kPiece;
  if (place >= pieces_.size()) pieces_.resize(place + 1);
  if (!pieces_[place]) {
    pieces_[place] = std::make_unique<Piece>();
    pieces_[place]->extra = std::make_unique<int64_t[]>(kPiece * extras_);
    ++count_;
  }
  return *pieces_[place];
}

std::string Window::Text() const {
  const auto seconds = [](uint64_t ns) { return static_cast<double>(ns) / 1e9; };
  return fmt::format("{:.3f} s to {:.3f} s of the recording ({} to snapshot {}; asked for: {})",
                     seconds(begin_ns), seconds(end_ns),
                     first == 0 ? "its beginning" : fmt::format("snapshot {}", first), last, asked);
}

ThreadRecord RecordIn(const Window& window, size_t thread, ThreadRecord whole) {
  const auto at = [&](const std::vector<ThreadRecord>& threads) {
    return thread < threads.size() ? threads[thread] : ThreadRecord{};
  };
  const ThreadRecord begin = at(window.begin_threads), end = at(window.end_threads);
  static constexpr uint64_t ThreadRecord::*kGrowing[] = {
      &ThreadRecord::dispatches,        &ThreadRecord::healed,
      &ThreadRecord::unmatched,         &ThreadRecord::overflow,
      &ThreadRecord::dropped,           &ThreadRecord::trace_events,
      &ThreadRecord::trace_dropped,     &ThreadRecord::trace_overwritten,
      &ThreadRecord::samples,           &ThreadRecord::samples_unknown,
      &ThreadRecord::samples_truncated, &ThreadRecord::samples_own,
      &ThreadRecord::samples_lost,      &ThreadRecord::sampling_ticks};
  for (const auto member : kGrowing) {
    whole.*member = end.*member;
    Subtract(whole.*member, begin.*member);
  }
  whole.own_ticks = static_cast<int64_t>(static_cast<uint64_t>(end.own_ticks) -
                                         static_cast<uint64_t>(begin.own_ticks));
  whole.cpu_ns_start = whole.cpu_ns_end = 0;
  return whole;
}

ControlHeader HeaderIn(const Window& window, ControlHeader whole) {
  const double ticks = static_cast<double>(whole.ticks_per_second) / 1e9;
  const auto ticks_of = [ticks](uint64_t ns) {
    return static_cast<uint64_t>(std::min(static_cast<double>(ns) * ticks, 9e18));
  };
  const uint64_t start = whole.start_ticks;
  whole.start_ticks = start + ticks_of(window.begin_ns);
  whole.end_ticks = start + ticks_of(window.end_ns);
  whole.start_unix_ns += window.begin_ns;
  static constexpr uint64_t ControlHeader::*kGrowing[] = {
      &ControlHeader::lost_threads,      &ControlHeader::lost_events,
      &ControlHeader::sampled_cpu_ns,    &ControlHeader::signalled_cpu_ns,
      &ControlHeader::samples_in_heap,   &ControlHeader::memory_failures,
      &ControlHeader::gate_calls,        &ControlHeader::timed_intervals,
      &ControlHeader::sampled_intervals, &ControlHeader::sampled_ticks,
      &ControlHeader::sampled_squares,   &ControlHeader::untimed_ticks};
  for (const auto member : kGrowing) {
    whole.*member = window.end.*member;
    Subtract(whole.*member, window.begin.*member);
  }
  for (const auto member : {&ControlHeader::starts, &ControlHeader::stops}) {
    whole.*member = window.end.*member;
    Subtract(whole.*member, window.begin.*member);
  }
  whole.paused = window.end.paused;
  return whole;
}

RecordingOptions OptionsIn(const Window& window, RecordingOptions whole) {
  uint64_t left_out = std::min(whole.after, window.end.gate_calls);
  Subtract(left_out, std::min(whole.after, window.begin.gate_calls));
  whole.after = left_out;
  if (window.begin_ns != 0) whole.begins_paused = window.begin.paused != 0;
  return whole;
}

namespace {

// Keeps those elements of the column whose record is kept.
template <typename T>
void Compact(std::vector<T>& column, const std::vector<uint8_t>& kept) {
  if (column.empty()) return;
  size_t to = 0;
  for (size_t from = 0; from < kept.size(); ++from)
    if (kept[from] != 0) column[to++] = column[from];
  column.resize(to);
}

bool HasValues(const CallTree& tree, size_t i) {
  const Counts& counts = tree.counts[i];
  const uint64_t events = uint64_t{counts.entries[0]} + counts.entries[1] + counts.exits[0] +
                          counts.exits[1] + tree.dispatches[i];
  return events != 0 ||
         std::ranges::any_of(tree.metrics, [i](const auto& values) { return values[i] != 0; });
}

}  // namespace

void LeaveOutIdle(CallTree& tree) {
  std::vector<uint8_t> kept(tree.size());
  for (size_t i = tree.size(); i-- > 0;) {
    if (HasValues(tree, i)) kept[i] = 1;
    if (kept[i] != 0 && tree.parent[i] != kNoRecord) kept[tree.parent[i]] = 1;
  }
  std::vector<uint32_t> place(tree.size());
  uint32_t count = 0;
  for (size_t i = 0; i < kept.size(); ++i) {
    place[i] = count;
    count += kept[i];
    if (tree.parent[i] != kNoRecord) tree.parent[i] = place[tree.parent[i]];
  }
  Compact(tree.ref, kept);
  Compact(tree.parent, kept);
  Compact(tree.superseded, kept);
  Compact(tree.thread, kept);
  Compact(tree.site, kept);
  Compact(tree.counts, kept);
  Compact(tree.dispatches, kept);
  Compact(tree.interrupts, kept);
  for (auto& values : tree.metrics) Compact(values, kept);
}

}  // namespace jprof::profile
