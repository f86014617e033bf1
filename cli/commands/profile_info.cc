#include "cli/commands/profile_info.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "common/errno_text.h"
#include "common/fd.h"
#include "model/events/stretches.h"
#include "profile/files/printable_text.h"
#include "profile/log/jit_log.h"
#include "profile/pieces/piece_list.h"
#include "profile/read/limits.h"
#include "profile/read/reader.h"
#include "profile/series/series.h"

namespace jprof::cli {
namespace {

double Seconds(const profile::ControlHeader& header) {
  if (header.ticks_per_second == 0 || header.end_ticks < header.start_ticks) return 0;
  return static_cast<double>(header.end_ticks - header.start_ticks) /
         static_cast<double>(header.ticks_per_second);
}

// Returns true also if the file cannot be examined: reading it then reports why.
bool HasFile(const std::string& directory, const char* name) {
  struct stat status;
  return stat((directory + "/" + name).c_str(), &status) == 0 || errno != ENOENT;
}

JittedInfo JittedOf(const profile::JitLog& log) {
  const auto count = [&](auto is_counted) {
    return static_cast<uint64_t>(std::ranges::count_if(log.code, is_counted));
  };
  const uint64_t stubs = count(&profile::JitCode::stub);
  const uint64_t unloaded = count([](const profile::JitCode& code) {
    return !code.stub && code.unloaded != profile::kJitForever;
  });
  return {.methods = log.code.size() - stubs,
          .unloaded = unloaded,
          .stubs = stubs,
          .lost = log.discarded,
          .finished = log.ended,
          .seconds = static_cast<double>(log.end_ns - log.header.start_ns) / 1e9};
}

// Reads the log of jitted code. A log that cannot be read is reported as damage.
void ReadJitted(ProfileInfo& info) {
  if (!HasFile(info.directory, profile::kJitLogFile)) return;
  const auto log = profile::ReadJitLog(info.directory);
  if (!log) {
    info.damages.push_back(log.error().message);
    return;
  }
  std::ranges::copy(log->damages, std::back_inserter(info.damages));
  info.jitted = JittedOf(*log);
}

// Reads the events of the kernel. What cannot be read of them is reported as damage.
void ReadEvents(ProfileInfo& info) {
  if (!model::HasKernelEvents(info.directory)) return;
  const auto events = model::LoadStretches(info.directory);
  if (!events) {
    info.damages.push_back(events.error().message);
    return;
  }
  std::ranges::copy(events->damages, std::back_inserter(info.damages));
  info.events = {.records = events->records, .lost = events->lost};
}

// Reads the counts over time. What cannot be read of them is reported as damage.
void ReadSeries(const profile::Reader& reader, ProfileInfo& info) {
  if (!profile::Series::Exists(reader)) return;
  const auto series = profile::Series::Open(reader);
  if (!series) {
    info.damages.push_back(series.error().message);
    return;
  }
  std::ranges::copy(series->damages(), std::back_inserter(info.damages));
  SeriesInfo& of = info.series.emplace();
  of = {.snapshots = series->intervals().size(),
        .missed = series->missed(),
        .interval_s = static_cast<double>(series->asked_ns()) / 1e9,
        .cost_s = static_cast<double>(series->cost_ns()) / 1e9,
        .ended = series->ended()};
  for (const auto& interval : series->intervals()) {
    of.bytes += interval.bytes;
    const double seconds = static_cast<double>(interval.end_ns - interval.begin_ns) / 1e9;
    of.longest_s = std::max(of.longest_s, seconds);
  }
}

// Reads which part of the recording each piece has. Adds their bytes.
void ReadPieces(ProfileInfo& info) {
  for (const auto& path : profile::PiecesOf(info.directory)) {
    const auto piece = profile::Reader::Open(path.string());
    if (!piece) {
      std::error_code failed;  // one that is gone was the oldest
      if (std::filesystem::exists(path, failed))
        info.damages.push_back(fmt::format("{}/{}: cannot be read as a profile",
                                           profile::kPiecesFolder, path.filename().string()));
      continue;
    }
    info.pieces.push_back({path.string(), piece->meta().piece});
    info.bytes += BytesOf(path.string(), info.damages);
  }
}

std::vector<std::string> MethodsWith(profile::Reader& reader, uint16_t flag) {
  std::vector<std::string> names;
  const profile::Methods methods = reader.ReadMethods();
  for (uint32_t id = 2; id < methods.size(); ++id) {
    const profile::MethodName method = methods[profile::MethodId{id}];
    if ((method.flags & flag) == 0) continue;
    names.push_back(profile::CleanText(
        fmt::format("{}.{}{}", method.class_name, method.name, method.signature)));
  }
  return names;
}

FocusInfo FocusOf(profile::Reader& reader) {
  const profile::ControlHeader& header = reader.header();
  return {.probed = header.focus_probed,
          .unprobed = header.focus_unprobed,
          .undecided = header.focus_undecided,
          .intrinsics = MethodsWith(reader, profile::kMethodIntrinsic)};
}

ThreadInfo ThreadOf(const profile::Thread& thread) {
  const profile::ThreadRecord& record = thread.record;
  return {.tid = record.tid,
          .name = thread.name,
          .ended = record.state == profile::kThreadEnded,
          .cpu_ns = record.cpu_ns_end - std::min(record.cpu_ns_start, record.cpu_ns_end),
          .dispatches = record.dispatches};
}

CallInfo CallsOf(profile::Reader& reader, const profile::CallTree& tree) {
  CallInfo calls;
  for (const profile::Counts& counts : tree.counts) {
    calls.calls += uint64_t{counts.entries[0]} + counts.entries[1];
    calls.exits += uint64_t{counts.exits[0]} + counts.exits[1];
  }
  for (const profile::Thread& thread : reader.threads()) {
    calls.trace_events += thread.record.trace_events;
    calls.threads.push_back(ThreadOf(thread));
  }
  calls.calibrated = !reader.ReadCalibration().empty();
  calls.contexts = static_cast<uint64_t>(std::ranges::count(tree.superseded, 0));
  calls.folded_from_s = profile::FoldedFrom(reader.header());
  calls.folded_text = profile::FoldedText(reader.header());
  calls.limits_text = profile::LimitsText(reader.meta(), reader.header());
  calls.slow_text = profile::SlowText(reader);
  calls.methods = reader.RecordedMethods();
  calls.focus = FocusOf(reader);
  calls.losses = profile::Losses(reader);
  return calls;
}

// Returns whether the agent wrote only meta.json and the log of jitted code, as in mode tprof.
bool IsLogOnly(const std::string& directory) {
  return HasFile(directory, profile::kJitLogFile) && !HasFile(directory, profile::kControlFile);
}

Result<ProfileInfo> ReadLogOnly(const std::string& directory) {
  const auto log = profile::ReadJitLog(directory);
  if (!log) return std::unexpected(log.error());
  const Fd folder(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const profile::ReaderFile file(folder.get(), profile::kMetaFile);
  profile::Damages damages;
  ProfileInfo info = {.directory = directory};
  info.meta = profile::ParseMeta(file.ReadAll(16 << 20), damages);
  info.damages = damages.Lines();
  info.bytes = BytesOf(directory, info.damages);
  std::ranges::copy(log->damages, std::back_inserter(info.damages));
  info.jitted = JittedOf(*log);
  info.finished = info.jitted->finished;
  info.seconds = info.jitted->seconds;
  return info;
}

}  // namespace

// Returns the bytes that the files use. The length of a sparse file is not what it uses, and the
// files of a live profile are reserved in advance.
uint64_t BytesOf(const std::string& directory, std::vector<std::string>& damages) {
  uint64_t bytes = 0;
  std::error_code failed;
  std::filesystem::directory_iterator file(directory, failed);
  for (; !failed && file != std::filesystem::directory_iterator(); file.increment(failed)) {
    struct stat status;
    if (stat(file->path().c_str(), &status) == 0) {
      bytes += std::min<uint64_t>(static_cast<uint64_t>(status.st_size),
                                  static_cast<uint64_t>(status.st_blocks) * 512);
    } else if (errno != ENOENT) {
      damages.push_back(fmt::format("{}: {}", file->path().filename().string(), ErrnoText()));
    }
  }
  if (failed) damages.push_back("its files cannot be listed: " + failed.message());
  return bytes;
}

Result<ProfileInfo> ReadProfileInfo(const std::string& directory) {
  if (IsLogOnly(directory)) return ReadLogOnly(directory);
  auto reader = profile::Reader::Open(directory);
  if (!reader) return std::unexpected(reader.error());
  const auto tree = reader->ReadTree();
  if (!tree) return std::unexpected(tree.error());
  ProfileInfo info = {.directory = reader->directory(),
                      .meta = reader->meta(),
                      .finished = reader->header().finished != 0,
                      .seconds = Seconds(reader->header())};
  info.calls = CallsOf(*reader, *tree);
  info.merged = profile::ReadMerged(*reader);
  info.imported = profile::ReadImported(info.directory);
  info.attributes = model::ReadProcessAttributes(info.directory);
  info.damages = reader->damages().Lines();
  info.bytes = BytesOf(directory, info.damages);
  ReadJitted(info);
  ReadEvents(info);
  ReadSeries(*reader, info);
  ReadPieces(info);
  return info;
}

}  // namespace jprof::cli
