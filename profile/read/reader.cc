#include "profile/read/reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "common/bytes.h"
#include "common/errno_text.h"
#include "common/fd.h"
#include "profile/files/printable_text.h"
#include "profile/files/sparse_time.h"

namespace jprof::profile {
namespace {

constexpr uint64_t kMetaLimit = 16 << 20;
constexpr uint64_t kCalibrationLimit = 64 << 20;

// The directory is opened for each file, so that a Reader holds no descriptor and can be copied.
Fd OpenDirectory(const std::string& directory) {
  return Fd(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

Result<void> CheckHeader(const std::string& directory, const ControlHeader& header, size_t bytes) {
  if (bytes < sizeof(header) || std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0) {
    return WrongUse(
        "{}: not a jprof profile (its file '{}' does not begin with {}); give a directory "
        "written by `jprof callflow`, `calltree` or `trace`",
        directory, kControlFile, std::string_view(kMagic, sizeof(kMagic)));
  }
  if (header.version != kFormatVersion) {
    return WrongUse(
        "{}: written in profile format {}, this jprof reads format {}; use the jprof that wrote "
        "it (see \"jprof\" in its meta.json) or profile again",
        directory, header.version, kFormatVersion);
  }
  if (header.header_bytes != kControlHeaderBytes ||
      header.thread_record_bytes != sizeof(ThreadRecord) || header.node_bytes != sizeof(Node)) {
    return Fail(
        "{}: damaged: the sizes in the header of '{}' are "
        "not those of format {}; nothing in it can be read",
        directory, kControlFile, kFormatVersion);
  }
  return {};
}

// meta.json and control must agree on the number of metrics of a node. `control` determines the
// layout of the files.
void MatchMetrics(const ControlHeader& header, Meta& meta, Damages& damages) {
  if (meta.is(Mode::kCalltree) && meta.metrics.empty()) return;
  const size_t count = std::clamp<size_t>(header.metric_count, 1, kMaxMetrics);
  if (meta.metrics.size() == count && header.metric_count <= kMaxMetrics) return;
  damages.Add(fmt::format("meta.json names {} metrics, control has {}: {} are read",
                          meta.metrics.size(), header.metric_count, count));
  for (size_t i = meta.metrics.size(); i < count; ++i) {
    meta.metrics.push_back({.name = fmt::format("metric{}", i), .unit = "raw"});
  }
  meta.metrics.resize(count);
}

// Estimated times need the number of intervals that a timed one stands for: it determines their
// error. Where it is damaged, the largest that can be recorded replaces it, so that no error is too
// small; in a recording without estimates, 1 does.
void MatchEstimate(const ControlHeader& header, Meta& meta, Damages& damages) {
  uint64_t& every = meta.options.time_every;
  const bool estimates = header.timed_intervals > 0 || header.sampled_intervals > 0;
  if (every <= kMostTimeEvery && (every > 1 || !estimates)) return;
  every = estimates ? kMostTimeEvery : 1;
  damages.Add(fmt::format("meta.json: time_every is missing or invalid: read as {}", every));
}

// Adds the metric and returns the place of the one that it is computed from, if there is one.
std::optional<size_t> AddNoInterrupts(std::vector<Metric>& metrics) {
  const auto time = std::ranges::find_if(
      metrics, [](const Metric& metric) { return metric.is_time() && metric.name == "time"; });
  if (time == metrics.end() || time->unit != "ns" || metrics.size() >= kMaxMetrics)
    return std::nullopt;
  const auto place = static_cast<size_t>(time - metrics.begin());
  Metric without = *time;
  without.name = kNoInterrupts;
  metrics.push_back(std::move(without));
  return place;
}

}  // namespace

Result<Reader> Reader::Open(const std::string& directory) {
  Reader reader;
  reader.directory_ = directory;
  const Fd folder = OpenDirectory(directory);
  if (!folder) {
    return WrongUse("{}: cannot be opened: {}; give the directory of a profile (NAME.jprof)",
                    directory, ErrnoText());
  }
  const ReaderFile control(folder.get(), kControlFile, &reader.damages_);
  const std::string meta =
      ReaderFile(folder.get(), kMetaFile, &reader.damages_).ReadAll(kMetaLimit);
  if (!control.exists() && control.error() != 0 && control.error() != ENOENT)
    return Fail("{}/{}: cannot be opened: {}", directory, kControlFile, ErrnoText(control.error()));
  if (!control.exists()) {
    return WrongUse(
        "{}: not a jprof profile (it has no file '{}'); give a directory that jprof "
        "recorded (NAME.jprof)",
        directory, kControlFile);
  }
  const size_t bytes = control.ReadAt(0, &reader.header_, sizeof(reader.header_));
  if (auto checked = CheckHeader(directory, reader.header_, bytes); !checked) {
    return std::unexpected(checked.error());
  }
  reader.meta_ = ParseMeta(meta, reader.damages_);
  MatchMetrics(reader.header_, reader.meta_, reader.damages_);
  MatchEstimate(reader.header_, reader.meta_, reader.damages_);
  if (ReaderFile(folder.get(), kKernelCountsFile, &reader.damages_).exists())
    reader.with_interrupts_ = AddNoInterrupts(reader.meta_.metrics);
  reader.ReadThreads(control);
  return reader;
}

void Reader::Restrict(std::shared_ptr<const Window> window) {
  if (with_interrupts_) meta_.metrics.pop_back();
  with_interrupts_.reset();
  header_ = HeaderIn(*window, header_);
  meta_.options = OptionsIn(*window, std::move(meta_.options));
  for (size_t i = 0; i < threads_.size(); ++i)
    threads_[i].record = RecordIn(*window, i, threads_[i].record);
  window_ = std::move(window);
}

void Reader::ReadThreads(const ReaderFile& control) {
  const std::string bytes =
      control.ReadAll(kControlHeaderBytes + uint64_t{header_.thread_count} * sizeof(ThreadRecord));
  const size_t count = bytes.size() < kControlHeaderBytes
                           ? 0
                           : (bytes.size() - kControlHeaderBytes) / sizeof(ThreadRecord);
  if (count < header_.thread_count) {
    damages_.Add("control: cut off: thread records are missing",
                 fmt::format("{} of {} exist", count, header_.thread_count));
  }
  threads_.reserve(count);
  ByteCursor records(bytes);
  records.Skip(kControlHeaderBytes);
  for (size_t i = 0; i < count; ++i) {
    Thread thread = {.record = records.Read<ThreadRecord>(), .name = {}};
    thread.name =
        CleanText({thread.record.name, strnlen(thread.record.name, sizeof(thread.record.name))});
    threads_.push_back(std::move(thread));
  }
}

ReaderFile Reader::OpenFile(const char* name) const {
  const Fd folder = OpenDirectory(directory_);
  if (folder) return ReaderFile(folder.get(), name, &damages_);
  damages_.Add(fmt::format("{}: cannot be read: {}", name, ErrnoText()));
  return {};
}

std::string Reader::ReadCalibration() const {
  return OpenFile(kCalibrationFile).ReadAll(kCalibrationLimit);
}

uint64_t Reader::CpuNanos() const {
  uint64_t sum = 0;
  for (const Thread& thread : threads_) {
    const ThreadRecord& record = thread.record;
    sum += std::max(record.cpu_ns_end, record.cpu_ns_start) - record.cpu_ns_start;
  }
  return sum;
}

}  // namespace jprof::profile
