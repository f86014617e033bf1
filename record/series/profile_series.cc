#include "record/series/profile_series.h"

#include <fmt/format.h>

#include "profile/files/file_list.h"
#include "profile/series/series_format.h"
#include "record/place/recording_summary.h"

namespace jprof::record {

namespace {

constexpr SnapshotShare kShare = {.of_all = 0.01, .at_once = 0.1};

}  // namespace

ProfileSeries::ProfileSeries(const std::filesystem::path& profile,
                             const std::filesystem::path& shown, uint64_t interval_ns)
    : ProfileSnapshots(profile, shown, interval_ns, kShare) {}

Result<void> ProfileSeries::Open(uint64_t unix_now, int64_t now) {
  return file_.Open((profile() / profile::kSeriesFile).string(), profile::kSeriesFormat,
                    {.start_unix_ns = unix_now, .start_ns = static_cast<uint64_t>(now)});
}

void ProfileSeries::Missed(uint64_t count) {
  missed_ += count;
  file_.Discard(count);
}

void ProfileSeries::Keep(const Snapshot& snapshot) {
  file_.Write({.records = snapshot.encoded.records,
               .begin_ns = static_cast<uint64_t>(snapshot.begin_ns),
               .end_ns = static_cast<uint64_t>(snapshot.end_ns)},
              snapshot.encoded.content);
  end_ns_ = snapshot.end_ns;
  ++snapshots_;
  bytes_ += snapshot.encoded.content.size();
}

std::string ProfileSeries::Close(bool written) {
  const std::string snapshots =
      fmt::format("{} {}", snapshots_, snapshots_ == 1 ? "snapshot" : "snapshots");
  if (written) {  // without the packet that ends it, it is not complete
    return fmt::format("series:  it ends now, after {}: {} is still being written", snapshots,
                       DisplayPath(shown()));
  }
  if (auto closed = file_.Close(static_cast<uint64_t>(end_ns_)); !closed)
    return "series: " + closed.error().message;
  std::string text = fmt::format("series:  {}, {:.1f} kB; jprof report series {}", snapshots,
                                 static_cast<double>(bytes_) / 1e3, DisplayPath(shown()));
  if (missed_ != 0) {
    text += fmt::format(
        " ({} were left out: they would have taken more than {:.0f} % of one processor)", missed_,
        kShare.of_all * 100);
  }
  return text;
}

}  // namespace jprof::record
