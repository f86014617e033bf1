#include "cli/commands/combined_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "calibrate/store/run_history.h"
#include "cli/shared/pager.h"
#include "cli/shared/profile_source.h"
#include "cli/shared/usage_error.h"
#include "common/shell_word.h"
#include "record/agent/run_sequence.h"
#include "record/place/recording_summary.h"
#include "reports/combined/combined_report.h"

namespace jprof::cli {
namespace {

// Intervals count as wide if half of that of the whole time is more than this part of the time.
constexpr double kWide = 0.2;
constexpr size_t kEnoughRuns = 5;
constexpr size_t kLongCommand = 200;

bool IsWide(const model::CombinedView& view) {
  const model::Estimate whole = view.times->Of(view.tree.AllSamples(0), model::Part::kAll);
  return whole.high - whole.value > kWide * whole.value;
}

std::string TypedCommand(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) text += (text.empty() ? "" : " ") + QuotedWord(word);
  return text.size() <= kLongCommand ? text : ShellWord(command.front()) + " ...";
}

// Returns the command that helps most: more runs where they make wide intervals narrower, else the
// page for the browser.
std::string NextCommand(const model::Combined& combined, const model::CombinedView& view) {
  const size_t runs = combined.sampled.size();
  if (combined.meta.from != "profile" || runs >= record::kMostSampledRuns || !IsWide(view))
    return "jprof view " + record::DisplayPath(combined.directory);
  return fmt::format("jprof profile --runs {} -- {}",
                     runs < kEnoughRuns ? kEnoughRuns : size_t{record::kMostSampledRuns},
                     TypedCommand(combined.meta.command));
}

// Keeps how much the runs differed for later profiles, unless one of them ended in another way.
void Remember(const model::Combined& combined, const model::CombinedView& view) {
  const profile::RunSpreads& found = view.times->found();
  if (combined.meta.from != "profile" || !(found.total.freedom > 0)) return;
  const auto ended = [&](const model::RunSummary& run) {
    return run.run.exit_status == view.sampled.front().run.exit_status;
  };
  if (!std::ranges::all_of(view.sampled, ended)) return;
  const auto kept = calibrate::AddToHistory({.program = calibrate::ProgramId(combined.meta.command),
                                             .total = found.total,
                                             .share = found.share,
                                             .own_share = found.own_share});
  if (!kept) PrintError("how much the runs differ is not kept: " + kept.error().message);
}

}  // namespace

Result<void> PrintCombinedReport(const std::filesystem::path& directory, std::FILE* to) {
  auto combined = model::OpenCombined(directory.string(), {});
  if (!combined) return std::unexpected(combined.error());
  auto view = model::LoadCombined(*combined);
  if (!view) return std::unexpected(view.error());
  Remember(*combined, *view);
  std::fflush(stdout);
  const reports::Options options = {.width = to == stdout ? TerminalWidth() : 0};
  reports::Output out(to, reports::ShowsColour(to));
  if (auto printed = reports::PrintCombined(*combined, *view, options, out); !printed)
    return printed;
  if (auto finished = out.Finish(); !finished) return finished;
  PrintNext(NextCommand(*combined, *view));
  return {};
}

}  // namespace jprof::cli
