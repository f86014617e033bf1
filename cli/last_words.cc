#include "cli/last_words.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "calibrate/train/table_store.h"
#include "profile/reader.h"
#include "reports/losses.h"

namespace jprof::cli {
namespace {

namespace fs = std::filesystem;

// Ids begin with the one that stands for methods that cannot be described.
uint32_t NamedMethods(const profile::Reader& reader) {
  return std::max(reader.header().method_count, 1u) - 1;
}

// By name, not by flag: what a thread did before it had its name is in the profile.
bool NoThreadMatches(const profile::Reader& reader, const agent::Filter& filter) {
  return std::ranges::none_of(reader.threads(), [&](const profile::Thread& thread) {
    return filter.AcceptsThread(thread.name);
  });
}

std::vector<std::string> EmptyFilters(const profile::Reader& reader,
                                      const agent::AgentOptions& options) {
  std::vector<std::string> empty;
  if (!options.threads.Empty() && NoThreadMatches(reader, options.threads)) {
    empty.push_back("everything: no thread matched --threads");
  } else if (!options.methods.Empty() && NamedMethods(reader) == 0) {
    empty.push_back("everything: no method matched --methods");
  }
  return empty;
}

std::vector<std::string> Lost(const profile::Reader& reader) {
  std::vector<std::string> lost;
  for (const reports::Loss& loss : reports::Losses(reader)) {
    if (loss.count != 0) lost.push_back(fmt::format("{} {}", loss.count, loss.says));
  }
  std::ranges::copy(reader.damages().Lines(), std::back_inserter(lost));
  return lost;
}

// The table that fits this run goes with the profile. Why not, if there is none.
std::string KeepTable(const profile::Reader& reader, const fs::path& profile) {
  const auto stored = calibrate::FindTable(reader.meta().fingerprint);
  if (!stored) return stored.error().message;
  std::error_code failed;
  fs::copy_file(stored->path, profile / profile::kCalibrationFile,
                fs::copy_options::overwrite_existing, failed);
  return failed ? fmt::format("the calibration table could not be copied: {}", failed.message())
                : "";
}

std::string Next(const profile::Reader& reader, const agent::AgentOptions& options,
                 const fs::path& profile) {
  const std::string report =
      fmt::format("jprof report {} {}", options.mode == agent::Mode::kTrace ? "log-gen" : "log-rt",
                  Shown(profile));
  if (options.mode == agent::Mode::kCalltree) return report;
  const std::string uncalibrated = KeepTable(reader, profile);
  return uncalibrated.empty() ? report
                              : fmt::format("jprof calibrate, then {} ({})", report, uncalibrated);
}

}  // namespace

std::string Shown(const fs::path& path) {
  std::error_code failed;
  const fs::path relative = path.lexically_relative(fs::current_path(failed));
  const bool below = !failed && !relative.empty() && *relative.begin() != "..";
  const std::string text = below ? relative.string() : path.string();
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:@%";
  if (text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

bool Conclude(const fs::path& profile, const agent::AgentOptions& options) {
  const auto reader = profile::Reader::Open(profile.string());
  if (!reader) {
    fmt::print(stderr, "jprof: the profile cannot be read: {}\n", reader.error().message);
    return true;
  }
  const auto empty = EmptyFilters(*reader, options);
  const auto lost = empty.empty() ? Lost(*reader) : empty;
  const std::string& probe = reader->meta().probe;
  fmt::print(stderr, "jprof: profile: {} ({} threads, {} methods{})\n", Shown(profile),
             reader->threads().size(), NamedMethods(*reader),
             probe == "jvmti" ? ", by slow JVMTI events: " + reader->meta().probe_note : "");
  fmt::print(stderr, "jprof: lost:    {}{}\n",
             lost.empty() ? "nothing" : fmt::format("{}", fmt::join(lost, "; ")),
             reader->header().finished ? "" : " (the program did not end in order)");
  fmt::print(stderr, "jprof: next:    {}\n", Next(*reader, options, profile));
  return empty.empty();
}

}  // namespace jprof::cli
