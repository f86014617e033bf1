#include "record/agent/scale_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <optional>
#include <system_error>
#include <utility>

#include "common/utc_text.h"
#include "options/java_program.h"
#include "record/agent/sequence_runner.h"
#include "record/place/place_claim.h"
#include "record/place/profile_place.h"
#include "record/place/recording_summary.h"
#include "record/run/print_error.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

// Removes the directories of a plan that nothing was recorded to.
void RemoveEmpty(const fs::path& out, const std::vector<uint64_t>& sizes) {
  std::error_code ignored;  // fails if a directory contains anything
  for (const uint64_t size : sizes) fs::remove(out / profile::SizeProfile(size), ignored);
  fs::remove(out, ignored);
}

Result<fs::path> MakeOut(const SequenceRequest& request, const std::vector<std::string>& command) {
  const std::string& typed = request.typed.options.out;
  const fs::path named = typed.empty() ? FreePlace(options::ProfileName(command)) : fs::path(typed);
  auto out = PrepareUnclaimed(named, request.typed.force);
  if (!out) return out;
  if (auto made = MakePlace(*out); !made) return std::unexpected(made.error());
  return out;
}

Result<void> PlanSizes(SequenceRequest request, ScalePlan& plan) {
  const size_t count = plan.sizes.size();
  for (const uint64_t size : plan.sizes) {
    const auto command = WithSize(plan.command, size);
    if (!command) return std::unexpected(command.error());
    request.label = fmt::format("n = {} ({} of {})", size, plan.sequences.size() + 1, count);
    request.typed.options.out = plan.out / profile::SizeProfile(size);
    auto sequence = PlanRuns(request, *command);
    if (!sequence) return std::unexpected(sequence.error());
    plan.sequences.push_back(*std::move(sequence));
  }
  return {};
}

class SizesRunner {
 public:
  SizesRunner(const ScalePlan& plan, const std::string& jprof, const profile::RunSpreads& usual)
      : plan_(plan), usual_(usual) {
    meta_ = {.jprof = jprof,
             .start = UtcText(std::time(nullptr)),
             .command = plan.command,
             .notes = {},
             .sizes = {}};
  }

  Result<ScaleEnd> RunAll() {
    for (size_t i = 0; i < plan_.sizes.size(); ++i) {
      const bool goes_on = RunSize(i);
      if (!goes_on) break;
    }
    RemoveEmpty(plan_.out, plan_.sizes);
    if (error_ && meta_.sizes.empty()) return std::unexpected(*error_);
    if (error_) PrintError(error_->message);
    if (!meta_.sizes.empty()) {
      if (auto written = WriteScale(plan_.out, meta_); !written)
        return std::unexpected(written.error());
    }
    return ScaleEnd{.status = status_, .recorded = meta_.sizes.size()};
  }

 private:
  // Returns whether the next size is run.
  bool RunSize(size_t i) {
    const uint64_t size = plan_.sizes[i];
    const auto command = WithSize(plan_.command, size);
    const auto end = record::RunAll(
        plan_.sequences[i], {.jprof = meta_.jprof, .command = *command, .usual = usual_}, program_);
    if (!end) {
      error_ = end.error();
      return false;
    }
    if (i == 0) first_status_ = end->status;
    if (status_ == 0) status_ = end->status;
    if (end->stopped || !end->combined) return false;
    if (end->status != first_status_) {
      meta_.notes.push_back(fmt::format(
          "n = {} is left out: it ended with exit status {}, n = {} with {}; no larger size was "
          "run",
          size, end->status, plan_.sizes.front(), first_status_));
      PrintError(meta_.notes.back());
      return false;
    }
    meta_.sizes.push_back(size);
    program_.ChangeArguments();
    return true;
  }

  const ScalePlan& plan_;
  const profile::RunSpreads& usual_;
  profile::ScaleMeta meta_;
  ProgramRuns program_;
  int status_ = 0, first_status_ = 0;
  std::optional<Error> error_;
};

}  // namespace

Result<std::vector<std::string>> WithSize(const std::vector<std::string>& command, uint64_t size) {
  std::vector<std::string> words = command;
  const std::string digits = fmt::format("{}", size);
  bool is_sized = false;
  for (std::string& word : words) {
    for (size_t at = word.find(kSizePlace); at != word.npos;
         at = word.find(kSizePlace, at + digits.size())) {
      word.replace(at, kSizePlace.size(), digits);
      is_sized = true;
    }
  }
  if (is_sized) return words;
  return WrongUse(
      "no argument of the command has {0}, which stands for the size: jprof scale --sizes "
      "1000,2000,4000,8000 -- {1} {0}",
      kSizePlace, command.front());
}

std::vector<std::string> ScalePlan::Notes() const {
  std::vector<std::string> notes;
  for (const RunSequence& sequence : sequences) {
    for (const std::string& note : sequence.notes)
      if (std::ranges::count(notes, note) == 0) notes.push_back(note);
  }
  return notes;
}

Result<ScalePlan> PlanScale(const SequenceRequest& request, const std::vector<uint64_t>& sizes,
                            const std::vector<std::string>& command) {
  if (const auto sized = WithSize(command, sizes.front()); !sized)
    return std::unexpected(sized.error());
  auto out = MakeOut(request, command);
  if (!out) return std::unexpected(out.error());
  ScalePlan plan = {.out = *std::move(out), .command = command, .sizes = sizes, .sequences = {}};
  if (auto planned = PlanSizes(request, plan); !planned) {
    RemoveEmpty(plan.out, sizes);
    return std::unexpected(planned.error());
  }
  return plan;
}

Result<ScaleEnd> RunScale(const ScalePlan& plan, const std::string& jprof,
                          const profile::RunSpreads& usual) {
  return SizesRunner(plan, jprof, usual).RunAll();
}

}  // namespace jprof::record
