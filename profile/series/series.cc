#include "profile/series/series.h"

#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "common/shell_word.h"
#include "profile/files/file_list.h"
#include "profile/series/series_cursor.h"
#include "profile/series/series_packet.h"

namespace jprof::profile {
namespace {

constexpr uint64_t kSeriesMemoryPerByte = 2;

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
      : reader.meta().piece.number != 0
          ? "a piece of a recording has none: name the whole profile, or "
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
  const auto frames = SeriesFrames::Of(content);
  if (!frames || frames->block.extras != limits_.extras) return false;
  intervals_.push_back(
      {.end_ns = packet.end_ns, .bytes = sizeof(packet) + packet.bytes, .records = packet.records});
  asked_ns_ = frames->block.interval_ns;
  cost_ns_ = frames->block.cost_ns;
  is_partial_ |= frames->block.is_partial != 0;
  return true;
}

SeriesFrames Series::FramesOf(size_t snapshot) const {
  return *SeriesFrames::Of(ContentOf(snapshot - 1));  // AddPacket has checked it
}

Result<std::shared_ptr<Window>> Series::Load(size_t first, size_t last, uint64_t memory) const {
  auto cursor = SeriesCursor::Open(*this, first, memory);
  if (!cursor) return std::unexpected(cursor.error());
  return cursor->Next(last);
}

}  // namespace jprof::profile
