#include "profile/series/series_encoder.h"

#include <algorithm>
#include <cstring>

#include "profile/series/series_format.h"

namespace jprof::profile {
namespace {

constexpr int kLevel = 1;
constexpr uint32_t kPage = KeptNodes::kPage;
// Of a node in frame 2: its index, GainBits, six fields and the metrics beyond the first.
constexpr size_t kMostBytes = (7 + kMaxMetrics) * kLongestLeb + 1;

constexpr KeptNode kNothing;
constexpr int64_t kNoExtra[kMaxMetrics] = {};

// Returns whether nothing has changed since the node was recorded. May return false for others.
bool IsRecorded(const SeenNode& node, const KeptNode& kept) {
  return ((node.entries ^ kept.entries) | (node.exits ^ kept.exits)) == 0 &&
         node.self == kept.self && node.dispatches == kept.dispatches &&
         kept.state ==
             (node.more == kSuperseded ? KeptNode::State::kTaken : KeptNode::State::kLive);
}

// Returns whether a count of the node is below the recorded one.
bool IsBelow(const KeptNode& now, const KeptNode& before, bool wide) {
  if (wide) return now.entries < before.entries;
  const auto below = [](uint64_t a, uint64_t b) {
    return static_cast<uint32_t>(a) < static_cast<uint32_t>(b) || a >> 32 < b >> 32;
  };
  return below(now.entries, before.entries) || below(now.exits, before.exits);
}

}  // namespace

SeriesEncoder::SeriesEncoder(uint64_t memory)
    : zstd_(ZSTD_createCCtx(), ZSTD_freeCCtx), kept_(memory) {}
SeriesEncoder::~SeriesEncoder() = default;

SeriesEncoder::Snapshot SeriesEncoder::Take(const ProfileMemory& now, uint64_t interval_ns,
                                            uint64_t cost_ns, bool last) {
  now_ = now;
  nodes_out_.Clear();
  control_out_.Clear();
  takeovers_.clear();
  done_.clear();
  held_.clear();
  previous_ = records_ = 0;
  ComparePages(0, last ? Scan::kLast : Scan::kSnapshot);
  // The counts of a node that was compared may have moved to a record that was made meanwhile.
  if (now_.later && !last) {
    const uint64_t compared = now_.node_count;
    now_ = now_.later();
    ComparePages(compared, Scan::kRecords);
  }
  nodes_out_.AppendUleb(0);
  TakeOverAll(last);
  CompareControl();
  SeriesBlock block = {.interval_ns = interval_ns,
                       .cost_ns = cost_ns,
                       .extras = now_.extras,
                       .is_partial = is_partial_ ? 1u : 0u};
  block.control_bytes = static_cast<uint32_t>(control_out_.size());
  block.nodes_bytes = static_cast<uint32_t>(nodes_out_.size());
  Snapshot snapshot = {.content = std::string(sizeof(block), '\0'), .records = records_};
  block.control_packed = Compress(control_out_.view(), snapshot.content);
  block.nodes_packed = Compress(nodes_out_.view(), snapshot.content);
  std::memcpy(snapshot.content.data(), &block, sizeof(block));
  return snapshot;
}

void SeriesEncoder::ComparePages(uint64_t first_node, Scan scan) {
  for (uint64_t first = first_node / kPage * kPage; first < now_.node_count; first += kPage)
    ComparePage(static_cast<uint32_t>(first), scan);
}

uint64_t SeriesEncoder::HashOf(uint32_t first, uint32_t count) const {
  PageHash hash(count);
  for (uint32_t i = 0; i < count; ++i) {
    hash.AddNode(now_.nodes + first + i);
    int64_t ignored[kMaxMetrics];
    if (now_.extras != 0) hash.AddExtra(ExtraRow(first + i), now_.extras, ignored);
  }
  return hash.Value();
}

void SeriesEncoder::ComparePage(uint32_t first, Scan scan) {
  const bool last = scan == Scan::kLast;
  KeptNodes::Place place = PlaceOf(first);
  if (place.node == nullptr && !last) {
    is_partial_ = true;
    return;
  }
  const auto count = static_cast<uint32_t>(std::min<uint64_t>(kPage, now_.node_count - first));
  uint64_t* const known = place.hash;
  if (!last && *known != 0 && *known == HashOf(first, count)) return;
  // The program may have changed it meanwhile: the hash is that of the values that are compared.
  PageHash hash(count);
  bool complete = true;
  for (uint32_t i = 0; i < count; ++i) {
    const SeenNode node = hash.AddNode(now_.nodes + first + i);
    int64_t extra[kMaxMetrics];
    if (now_.extras != 0) hash.AddExtra(ExtraRow(first + i), now_.extras, extra);
    if (place.node == nullptr) {
      complete &= CompareNode(first + i, node, extra, scan, place);
      continue;
    }
    if (node.ref != kNoMethodRef && (now_.extras != 0 || !IsRecorded(node, *place.node)))
      complete &= CompareNode(first + i, node, extra, scan, place);
    ++place.node;
    place.extra += now_.extras;
  }
  if (known != nullptr) *known = complete ? hash.Value() : 0;
}

// Returns false if the node has to be compared again, although it may not change any more.
bool SeriesEncoder::CompareNode(uint32_t index, const SeenNode& node, const int64_t* extra,
                                Scan scan, const KeptNodes::Place& place) {
  using enum KeptNode::State;
  const bool last = scan == Scan::kLast;
  if (node.ref == kNoMethodRef || TypeOf(node.ref) == FrameKind::kBlock || index == 0) return true;
  const KeptNode& before = place.node != nullptr ? *place.node : kNothing;
  const bool is_superseded = node.more == kSuperseded;
  if (is_superseded && before.state != kTaken && node.parent != 0 && node.parent < index) {
    takeovers_.push_back({index, node.parent});
    return last;  // until it is done
  }
  if (scan == Scan::kRecords) return false;
  const KeptNode now = KeptOf(node, is_superseded ? kTaken : kLive);
  const int64_t* const extra_before = place.node != nullptr ? place.extra : kNoExtra;
  if (now.HasValuesOf(before) && std::equal(extra, extra + now_.extras, extra_before)) {
    if (place.node != nullptr && before.state != now.state) place.node->state = now.state;
    return true;
  }
  const bool wide = HasWideCount({.ref = node.ref});
  // The counts are moving to a superseded record that this snapshot does not see.
  if (!last && IsBelow(now, before, wide)) {
    Observed& held = held_[index] = {.values = now};
    std::copy_n(extra, now_.extras, held.extra.begin());
    return false;
  }
  char* const out = PutUleb(nodes_out_.Reserve(kMostBytes), index - previous_);
  previous_ = index;
  nodes_out_.Extend(Encode(out, before, extra_before, now, extra, wide));
  if (place.node == nullptr) return true;
  *place.node = now;
  std::copy_n(extra, now_.extras, place.extra);
  return true;
}

// Writes the difference of a node at `out`, and returns its end.
char* SeriesEncoder::Encode(char* out, const KeptNode& before, const int64_t* extra_before,
                            const KeptNode& now, const int64_t* extra, bool wide) {
  char* const place = out++;
  uint8_t bits = 0;
  const auto add = [&](uint8_t bit, int64_t difference) {
    if (difference == 0) return;
    bits |= bit;
    out = PutSleb(out, difference);
  };
  if (wide) {
    add(kEntriesGain, static_cast<int64_t>(now.entries - before.entries));
  } else {
    const auto low = [](uint64_t a, uint64_t b) {
      return int64_t{static_cast<uint32_t>(a)} - int64_t{static_cast<uint32_t>(b)};
    };
    add(kEntriesGain, low(now.entries, before.entries));
    add(kEntriesAfterExit, low(now.entries >> 32, before.entries >> 32));
    add(kExitsGain, low(now.exits, before.exits));
    add(kExitsAfterExit, low(now.exits >> 32, before.exits >> 32));
  }
  add(kSelfGain, Wrapping(now.self, before.self));
  add(kDispatchesGain, int64_t{now.dispatches} - int64_t{before.dispatches});
  if (!std::equal(extra, extra + now_.extras, extra_before)) {
    bits |= kExtraGain;
    for (uint32_t m = 0; m < now_.extras; ++m)
      out = PutSleb(out, Wrapping(extra[m], extra_before[m]));
  }
  *place = static_cast<char>(bits);
  ++records_;
  return out;
}

// Appends the difference of a node in a takeover.
void SeriesEncoder::AppendGain(const Observed& before, const Observed& now) {
  nodes_out_.Extend(Encode(nodes_out_.Reserve(kMostBytes), before.values, before.extra.data(),
                           now.values, now.extra.data(), false));
}

void SeriesEncoder::CompareControl() {
  control_out_.AppendUleb(done_.size());
  uint32_t previous = 0;
  for (const Takeover& takeover : done_) {
    control_out_.AppendUleb(takeover.record - previous);
    control_out_.AppendUleb(takeover.record - takeover.node);
    previous = takeover.record;
  }
  const size_t words = now_.control_bytes / sizeof(uint64_t);
  control_.resize(std::max(control_.size(), words));
  std::vector<std::pair<size_t, uint64_t>> changed;
  for (size_t i = 0; i < words; ++i) {
    const uint64_t word = LoadWord(now_.control + i * sizeof(uint64_t));
    if (word == control_[i]) continue;
    changed.emplace_back(i, word - control_[i]);
    control_[i] = word;
  }
  control_out_.AppendUleb(changed.size());
  size_t before = 0;
  for (const auto& [i, difference] : changed) {
    control_out_.AppendUleb(i - before);
    control_out_.Extend(
        PutSleb(control_out_.Reserve(kLongestLeb), static_cast<int64_t>(difference)));
    before = i;
  }
}

void SeriesEncoder::LoadExtra(uint32_t index, int64_t* values) const {
  if (now_.extras != 0) PageHash(0).AddExtra(ExtraRow(index), now_.extras, values);
}

// Appends the frame. Returns its length.
uint32_t SeriesEncoder::Compress(std::string_view raw, std::string& out) {
  frame_.Clear();
  const size_t most = ZSTD_compressBound(raw.size());
  char* const frame = frame_.Reserve(most);
  const size_t size = ZSTD_compressCCtx(zstd_.get(), frame, most, raw.data(), raw.size(), kLevel);
  if (ZSTD_isError(size) != 0) return 0;
  out.append(frame, size);
  return static_cast<uint32_t>(size);
}

}  // namespace jprof::profile
