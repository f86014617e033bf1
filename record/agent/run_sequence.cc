#include "record/agent/run_sequence.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "options/java_program.h"
#include "record/place/place_claim.h"
#include "record/place/profile_place.h"

namespace jprof::record {
namespace {

using RunMeta = profile::Run;

namespace fs = std::filesystem;

constexpr char kAutoRuns[] = "auto";
constexpr int kRunsAfterAuto = 2;

Result<int> ParseRuns(const std::string& text, int least) {
  int runs = 0;
  for (const char digit : text) runs = std::min(runs * 10 + (digit - '0'), kMostSampledRuns + 1);
  if (text == kAutoRuns) return kRunsAfterAuto;
  const bool number = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  if (number && runs >= least && runs <= kMostSampledRuns) return runs;
  return WrongUse("--runs: '{}' is neither auto nor a whole number from {} to {}", text, least,
                  kMostSampledRuns);
}

TypedOptions SampledOptions(TypedOptions typed) {
  typed.options.mode = options::Mode::kScs;
  typed.metrics.clear();
  return typed;
}

Result<TypedOptions> CountedOptions(const SequenceRequest& request) {
  if (request.counted == options::Mode::kCalltree && !request.typed.metrics.empty())
    return WrongUse("--metrics needs --counted callflow: calltree only counts calls");
  TypedOptions counted = request.typed;
  counted.options.mode = request.counted;
  counted.options.fold_recursion = true;
  counted.options.rate = options::AgentOptions().rate;
  return counted;
}

// Returns the options of the run that is both counted by woven code and sampled.
Result<TypedOptions> BothOptions(const SequenceRequest& request, TypedOptions counted) {
  if (counted.options.mode != options::Mode::kCalltree)
    return WrongUse("--runs auto needs --counted calltree: callflow changes the program's times");
  counted.options.triggers = {options::Trigger{}};
  counted.options.rate = request.typed.options.rate;
  return counted;
}

std::string HowText(const options::AgentOptions& options) {
  if (options.mode == options::Mode::kCallflow) return "counted, with times";
  const uint64_t every = options.triggers.empty() ? 0 : options.triggers.front().every;
  const std::string sampled =
      every == 0 ? "sampled" : fmt::format("sampled, {}/s", 1'000'000'000 / every);
  if (options.mode != options::Mode::kCalltree) return sampled;
  return every == 0 ? "counted" : "counted and " + sampled;
}

// Returns the directory of the combined profile, as a path without a '/' at its end.
Result<fs::path> PlaceOf(const std::string& typed, const std::vector<std::string>& command) {
  const std::string out = typed.empty() ? FreePlace(options::ProfileName(command)).string() : typed;
  std::error_code failed;
  fs::path place = fs::absolute(out, failed).lexically_normal();
  if (failed) return WrongUse("cannot resolve the path {}: {}", out, failed.message());
  return place.has_filename() ? place : place.parent_path();
}

Result<void> AddRun(RunSequence& sequence, RunMeta::Role role, std::string name, TypedOptions typed,
                    const std::vector<std::string>& command) {
  typed.options.out = sequence.out / name;
  auto plan = PlanRecording(typed, command, /*inside=*/true);
  if (!plan) return std::unexpected(plan.error());
  if (plan->options.out != typed.options.out || plan->options.mode != typed.options.mode)
    return WrongUse("JPROFOPTS sets the mode or OUT, which jprof chooses here; unset it");
  for (const std::string& note : plan->notes)
    if (std::ranges::count(sequence.notes, note) == 0) sequence.notes.push_back(note);
  std::string how = HowText(plan->options);
  sequence.runs.push_back({role, std::move(name), std::move(how), *std::move(plan)});
  return {};
}

// The counted runs are the last ones, but the first one if it is sampled, too.
Result<void> AddRuns(RunSequence& sequence, int sampled_runs, const SequenceRequest& request,
                     const TypedOptions& counted, const std::vector<std::string>& command) {
  const auto add_counted = [&](int number, const TypedOptions& typed) {
    return AddRun(sequence, RunMeta::Role::kCounted, profile::CountedProfile(number), typed,
                  command);
  };
  if (sequence.begins_with_both) {
    const auto both = BothOptions(request, counted);
    if (!both) return std::unexpected(both.error());
    if (auto added = add_counted(1, *both); !added) return added;
  }
  const TypedOptions sampled = SampledOptions(request.typed);
  for (int i = 1; i <= sampled_runs; ++i) {
    auto added =
        AddRun(sequence, RunMeta::Role::kSampled, profile::SampledProfile(i), sampled, command);
    if (!added) return added;
  }
  const int counted_runs = sequence.begins_with_both ? 0 : request.recounts ? sampled_runs : 1;
  for (int i = 1; i <= counted_runs; ++i) {
    if (auto added = add_counted(i, counted); !added) return added;
  }
  return {};
}

}  // namespace

Result<RunSequence> PlanRuns(const SequenceRequest& request,
                             const std::vector<std::string>& command) {
  const auto runs = ParseRuns(request.runs, request.least_runs);
  if (!runs) return std::unexpected(runs.error());
  const auto counted = CountedOptions(request);
  if (!counted) return std::unexpected(counted.error());
  auto out = PlaceOf(request.typed.options.out, command);
  if (!out) return std::unexpected(out.error());
  RunSequence sequence = {.out = *std::move(out),
                          .label = request.label,
                          .begins_with_both = request.runs == kAutoRuns};
  if (auto added = AddRuns(sequence, *runs, request, *counted, command); !added)
    return std::unexpected(added.error());
  const auto place = PrepareUnclaimed(sequence.out, request.typed.force);
  if (!place) return std::unexpected(place.error());
  if (auto made = MakePlace(sequence.out); !made) return std::unexpected(made.error());
  return sequence;
}

}  // namespace jprof::record
