// `jprof stat`: counts the events of a command per thread.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>

#include "cli/shared/choices.h"
#include "cli/shared/commands.h"
#include "cli/shared/count_output.h"
#include "cli/shared/counting_options.h"
#include "cli/shared/usage_error.h"
#include "ptm/cpu_sampler.h"
#include "record/count/command_counting.h"

namespace jprof::cli {
namespace {

constexpr char kStatFooter[] =
    R"(The table goes to standard error, so that the program's output stays as it is. What can be counted:
`jprof events`, docs/COUNTERS.md.

Examples:
  jprof stat -- java -jar app.jar               CPU time, page faults, cycles, ... by thread
  jprof stat --by-name -- java -jar app.jar     threads of one name in one row
  jprof stat -e PAPI_TOT_INS,PAPI_L1_DCM -- make   instructions and cache misses
  jprof stat --format csv -o counts.csv -- ./app)";

struct StatArguments {
  CountingOptions counting;
  bool by_name = false;
};

Result<int> Stat(const StatArguments& arguments, const Command& command) {
  const auto format = ChooseFormat(arguments.counting.format);
  if (!format) return std::unexpected(format.error());
  if (command.empty()) return WrongUse("give a command: jprof stat -- java -jar app.jar");
  const auto program = record::FindProgram(command.front());
  if (!program) return std::unexpected(program.error());
  auto metrics = CountedMetrics(arguments.counting);
  if (!metrics) return std::unexpected(metrics.error());
  const ptm::Permission permission = ptm::SamplingPermission();
  if (!permission.whole_machine)
    metrics->notes.push_back("threads are not distinguished: " + permission.advice);
  CountOutput out;
  if (auto opened = out.Open(arguments.counting.out, stderr); !opened)
    return std::unexpected(opened.error());

  const record::Launch launch = {*program, command, std::nullopt};
  auto counts = permission.whole_machine
                    ? record::CountThreads(launch, *metrics, arguments.counting.real_time)
                    : record::CountSum(launch, *metrics);
  if (!counts) return std::unexpected(counts.error());
  std::ranges::move(counts->table.notes, std::back_inserter(metrics->notes));
  for (const std::string& note : metrics->notes) PrintError(note);
  counts->table.command = fmt::format("{}", fmt::join(command, " "));
  counts->table.notes = metrics->notes;
  if (arguments.by_name) {
    SumByName(counts->table);
    SortByTime(counts->table);
  }
  if (auto printed = out.Print(counts->table, *format); !printed)
    return std::unexpected(printed.error());
  return counts->exit_code;
}

}  // namespace

Action StatCommand(CommandLine line, const Command& command) {
  auto arguments = std::make_shared<StatArguments>();
  line.Footer(kStatFooter);
  AddCountingOptions(line, arguments->counting, "text (default), json or csv",
                     "File for the table; - is standard output");
  line.Flag("--by-name", arguments->by_name, "Sum up the threads with the same name");
  return [arguments, &command] { return Stat(*arguments, command); };
}

}  // namespace jprof::cli
