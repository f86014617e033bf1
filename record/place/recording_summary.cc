#include "record/place/recording_summary.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "calibrate/store/table_store.h"
#include "common/nearest.h"
#include "common/procfs.h"
#include "common/shell_word.h"
#include "options/label_methods.h"
#include "options/slow_methods.h"
#include "profile/files/printable_text.h"
#include "profile/read/losses.h"
#include "profile/read/reader.h"
#include "record/place/filter_suggestion.h"
#include "record/run/print_error.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

// Returns the first item that includes, as typed. It matched nothing; `suggest` returns the names
// that it may have meant.
template <typename Suggest>
std::string UnmatchedFilter(std::string_view option, const options::Filter& filter,
                            Suggest suggest) {
  const auto item = std::ranges::find_if(filter.items, &options::FilterItem::include);
  if (item == filter.items.end()) return fmt::format("{} excludes all of them", option);
  const std::vector<std::string> names = suggest(item->text);
  return fmt::format(
      "{} {}{}{}", option, item->text, item->prefix ? "*" : "",
      names.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(names, " or ")));
}

std::string UnmatchedThreads(const profile::Reader& reader, const options::Filter& filter) {
  std::set<std::string_view> names;
  for (const profile::Thread& thread : reader.threads()) names.insert(thread.name);
  return UnmatchedFilter("--threads", filter, [&](const std::string& text) {
    const auto nearest = Nearest(text, std::vector(names.begin(), names.end()));
    return nearest ? std::vector{std::string(*nearest)} : std::vector<std::string>();
  });
}

// Describes the unmatched filter. The profile has the names of all methods that ran with probes,
// also of those that are excluded.
std::string UnmatchedMethods(profile::Reader& reader, std::string_view option,
                             const options::Filter& filter) {
  FilterableNames names;
  const profile::Methods methods = reader.ReadMethods();
  for (uint32_t id = 2; id < methods.size(); ++id) {
    const profile::MethodName method = methods[profile::MethodId{id}];
    names.Add(profile::CleanText(method.class_name), profile::CleanText(method.name));
  }
  return UnmatchedFilter(option, filter,
                         [&](const std::string& text) { return names.Suggest(text); });
}

// Compares names, because a thread may have been recorded before it got the name by which it is
// excluded.
bool NoThreadMatches(const profile::Reader& reader, const options::Filter& filter) {
  return std::ranges::none_of(reader.threads(), [&](const profile::Thread& thread) {
    return filter.AcceptsThread(thread.name);
  });
}

std::vector<std::string> EmptyFilters(profile::Reader& reader,
                                      const options::AgentOptions& options) {
  std::vector<std::string> empty;
  const profile::ControlHeader& header = reader.header();
  if (!options.start && header.paused != 0 && header.starts == 0) {  // no method was looked at
    empty.push_back("everything: neither the program nor `jprof ctl` started the recording");
    return empty;
  }
  if (!options.threads.Empty() && NoThreadMatches(reader, options.threads)) {
    empty.push_back("everything: no thread matched " + UnmatchedThreads(reader, options.threads));
  } else if (!options.methods.Empty() && reader.RecordedMethods() == 0) {
    empty.push_back("everything: no method matched " +
                    UnmatchedMethods(reader, "--methods", options.methods));
  } else if (!options.focus.Empty() && reader.RecordedMethods() == 0) {
    empty.push_back("everything: no method matched " +
                    UnmatchedMethods(reader, "--focus", options.focus));
  } else if (!options.within.Empty() && reader.header().gate_patterns == 0) {
    empty.push_back("everything: no method matched " +
                    UnmatchedMethods(reader, "--within", options.within));
  } else if (!options.within.Empty() && reader.header().gate_calls <= options.after) {
    empty.push_back(fmt::format(
        "everything: the methods of --within were called {} times{}", reader.header().gate_calls,
        options.after != 0 ? fmt::format(", and --after leaves out {}", options.after) : ""));
  } else if (!options.distribution.Empty() && reader.header().watched_patterns == 0) {
    empty.push_back("all distributions: no method matched " +
                    UnmatchedMethods(reader, "--distribution", options.distribution));
  }
  for (size_t i = 0; i < options.slow.size(); ++i) {
    const auto methods = options::ParseSlowMethods(options.slow[i]);
    if (methods && (reader.header().watched_patterns >> i & 1) == 0)
      empty.push_back("slow calls: no method matched " +
                      UnmatchedMethods(reader, "--slow", methods->filter));
  }
  for (size_t i = 0; i < options.label_from.size() && i < options::kMostLabelMethods; ++i) {
    if (reader.header().label_methods[i] == 0)
      empty.push_back(
          fmt::format("labels: no method that was loaded matched --label-from {}, with such an "
                      "argument and with bytecode",
                      options.label_from[i]));
  }
  return empty;
}

std::vector<std::string> Lost(const profile::Reader& reader) {
  std::vector<std::string> lost;
  for (const profile::Loss& loss : profile::Losses(reader)) {
    if (loss.count != 0) lost.push_back(fmt::format("{} {}", loss.count, loss.description));
  }
  std::ranges::copy(reader.damages().Lines(), std::back_inserter(lost));
  return lost;
}

// Returns an empty text if the program ended normally.
std::string UnfinishedText(const profile::Reader& reader) {
  if (reader.header().finished) return "";
  const uint64_t pid = reader.meta().pid;
  return pid != 0 && procfs::Runs(static_cast<uint32_t>(pid)) ? "still running"
                                                              : "the program ended abnormally";
}

