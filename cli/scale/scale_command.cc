// `jprof scale`: runs a program with inputs of several sizes, and prints how its calls grow.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "calibrate/store/run_history.h"
#include "cli/scale/sizes.h"
#include "cli/shared/commands.h"
#include "cli/shared/pager.h"
#include "cli/shared/profile_source.h"
#include "cli/shared/record_options.h"
#include "cli/shared/usage_error.h"
#include "cli/shared/view_output.h"
#include "common/errno_text.h"
#include "common/shell_word.h"
#include "record/agent/scale_runs.h"
#include "record/place/recording_summary.h"
#include "reports/scale/scale_report.h"

namespace jprof::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kHtml[] = "--html";

struct ScaleArguments {
  record::SequenceRequest request;
  std::string sizes, html;
  std::string result;  // to report instead of running a program
};

// Prints the report to `to` and, if it was asked for, writes the page.
Result<void> Show(const std::string& directory, const std::string& html, std::FILE* to) {
  auto scale = model::OpenScale(directory, {});
  if (!scale) return std::unexpected(scale.error());
  std::fflush(stdout);
  reports::Output out(to, reports::ShowsColour(to));
  auto printed = reports::PrintScale(*scale, {.width = to == stdout ? TerminalWidth() : 0}, out);
  if (printed) printed = out.Finish();
  if (!printed) return printed;
  if (!html.empty()) return WriteView({directory}, {}, html);
  PrintNext("jprof view " + record::DisplayPath(directory));
  return {};
}

Result<int> Report(const CommandLine& line, const ScaleArguments& arguments) {
  for (const std::string& option : line.GivenOptions()) {
    if (option != kHtml)
      return WrongUse(
          "{} is for running a program: jprof scale --sizes ... -- CMD {{n}}; with {} "
          "only {} fits, and for other formats: jprof report {}",
          option, arguments.result, kHtml, ShellWord(arguments.result));
  }
  return StatusOf(Show(arguments.result, arguments.html, stdout));
}

// Fails if the page could not be written, which would show only after all runs.
Result<void> CheckPage(const std::string& html) {
  const fs::path folder = fs::path(html).parent_path();
  if (html.empty() || access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) == 0) return {};
  return WrongUse("--html: cannot write to {}: {}; nothing was started", folder.string(),
                  ErrnoText());
}

Result<int> Run(const ScaleArguments& arguments, const Command& command) {
  if (arguments.sizes.empty()) {
    return WrongUse("--sizes is required: jprof scale --sizes 1000,2000,4000,8000 -- {} ...",
                    command.front());
  }
  const auto sizes = ParseSizes(arguments.sizes);
  if (!sizes) return std::unexpected(sizes.error());
  if (const auto page = CheckPage(arguments.html); !page) return std::unexpected(page.error());
  const auto plan = record::PlanScale(arguments.request, *sizes, command);
  if (!plan) return std::unexpected(plan.error());
  for (const std::string& note : plan->Notes()) PrintError(note);
  const auto usual =
      calibrate::UsualSpreads(calibrate::ReadHistory(), calibrate::ProgramId(command));
  const auto end = record::RunScale(*plan, JPROF_VERSION, usual);
  if (!end) return std::unexpected(end.error());
  if (end->recorded < 2) {
    PrintError(fmt::format("{} of {} sizes {} recorded: growth shows from two on",
                           end->recorded == 0 ? "none" : "one", sizes->size(),
                           end->recorded == 0 ? "were" : "was"));
    return end->status == 0 ? 1 : end->status;
  }
  PrintError("result:  " + record::DisplayPath(plan->out));
  if (auto shown = Show(plan->out.string(), arguments.html, stderr); !shown)
    return std::unexpected(shown.error());
  return end->status;
}

Result<int> Scale(const CommandLine& line, const ScaleArguments& arguments,
                  const Command& command) {
  const bool reports = !arguments.result.empty() && command.empty();
  if (line.Others().empty() && command.empty() && !reports) {
    return WrongUse(
        "name the program, with {{n}} for the size: jprof scale --sizes 1000,2000,4000,8000 -- "
        "java -jar app.jar {{n}}");
  }
  if (!line.Others().empty()) {
    const auto checked = CheckCommand(line, command);
    if (!checked) return std::unexpected(checked.error());
  }
  if (reports && !arguments.sizes.empty()) {
    return WrongUse("put -- before the program: jprof scale --sizes {} -- {} ...", arguments.sizes,
                    arguments.result);
  }
  if (reports) return Report(line, arguments);
  if (!arguments.result.empty()) {
    return WrongUse(
        "{} is before the --: a result is reported by itself (jprof scale DIR), and a "
        "new one goes to -o DIR",
        arguments.result);
  }
  return Run(arguments, command);
}

constexpr char kHelp[] =
    R"(Runs a program once for each size, which replaces {n} in its arguments, first sampled and then
counted, and prints for each method and calling context by which power of n its exact number of
calls grows, and its time. What would take the largest part at ten times the largest size comes
first: "Table.find: calls ~ n^2.00". Sizes that grow by equal factors, each at least twice the one
before, and four of them give the best exponents (docs/SCALE.md). The exit status is the first one
of the program that is not 0. The result is a directory, which `jprof report` prints in other
formats and `jprof view` plots.

Examples:
  jprof scale --sizes 1000,2000,4000,8000 -- java -jar app.jar --rows {n}
  jprof scale --sizes 1k..16k --runs 0 -- java Bench {n}      only counted: half the runs
  jprof scale --sizes 1k,2k,4k,8k --html app.html -- java Bench {n}
  jprof scale app.jprof                                       the report of a result again
  jprof report app.jprof --format csv                         all rows, for programs
  jprof view app.jprof                                        plots in the browser)";

}  // namespace

Action ScaleCommand(CommandLine line, const Command& command) {
  line.Footer(kHelp);
  line.AllowOthers();  // CheckCommand reports the first unknown argument
  auto arguments = std::make_shared<ScaleArguments>();
  record::SequenceRequest& request = arguments->request;
  request.runs = "1";
  request.least_runs = 0;
  TypedOptions& typed = request.typed;
  line.Option("DIR", arguments->result, "DIR",
              "A result of jprof scale, to print its report again instead of running a program");
  line.Option("--sizes", arguments->sizes, "LIST",
              "the sizes, such as 1000,2000,4000,8000 or 1k,2k,4k,8k (k is 1000), or 1k..8k, which "
              "doubles");
  line.Option("--runs", request.runs, "N",
              fmt::format("how many runs of each size are sampled, from 0 to {} (default 1): more "
                          "make exponents of times more exact; 0: calls only",
                          record::kMostSampledRuns));
  AddOption(line, "-o,--out", typed);
  line.Option(kHtml, arguments->html, "FILE", "also write a page with plots to this file");
  AddOptionsOfRuns(line, typed);
  return [line, arguments, &command] { return Scale(line, *arguments, command); };
}

}  // namespace jprof::cli
