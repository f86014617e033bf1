#include "profile/series/series_packet.h"

#include <zstd.h>

#include <algorithm>
#include <cstring>

namespace jprof::profile {
namespace {

constexpr uint64_t kLongestFrame = uint64_t{1} << 30;  // expanded

// Returns nothing if the frame is damaged, does not have this length, or is too long.
std::optional<std::string> Expand(std::string_view frame, uint32_t bytes, uint64_t memory) {
  if (bytes > std::min(kLongestFrame, memory) ||
      ZSTD_getFrameContentSize(frame.data(), frame.size()) != bytes)
    return std::nullopt;
  std::string raw(bytes, '\0');
  const size_t size = ZSTD_decompress(raw.data(), raw.size(), frame.data(), frame.size());
  if (ZSTD_isError(size) != 0 || size != bytes) return std::nullopt;
  return raw;
}

// Decodes the gain of a node and adds it.
void DecodeGain(ByteCursor& in, uint32_t node, NodeGains& gains) {
  const auto bits = in.Read<uint8_t>();
  NodeGain& gain = gains.At(node);
  const auto add = [&](uint8_t bit, int64_t& value) {
    if ((bits & bit) == 0) return;
    value =
        static_cast<int64_t>(static_cast<uint64_t>(value) + static_cast<uint64_t>(in.ReadSleb()));
  };
  add(kEntriesGain, gain.entries[0]);
  add(kEntriesAfterExit, gain.entries[1]);
  add(kExitsGain, gain.exits[0]);
  add(kExitsAfterExit, gain.exits[1]);
  add(kSelfGain, gain.self);
  add(kDispatchesGain, gain.dispatches);
  for (size_t m = 0; m < gains.extras(); ++m) add(kExtraGain, gains.ExtraAt(node)[m]);
}

}  // namespace

std::optional<SeriesFrames> SeriesFrames::Of(std::string_view content) {
  ByteCursor in(content);
  SeriesFrames frames = {.block = in.Read<SeriesBlock>(), .control = {}, .nodes = {}};
  frames.control = in.ReadBytes(frames.block.control_packed);
  frames.nodes = in.ReadBytes(frames.block.nodes_packed);
  if (!in.ok() || in.left() >= sizeof(uint64_t) || frames.block.extras >= kMaxMetrics)
    return std::nullopt;
  return frames;
}

std::optional<std::string> SeriesFrames::Control(uint64_t memory) const {
  return Expand(control, block.control_bytes, memory);
}

std::optional<std::string> SeriesFrames::Nodes(uint64_t memory) const {
  return Expand(nodes, block.nodes_bytes, memory);
}

bool DecodeTakeovers(ByteCursor& in, uint64_t nodes,
                     const std::function<bool(uint32_t record, uint32_t node)>& use) {
  const uint64_t count = in.ReadUleb();
  uint64_t record = 0;
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    const uint64_t step = in.ReadUleb();
    record += step;
    const uint64_t below = in.ReadUleb();
    if (step == 0 || step >= nodes || record >= nodes || below == 0 || below >= record)
      return false;
    if (!use(static_cast<uint32_t>(record), static_cast<uint32_t>(record - below))) return false;
  }
  return in.ok();
}

bool DecodeWords(ByteCursor& in, std::vector<uint64_t>& words) {
  const uint64_t changed = in.ReadUleb();
  uint64_t word = 0;
  for (uint64_t i = 0; i < changed && in.ok(); ++i) {
    word += in.ReadUleb();
    const auto difference = static_cast<uint64_t>(in.ReadSleb());
    if (word >= words.size()) return false;
    words[word] += difference;
  }
  return in.ok() && in.empty();
}

bool DecodeNodes(std::string_view raw, uint64_t nodes, std::span<const SeriesTakeover> takeovers,
                 uint64_t memory, NodeGains& gains) {
  ByteCursor in(raw);
  uint64_t node = 0;
  for (uint64_t step; (step = in.ReadUleb()) != 0;) {
    node += step;
    if (node >= nodes || step >= nodes || gains.bytes() > memory) return false;
    DecodeGain(in, static_cast<uint32_t>(node), gains);
  }
  for (const SeriesTakeover& takeover : takeovers) {
    if (gains.bytes() > memory) return false;
    gains.Move(takeover.node, takeover.record);
    DecodeGain(in, takeover.record, gains);
    DecodeGain(in, takeover.node, gains);
  }
  return in.ok() && in.empty();
}

void TakeControl(const std::vector<uint64_t>& words, ControlHeader& header,
                 std::vector<ThreadRecord>& threads) {
  constexpr size_t kHeaderWords = kControlHeaderBytes / sizeof(uint64_t);
  if (words.size() < kHeaderWords) return;
  std::memcpy(static_cast<void*>(&header), words.data(), sizeof(header));
  threads.resize((words.size() - kHeaderWords) * sizeof(uint64_t) / sizeof(ThreadRecord));
  if (!threads.empty())
    std::memcpy(static_cast<void*>(threads.data()), words.data() + kHeaderWords,
                threads.size() * sizeof(ThreadRecord));
}

}  // namespace jprof::profile