// Copies the calibration table of this run into the profile, as private as the other files. Returns
// the reason if it cannot, else an empty text.
std::string CopyTable(const profile::Reader& reader, const fs::path& profile) {
  const auto stored = calibrate::FindTable(reader.meta().fingerprint);
  if (!stored) return stored.error().message;
  std::error_code failed;
  const fs::path copy = profile / profile::kCalibrationFile;
  fs::copy_file(stored->path, copy, fs::copy_options::overwrite_existing, failed);
  if (!failed) fs::permissions(copy, fs::perms::owner_read | fs::perms::owner_write, failed);
  return failed ? fmt::format("the calibration table could not be copied: {}", failed.message())
                : "";
}

// Prints the command that helps most now: the report, or the calibration that a profile with times
// lacks.
void PrintNextFor(const profile::Reader& reader, const fs::path& profile) {
  const bool timed = reader.meta().is(Mode::kCallflow) || reader.meta().is(Mode::kTrace);
  const std::string uncalibrated = timed ? CopyTable(reader, profile) : "";
  if (reader.meta().is(Mode::kCallflow) && !uncalibrated.empty()) {
    fmt::print(stderr, "jprof: detail:  the profiler's own cost is in the times: {}\n",
               uncalibrated);
    PrintNext(calibrate::TrainingCommand(reader.meta().fingerprint));
    return;
  }
  const char* const report = reader.header().slow_items != 0      ? "slow "
                             : reader.meta().is(Mode::kTrace)     ? "log-gen "
                             : reader.header().distributions != 0 ? "distribution "
                                                                  : "";
  PrintNext(fmt::format("jprof report {}{}", report, DisplayPath(profile)));
}

}  // namespace

std::string DisplayPath(const fs::path& path) {
  std::error_code failed;
  const fs::path relative = path.lexically_relative(fs::current_path(failed));
  const bool below = !failed && !relative.empty() && *relative.begin() != "..";
  return ShellWord(profile::CleanText(below ? relative.string() : path.string()));
}

std::string SummaryLine(const fs::path& profile) {
  auto reader = profile::Reader::Open(profile.string());
  if (!reader) return fmt::format("the profile cannot be read: {}", reader.error().message);
  std::vector<std::string> parts = {fmt::format("{} threads", reader->threads().size()),
                                    fmt::format("{} methods", reader->RecordedMethods())};
  if (const auto lost = Lost(*reader); lost.empty()) {
    parts.emplace_back("lost nothing");
  } else {
    parts.push_back(fmt::format("lost: {}", fmt::join(lost, "; ")));
  }
  if (const auto unfinished = UnfinishedText(*reader); !unfinished.empty())
    parts.push_back(unfinished);
  const auto folded = profile::FoldedText(reader->header());
  if (!folded.empty()) parts.push_back(folded);
  if (reader->meta().is(Mode::kCallflow)) {
    if (const auto reason = CopyTable(*reader, profile); !reason.empty())
      parts.push_back(fmt::format("not calibrated: {}", reason));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

void KeepTable(const fs::path& profile) {
  if (auto reader = profile::Reader::Open(profile.string()); reader) CopyTable(*reader, profile);
}

bool PrintSummary(const fs::path& profile, const options::AgentOptions& options) {
  auto reader = profile::Reader::Open(profile.string());
  if (!reader) {
    PrintError(fmt::format("the profile cannot be read: {}", reader.error().message));
    return true;
  }
  const auto empty = EmptyFilters(*reader, options);
  const auto lost = empty.empty() ? Lost(*reader) : empty;
  const std::string unfinished = UnfinishedText(*reader);
  const profile::Probe& probe = reader->meta().probe;
  PrintError(
      fmt::format("profile: {} ({} threads, {} methods{})", DisplayPath(profile),
                  reader->threads().size(), reader->RecordedMethods(),
                  probe.is(ProbeKind::kJvmti) ? ", by slow JVMTI events: " + probe.note : ""));
  PrintError(fmt::format("lost:    {}{}",
                         lost.empty() ? "nothing" : fmt::format("{}", fmt::join(lost, "; ")),
                         unfinished.empty() ? "" : fmt::format(" ({})", unfinished)));
  if (const std::string folded = profile::FoldedText(reader->header()); !folded.empty()) {
    PrintError(fmt::format("detail:  {}; counts are exact", folded));
  }
  if (empty.empty()) PrintNextFor(*reader, profile);
  return empty.empty();
}

bool PrintSummaries(const fs::path& place, const std::vector<JvmProfile>& profiles,
                    const options::AgentOptions& options) {
  const bool jvms = std::ranges::all_of(profiles, &JvmProfile::jvm);
  PrintError(fmt::format("profiles: {} of {} in {}, the busiest first", profiles.size(),
                         jvms ? "JVMs" : "processes", DisplayPath(place)));
  bool recorded = false;
  for (const JvmProfile& profile : profiles) {
    PrintError(fmt::format("  {}: {:.2f} s of CPU time, {}", profile.path.filename().string(),
                           static_cast<double>(profile.cpu_nanos) / 1e9,
                           SummaryLine(profile.path)));
    recorded |= profile.methods != 0;
  }
  const fs::path& busiest = profiles.front().path;
  auto reader = profile::Reader::Open(busiest.string());
  if (!reader) return true;
  const auto empty = recorded ? std::vector<std::string>() : EmptyFilters(*reader, options);
  if (empty.empty()) {
    PrintNextFor(*reader, busiest);
  } else {
    PrintError(fmt::format("lost:    {}", fmt::join(empty, "; ")));
  }
  return empty.empty();
}

}  // namespace jprof::record
