// `jprof merge`: makes one profile of several.
#include <sys/resource.h>

#include <chrono>
#include <memory>

#include "cli/fleet/fetched.h"
#include "cli/shared/choices.h"
#include "cli/shared/commands.h"
#include "cli/shared/profile_source.h"
#include "cli/shared/usage_error.h"
#include "profile/files/printable_text.h"
#include "profile/merge/merge.h"
#include "record/place/profile_place.h"
#include "record/place/recording_summary.h"
#include "record/run/interruption.h"
#include "record/run/status_line.h"

namespace jprof::cli {
namespace {

using profile::MergeThreads;

struct MergeArguments {
  std::vector<std::string> profiles;
  std::string out;
  std::string threads = "by-name";
  bool force = false;
};

Result<MergeThreads> ChooseThreads(const std::string& name) {
  constexpr MergeThreads kValues[] = {MergeThreads::kByName, MergeThreads::kKeep,
                                      MergeThreads::kMerge};
  const Result<size_t> chosen = Choose("--threads", name, {"by-name", "keep", "merge"});
  if (!chosen) return std::unexpected(chosen.error());
  return kValues[*chosen];
}

// Returns the profiles to merge. A directory of several JVMs' profiles represents all of them.
// Fails for one that has only events.
Result<std::vector<std::string>> InputsOf(const MergeArguments& arguments) {
  std::vector<std::string> inputs;
  for (const std::string& path : arguments.profiles) {
    if (!record::IsSeveral(path)) {
      if (auto can = RefuseEvents(path, "merged"); !can) return std::unexpected(can.error());
      inputs.push_back(path);
      continue;
    }
    for (const auto& profile : record::ProfilesAt(path)) inputs.push_back(profile.string());
  }
  return inputs;
}

// Prints "merging: 12 of 64" on a terminal, at most ten times a second.
class MergeProgress {
 public:
  explicit MergeProgress(size_t total) : total_(total) {}

  void Show(size_t done) {
    using namespace std::chrono_literals;
    const auto now = std::chrono::steady_clock::now();
    if (now < last_ + 100ms && done < total_) return;
    last_ = now;
    line_.Show(fmt::format("merging: {} of {}", done, total_));
  }

 private:
  size_t total_;
  record::StatusLine line_;
  std::chrono::steady_clock::time_point last_;
};

// Returns the peak memory of this process in MiB.
double PeakMemory() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void PrintOutcome(const MergeArguments& arguments, const profile::MergedMeta& merged,
                  double seconds) {
  uint64_t calls = 0;
  for (const profile::MergedInput& input : merged.inputs) {
    calls += input.calls;
    for (const std::string& damage : input.damages)
      PrintError(fmt::format("{}: {}", profile::CleanText(input.path), damage));
    if (!input.finished) {
      PrintError(fmt::format("{}: its program was still running, or ended abnormally",
                             profile::CleanText(input.path)));
    }
  }
  for (const std::string& notice : merged.notices) PrintError(notice);
  PrintError(fmt::format(
      "merged {} profiles ({} calls) into {} in {:.1f} s; peak memory {:.0f} MiB",
      merged.inputs.size(), calls, record::DisplayPath(arguments.out), seconds, PeakMemory()));
  PrintNext("jprof report " + record::DisplayPath(arguments.out));
}

Result<profile::MergedMeta> MergeWithProgress(profile::MergeOptions options) {
  const record::Interruption guard;  // a signal must not leave half a profile behind
  options.interrupted = [] { return record::Interruption::Number() != 0; };
  MergeProgress progress(options.inputs.size());
  options.progress = [&](size_t done) { progress.Show(done); };
  return profile::Merge(options);
}

Result<void> MergeProfiles(MergeArguments& arguments) {
  if (arguments.out.empty()) {
    return WrongUse("-o is required: jprof merge {}... -o OUT",
                    arguments.profiles.empty() ? "PROFILE" : arguments.profiles.front());
  }
  const auto threads = ChooseThreads(arguments.threads);
  if (!threads) return std::unexpected(threads.error());
  for (std::string& profile : arguments.profiles)
    if (auto fetched = FetchIfUrl(profile); !fetched) return fetched;
  const auto inputs = InputsOf(arguments);
  if (!inputs) return std::unexpected(inputs.error());
  if (auto place = record::CheckPlace(arguments.out, arguments.force); !place) return place;
  const auto start = std::chrono::steady_clock::now();
  profile::MergeOptions options = {.inputs = *inputs,
                                   .output = arguments.out,
                                   .threads = *threads,
                                   .progress = {},
                                   .interrupted = {},
                                   .make_room = {}};
  options.make_room = [&]() -> Result<void> {
    const auto room = record::PreparePlace(arguments.out, arguments.force);
    return room ? Result<void>() : std::unexpected(room.error());
  };
  const auto merged = MergeWithProgress(options);
  if (!merged) return std::unexpected(merged.error());
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  PrintOutcome(arguments, *merged, taken.count());
  return {};
}

}  // namespace

Action MergeCommand(CommandLine line, const Command&) {
  auto arguments = std::make_shared<MergeArguments>();
  line.Footer(
      "Profiles of one mode (callflow, calltree or scs) with the same metrics can be merged. The "
      "merged profile has sums, and for every context the minimum, median and maximum of all "
      "profiles: jprof report prints both. A URL of a fleet (docs/FLEET.md) is a profile, too.\n\n"
      "Examples:\n"
      "  jprof merge rank-*.jprof -o app.jprof              of the processes of one program\n"
      "  jprof merge build.jprof -o all.jprof               a directory of several JVMs' profiles\n"
      "  jprof merge a.jprof b.jprof --threads keep -o both.jprof\n"
      "  jprof report log-rt app.jprof                      RUNS, MIN, MEDIAN, MAX: the imbalance");
  line.Option("PROFILES", arguments->profiles, "PROFILE", "The profiles").Required();
  line.Option("-o,--out", arguments->out, "DIR", "The directory of the merged profile");
  line.Option("--threads", arguments->threads, "HOW",
              "by-name: threads of the same name become one; keep: none, their names begin with "
              "the number of their profile; merge: all become one (default by-name)");
  line.Flag("--force", arguments->force, "Replace an existing profile");
  return [arguments] { return StatusOf(MergeProfiles(*arguments)); };
}

}  // namespace jprof::cli
