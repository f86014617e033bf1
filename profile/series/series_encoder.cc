#include "profile/series/series_encoder.h"

#include <algorithm>
#include <cstring>

#include "profile/log/leb128.h"
#include "profile/series/series_format.h"

namespace jprof::profile {
namespace {

constexpr int kLevel = 1;
constexpr uint64_t kNodeWords = sizeof(Node) / sizeof(uint64_t);

uint64_t LoadWord(const void* word) {
  return __atomic_load_n(static_cast<const uint64_t*>(word), __ATOMIC_RELAXED);
}

// Copies `count` words, and hashes them into the lanes.
void LoadWords(const void* from, void* to, size_t count, uint64_t (&lanes)[kNodeWords]) {
  const auto* source = static_cast<const uint64_t*>(from);
  auto* target = static_cast<uint64_t*>(to);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t word = LoadWord(source + i);
    target[i] = word;
    uint64_t& lane = lanes[i % kNodeWords];
    lane = (lane ^ word) * 0x9e3779b97f4a7c15u;
    lane ^= lane >> 29;
  }
}

uint64_t Mix(const uint64_t (&lanes)[kNodeWords]) {
  uint64_t hash = 1;
  for (const uint64_t lane : lanes) {
    hash = (hash ^ lane) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  return hash | 1;  // 0 is the hash of no page
}

void AppendUleb(std::string& out, uint64_t value) {
  char bytes[kLongestLeb];
  out.append(bytes, PutUleb(bytes, value));
}

void AppendSleb(std::string& out, int64_t value) {
  char bytes[kLongestLeb];
  out.append(bytes, PutSleb(bytes, value));
}

uint64_t WideCount(const uint32_t (&entries)[2]) { return entries[0] | uint64_t{entries[1]} << 32; }

}  // namespace

SeriesEncoder::SeriesEncoder(uint64_t memory)
    : memory_(memory), zstd_(ZSTD_createCCtx(), ZSTD_freeCCtx) {}
SeriesEncoder::~SeriesEncoder() = default;

SeriesEncoder::Snapshot SeriesEncoder::Take(const ProfileMemory& now, uint64_t interval_ns,
                                            uint64_t cost_ns, bool last) {
  now_ = now;
  nodes_out_.clear();
  control_out_.clear();
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
  AppendUleb(nodes_out_, 0);
  TakeOverAll(last);
  CompareControl();
  SeriesBlock block = {.interval_ns = interval_ns,
                       .cost_ns = cost_ns,
                       .extras = now_.extras,
                       .is_partial = is_partial_ ? 1u : 0u};
  block.control_bytes = static_cast<uint32_t>(control_out_.size());
  block.nodes_bytes = static_cast<uint32_t>(nodes_out_.size());
  Snapshot snapshot = {.content = std::string(sizeof(block), '\0'), .records = records_};
  block.control_packed = Compress(control_out_, snapshot.content);
  block.nodes_packed = Compress(nodes_out_, snapshot.content);
  std::memcpy(snapshot.content.data(), &block, sizeof(block));
  return snapshot;
}

void SeriesEncoder::ComparePages(uint64_t first_node, Scan scan) {
  for (uint64_t page = first_node / kPage; page * kPage < now_.node_count; ++page)
    ComparePage(page, scan);
}

void SeriesEncoder::ComparePage(uint64_t page, Scan scan) {
  const bool last = scan == Scan::kLast;
  const auto first = static_cast<uint32_t>(page * kPage);
  Piece* const piece = PieceOf(first);
  if (piece == nullptr && !last) {
    is_partial_ = true;
    return;
  }
  const uint64_t count = std::min<uint64_t>(kPage, now_.node_count - first);
  Node* const nodes = page_nodes_.data();
  int64_t* const extra = page_extra_.data();
  uint64_t lanes[kNodeWords] = {count};
  LoadWords(now_.nodes + first, nodes, count * kNodeWords, lanes);
  if (now_.extras != 0)
    LoadWords(now_.extra + size_t{first} * now_.extras, extra, count * now_.extras, lanes);
  const uint64_t hash = Mix(lanes);
  uint64_t unkept = 0;  // without memory for comparing
  uint64_t& known = piece != nullptr ? piece->hashes[first % kPiece / kPage] : unkept;
  if (known == hash && !last) return;
  bool complete = true;
  for (uint32_t i = first == 0 ? 1 : 0; i < count; ++i)
    complete &= CompareNode(first + i, nodes[i], extra + size_t{i} * now_.extras, scan);
  known = complete ? hash : 0;
}

// Returns false if the node has to be compared again, although it may not change any more.
bool SeriesEncoder::CompareNode(uint32_t index, const Node& node, const int64_t* extra, Scan scan) {
  using enum Kept::State;
  const bool last = scan == Scan::kLast;
  if (node.ref == kNoMethodRef || TypeOf(node.ref) == FrameKind::kBlock) return true;
  static const Kept kNothing;
  static constexpr int64_t kNoExtra[8] = {};
  Piece* const piece = PieceOf(index);
  Kept* const kept = piece != nullptr ? &piece->nodes[index % kPiece] : nullptr;
  const Kept& before = kept != nullptr ? *kept : kNothing;
  const bool is_superseded = node.more == kSuperseded;
  if (is_superseded && before.state != kTaken && node.parent != 0 && node.parent < index) {
    takeovers_.push_back({index, node.parent});
    return last;  // until it is done
  }
  if (scan == Scan::kRecords) return false;
  const Kept now = KeptOf(node, is_superseded ? kTaken : kLive);
  int64_t* const extra_kept = kept != nullptr ? ExtraOf(*piece, index) : nullptr;
  const int64_t* const extra_before = kept != nullptr ? extra_kept : kNoExtra;
  const bool wide = HasWideCount(node);
  if (!last) {
    // The counts are moving to a superseded record that this snapshot does not see.
    bool smaller = wide && WideCount(now.entries) < WideCount(before.entries);
    for (const int k : {0, 1})
      smaller |= !wide && (now.entries[k] < before.entries[k] || now.exits[k] < before.exits[k]);
    if (smaller) {
      Observed& held = held_[index] = {.values = now};
      std::copy_n(extra, now_.extras, held.extra.begin());
      return false;
    }
  }
  const bool same = std::memcmp(&now, &before, offsetof(Kept, state)) == 0 &&
                    std::equal(extra, extra + now_.extras, extra_before);
  if (!same) {
    AppendUleb(nodes_out_, index - previous_);
    previous_ = index;
    Encode(before, extra_before, now, extra, wide);
  }
  if (kept == nullptr) return true;
  *kept = now;
  std::copy_n(extra, now_.extras, extra_kept);
  return true;
}

void SeriesEncoder::Encode(const Kept& before, const int64_t* extra_before, const Kept& now,
                           const int64_t* extra, bool wide) {
  const size_t place = nodes_out_.size();
  nodes_out_.push_back('\0');
  uint8_t bits = 0;
  const auto add = [&](uint8_t bit, int64_t difference) {
    if (difference == 0) return;
    bits |= bit;
    AppendSleb(nodes_out_, difference);
  };
  if (wide) {
    add(kEntriesGain, static_cast<int64_t>(WideCount(now.entries) - WideCount(before.entries)));
  } else {
    const auto difference = [](uint32_t a, uint32_t b) { return int64_t{a} - int64_t{b}; };
    add(kEntriesGain, difference(now.entries[0], before.entries[0]));
    add(kEntriesAfterExit, difference(now.entries[1], before.entries[1]));
    add(kExitsGain, difference(now.exits[0], before.exits[0]));
    add(kExitsAfterExit, difference(now.exits[1], before.exits[1]));
  }
  add(kSelfGain, Wrapping(now.self, before.self));
  add(kDispatchesGain, int64_t{now.dispatches} - int64_t{before.dispatches});
  if (!std::equal(extra, extra + now_.extras, extra_before)) {
    bits |= kExtraGain;
    for (uint32_t m = 0; m < now_.extras; ++m)
      AppendSleb(nodes_out_, Wrapping(extra[m], extra_before[m]));
  }
  nodes_out_[place] = static_cast<char>(bits);
  ++records_;
}

void SeriesEncoder::CompareControl() {
  AppendUleb(control_out_, done_.size());
  uint32_t previous = 0;
  for (const Takeover& takeover : done_) {
    AppendUleb(control_out_, takeover.record - previous);
    AppendUleb(control_out_, takeover.record - takeover.node);
    previous = takeover.record;
  }
  const size_t words = now_.control_bytes / sizeof(uint64_t);
  control_.resize(std::max(control_.size(), words));
  std::string changed;
  uint64_t count = 0, before = 0;
  for (size_t i = 0; i < words; ++i) {
    const uint64_t word = LoadWord(now_.control + i * sizeof(uint64_t));
    if (word == control_[i]) continue;
    AppendUleb(changed, i - before);
    AppendSleb(changed, static_cast<int64_t>(word - control_[i]));
    before = i;
    control_[i] = word;
    ++count;
  }
  AppendUleb(control_out_, count);
  control_out_ += changed;
}

SeriesEncoder::Kept SeriesEncoder::KeptOf(const Node& node, Kept::State state) const {
  Kept kept = {.self = node.self, .dispatches = node.dispatches, .state = state};
  if (HasNoCounts(node)) return kept;
  for (const int k : {0, 1}) {
    kept.entries[k] = node.entries[k];
    if (!HasWideCount(node)) kept.exits[k] = node.exits[k];
  }
  return kept;
}

Node SeriesEncoder::Load(uint32_t index) const {
  Node node;
  uint64_t lanes[kNodeWords] = {};
  LoadWords(now_.nodes + index, &node, kNodeWords, lanes);
  return node;
}

void SeriesEncoder::LoadExtra(uint32_t index, int64_t* values) const {
  for (uint32_t m = 0; m < now_.extras; ++m)
    values[m] = static_cast<int64_t>(LoadWord(now_.extra + size_t{index} * now_.extras + m));
}

// Returns null if there is no memory for it.
SeriesEncoder::Piece* SeriesEncoder::PieceOf(uint32_t index) {
  const size_t place = index / kPiece;
  if (place >= pieces_.size()) pieces_.resize(place + 1);
  if (pieces_[place]) return pieces_[place].get();
  const uint64_t bytes = sizeof(Piece) + kPiece * now_.extras * sizeof(int64_t);
  if (allocated_ + bytes > memory_) return nullptr;
  allocated_ += bytes;
  pieces_[place] = std::make_unique<Piece>();
  pieces_[place]->extra = std::make_unique<int64_t[]>(kPiece * size_t{now_.extras});
  return pieces_[place].get();
}

uint32_t SeriesEncoder::Compress(const std::string& raw, std::string& out) {
  const size_t place = out.size();
  out.resize(place + ZSTD_compressBound(raw.size()));
  const size_t size = ZSTD_compressCCtx(zstd_.get(), out.data() + place, out.size() - place,
                                        raw.data(), raw.size(), kLevel);
  out.resize(place + (ZSTD_isError(size) != 0 ? 0 : size));
  return ZSTD_isError(size) != 0 ? 0 : static_cast<uint32_t>(size);
}

}  // namespace jprof::profile
