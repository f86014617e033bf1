#include "profile/series/series.h"

#include <fcntl.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "common/bytes.h"
#include "common/shell_word.h"
#include "profile/files/file_list.h"
#include "profile/series/series_format.h"

namespace jprof::profile {
namespace {

constexpr uint64_t kSeriesMemoryPerByte = 2;
constexpr uint64_t kLongestFrame = uint64_t{1} << 30;  // expanded

struct Frames {
  SeriesBlock block;
  std::string_view control, nodes;  // compressed
};

// Returns nothing if the content is no block with two frames.
std::optional<Frames> FramesOf(std::string_view content) {
  ByteCursor in(content);
  Frames frames = {.block = in.Read<SeriesBlock>(), .control = {}, .nodes = {}};
  frames.control = in.ReadBytes(frames.block.control_packed);
  frames.nodes = in.ReadBytes(frames.block.nodes_packed);
  if (!in.ok() || in.left() >= sizeof(uint64_t) || frames.block.extras >= kMaxMetrics)
    return std::nullopt;
  return frames;
}

// Returns nothing if the frame is damaged or does not have this length.
std::optional<std::string> Expand(std::string_view frame, uint32_t bytes) {
  if (bytes > kLongestFrame || ZSTD_getFrameContentSize(frame.data(), frame.size()) != bytes)
    return std::nullopt;
  std::string raw(bytes, '\0');
  const size_t size = ZSTD_decompress(raw.data(), raw.size(), frame.data(), frame.size());
  if (ZSTD_isError(size) != 0 || size != bytes) return std::nullopt;
  return raw;
}

struct SeriesTakeover {
  uint32_t record = 0, node = 0;
};

// Decodes frame 1: adds the changes to the words, and returns the takeovers. Returns nothing if it
// is damaged.
std::optional<std::vector<SeriesTakeover>> DecodeControl(std::string_view raw, uint64_t nodes,
                                                         std::vector<uint64_t>& words) {
  ByteCursor in(raw);
  std::vector<SeriesTakeover> takeovers;
  const uint64_t count = in.ReadUleb();
  uint64_t record = 0;
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    const uint64_t step = in.ReadUleb();
    record += step;
    const uint64_t below = in.ReadUleb();
    if (step == 0 || step >= nodes || record >= nodes || below == 0 || below >= record)
      return std::nullopt;
    takeovers.push_back({static_cast<uint32_t>(record), static_cast<uint32_t>(record - below)});
  }
  const uint64_t changed = in.ReadUleb();
  uint64_t word = 0;
  for (uint64_t i = 0; i < changed && in.ok(); ++i) {
    word += in.ReadUleb();
    const auto difference = static_cast<uint64_t>(in.ReadSleb());
    if (word >= words.size()) return std::nullopt;
    words[word] += difference;
  }
  if (!in.ok() || !in.empty()) return std::nullopt;
  return takeovers;
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

// Decodes frame 2. Returns false if it is damaged.
bool DecodeNodes(std::string_view raw, uint64_t nodes, const std::vector<SeriesTakeover>& takeovers,
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

bool HasFile(const Reader& reader, const char* name) {
  Damages ignored;
  const Fd folder(open(reader.directory().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return folder && ReaderFile(folder.get(), name, &ignored).exists();
}

std::unexpected<Error> NoSeries(const Reader& reader) {
  return WrongUse(
      "{} has no series of counts over time, which --window and report series need; {}record it "
      "with --series, for example: jprof calltree --series 1s -- java -jar app.jar",
      CleanText(reader.directory()),
      HasFile(reader, kMergedFile) ? "a merged profile has none: name one that it was made of, or "
                                   : "");
}

}  // namespace

bool Series::Exists(const Reader& reader) { return HasFile(reader, kSeriesFile); }

Result<Series> Series::Open(const Reader& reader) {
  if (!Exists(reader)) return NoSeries(reader);
  auto file =
      ReadLogFile(reader.directory() + "/" + kSeriesFile, ReadingMemory(), kSeriesMemoryPerByte);
  if (!file) return std::unexpected(file.error());
  return Parse(reader, *std::move(file));
}

Result<Series> Series::Parse(const Reader& reader, LogBytes file) {
  Series series;
  const ControlHeader& header = reader.header();
  // A live profile may have grown since the reader was opened.
  series.limits_ = {.nodes = reader.OpenFile(kNodesFile).size() / sizeof(Node),
                    .words = reader.OpenFile(kControlFile).size() / sizeof(uint64_t),
                    .extras = std::clamp<size_t>(header.metric_count, 1, kMaxMetrics) - 1};
  auto kept = series.Keep(
      std::move(file), kSeriesFormat,
      [&](const LogPacket& packet, std::string_view in) { return series.AddPacket(packet, in); });
  if (!kept) return std::unexpected(kept.error());
  // The times of packets are of another clock than the beginning of the recording.
  const LogHeader& log = series.header();
  const auto since_begin = [&](uint64_t ns) {
    const uint64_t unix_ns = log.start_unix_ns + (ns - log.start_ns);
    return static_cast<int64_t>(unix_ns - header.start_unix_ns) > 0 ? unix_ns - header.start_unix_ns
                                                                    : 0;
  };
  uint64_t before = 0;
  for (Interval& interval : series.intervals_) {
    interval.begin_ns = before;
    before = interval.end_ns = std::max(since_begin(interval.end_ns), before);
  }
  return series;
}

bool Series::AddPacket(const LogPacket& packet, std::string_view content) {
  const auto frames = FramesOf(content);
  if (!frames || frames->block.extras != limits_.extras) return false;
  intervals_.push_back(
      {.end_ns = packet.end_ns, .bytes = sizeof(packet) + packet.bytes, .records = packet.records});
  asked_ns_ = frames->block.interval_ns;
  cost_ns_ = frames->block.cost_ns;
  is_partial_ |= frames->block.is_partial != 0;
  return true;
}

Result<std::shared_ptr<Window>> Series::Load(size_t first, size_t last, uint64_t memory) const {
  if (limits_.words > memory / sizeof(uint64_t)) return NotEnoughMemory(kControlFile, memory);
  auto window = std::make_shared<Window>();
  window->nodes = NodeGains(limits_.extras);
  window->first = first;
  window->last = last;
  window->begin_ns = first == 0 ? 0 : intervals_[first - 1].end_ns;
  window->end_ns = intervals_[last - 1].end_ns;
  std::vector<uint64_t> words(limits_.words);
  TakeControl(words, window->begin, window->begin_threads);
  size_t number = 0;  // of the snapshot
  std::optional<size_t> damaged;
  ForEachPacket([&](const LogPacket&, std::string_view content) {
    ++number;
    if (damaged) return;
    const auto frames = FramesOf(content);
    const auto control = Expand(frames->control, frames->block.control_bytes);
    const auto takeovers = control ? DecodeControl(*control, limits_.nodes, words) : std::nullopt;
    bool good = takeovers.has_value();
    const bool inside = number > first && number <= last;
    if (good && inside) {
      const auto nodes = Expand(frames->nodes, frames->block.nodes_bytes);
      good = nodes && DecodeNodes(*nodes, limits_.nodes, *takeovers, memory, window->nodes);
    } else if (good && number > last) {
      for (const SeriesTakeover& takeover : *takeovers) {
        if (window->nodes.bytes() > memory) break;
        window->nodes.Move(takeover.node, takeover.record);
      }
    }
    if (!good) damaged = number;
    if (number == first) TakeControl(words, window->begin, window->begin_threads);
    if (number == last) TakeControl(words, window->end, window->end_threads);
  });
  if (window->nodes.bytes() > memory) return NotEnoughMemory(kSeriesFile, memory);
  if (damaged) return Fail("series: snapshot {} is damaged", *damaged);
  return window;
}

}  // namespace jprof::profile
