// `jprof optimize`: measures a program, applies what is predicted to help it, and keeps what does.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "calibrate/store/table_store.h"
#include "cli/optimize/history_output.h"
#include "cli/shared/choices.h"
#include "cli/shared/commands.h"
#include "cli/shared/json_output.h"
#include "cli/shared/record_options.h"
#include "cli/shared/usage_error.h"
#include "cpo/agents/table.h"
#include "cpo/optimize/optimizer.h"
#include "cpo/optimize/program_key.h"
#include "profile/files/printable_text.h"
#include "record/run/program_runs.h"
#include "record/run/this_machine.h"

namespace jprof::cli {
namespace {

namespace fs = std::filesystem;

struct OptimizeArguments {
  std::optional<CommandLine> line;
  std::string action, program, agent, database;
  std::string format = "text";
  uint64_t runs = 1;
  bool measure = false, dry_run = false;
  PageChoice page;
};

fs::path DatabasePath(const OptimizeArguments& arguments) {
  if (!arguments.database.empty()) return arguments.database;
  return calibrate::DataDirectory().parent_path() / "optimize.db";
}

Result<cpo::ProgramCommand> ProgramOf(const Command& command) {
  const auto program = record::FindProgram(command.front());
  if (!program) return std::unexpected(program.error());
  return cpo::ProgramCommand{*program, command};
}

// The agents that the user has chosen and that can do something for the program.
struct ChosenAgents {
  std::vector<std::unique_ptr<cpo::Agent>> owned;

  std::vector<cpo::Agent*> all() const {
    std::vector<cpo::Agent*> agents;
    for (const auto& one : owned) agents.push_back(one.get());
    return agents;
  }
};

Result<ChosenAgents> AgentsFor(const cpo::ProgramCommand& command, const std::string& name) {
  std::vector<std::string_view> names;
  for (const cpo::AgentRow& row : cpo::Agents()) names.push_back(row.text.name);
  if (!name.empty()) {
    const auto chosen = Choose("--agent", name, names);
    if (!chosen) return std::unexpected(chosen.error());
  }
  ChosenAgents agents;
  std::string reasons;
  for (const cpo::AgentRow& row : cpo::Agents()) {
    if (!name.empty() && name != row.text.name) continue;
    auto agent = row.make();
    if (const auto eligible = agent->Eligible(command); !eligible) {
      reasons += fmt::format("; {}: {}", row.text.name, eligible.error().message);
      continue;
    }
    agents.owned.push_back(std::move(agent));
  }
  if (agents.owned.empty()) {
    return WrongUse("no agent can do anything for {}{}; nothing was started", command.words.front(),
                    reasons);
  }
  return agents;
}

cpo::OptimizeRequest RequestOf(const OptimizeArguments& arguments,
                               const cpo::ProgramCommand& program, const ChosenAgents& agents) {
  return {.command = program,
          .agents = agents.all(),
          .on_request = !arguments.agent.empty() && arguments.line->IsGiven("--runs"),
          .measure = arguments.measure};
}

std::unexpected<Error> NothingKnown(const std::string& program) {
  return WrongUse("nothing is known of {}; `jprof optimize status` lists the programs", program);
}

// Runs the program once or several times; in the latter case each run gets the same input.
class Runner {
 public:
  explicit Runner(bool is_repeated) {
    if (is_repeated) runs_.emplace();
  }

  Result<record::Outcome> Run(const record::Launch& launch,
                              const record::ProcessObserver& observe) {
    if (!runs_) return record::Run(launch, {}, observe);
    auto run = runs_->Run(launch, observe);
    if (!run) return std::unexpected(run.error());
    return run->outcome;
  }

 private:
  std::optional<record::ProgramRuns> runs_;
};

void PrintRunLine(const std::string& text) {
  fmt::print(stderr, "jprof optimize: {}\n", profile::CleanText(text));
}

Result<int> RunAndLearn(const OptimizeArguments& arguments, const Command& command) {
  if (const auto checked = CheckCommand(*arguments.line, command); !checked)
    return std::unexpected(checked.error());
  const auto program = ProgramOf(command);
  if (!program) return std::unexpected(program.error());
  const auto agents = AgentsFor(*program, arguments.agent);
  if (!agents) return std::unexpected(agents.error());
  auto store = cpo::Store::Open(DatabasePath(arguments));
  if (!store) return std::unexpected(store.error());
  const cpo::ProgramKey key = cpo::KeyOfProgram(*program);
  cpo::OptimizeRequest request = RequestOf(arguments, *program, *agents);
  Runner runner(arguments.runs > 1);
  int status = 0;
  for (uint64_t i = 0; i < arguments.runs; ++i) {
    const auto run = cpo::OptimizeOnce(*store, key, record::ThisMachine(), request,
                                       [&](const auto&... what) { return runner.Run(what...); });
    if (!run) return std::unexpected(run.error());
    PrintRunLine(run->text);
    if (run->failure) PrintError(run->failure->message);
    if (i == 0 || status == 0) status = run->outcome.ExitCode();
    if (run->failure && status == 0) status = 1;
    if (run->failure || run->outcome.interruption != 0) break;
    request.measure = false;
  }
  return status;
}

// Returns the histories that NAME or the command names, or all of them.
Result<std::vector<cpo::History>> HistoriesOf(const OptimizeArguments& arguments,
                                              const Command& command) {
  auto store = cpo::Store::OpenToRead(DatabasePath(arguments));
  if (!store) return std::unexpected(store.error());
  if (!*store) return std::vector<cpo::History>();
  auto histories = (*store)->LoadAll(record::ThisMachine());
  if (!histories) return histories;
  if (!command.empty()) {
    const auto program = ProgramOf(command);
    if (!program) return std::unexpected(program.error());
    const cpo::ProgramKey key = cpo::KeyOfProgram(*program);
    std::erase_if(*histories, [&](const cpo::History& one) {
      return one.key.identity != key.identity || one.key.arguments != key.arguments;
    });
  }
  if (!arguments.program.empty()) {
    std::erase_if(*histories,
                  [&](const cpo::History& one) { return one.key.name != arguments.program; });
  }
  return histories;
}

// Returns the same. Fails if NAME or the command names none.
Result<std::vector<cpo::History>> NamedHistoriesOf(const OptimizeArguments& arguments,
                                                   const Command& command) {
  auto histories = HistoriesOf(arguments, command);
  const bool is_named = !arguments.program.empty() || !command.empty();
  if (histories && histories->empty() && is_named)
    return NothingKnown(arguments.program.empty() ? command.front() : arguments.program);
  return histories;
}

Result<int> ShowHistories(const OptimizeArguments& arguments, const Command& command) {
  const auto format = Choose("--format", arguments.format, {"text", "json"});
  if (!format) return std::unexpected(format.error());
  const auto histories = NamedHistoriesOf(arguments, command);
  if (!histories) return std::unexpected(histories.error());
  if (*format == 1) {
    return StatusOf(
        PrintIndentedJson([&](reports::JsonWriter& json) { WriteOptimizeJson(*histories, json); }));
  }
  if (arguments.action == "status") {
    PrintOptimizeStatus(*histories);
  } else {
    PrintOptimizeExplanation(*histories);
  }
  return 0;
}

Result<int> ViewHistories(const OptimizeArguments& arguments, const Command& command) {
  if (arguments.line->IsGiven("--format"))
    return WrongUse("--format belongs to `jprof optimize status` and `explain`");
  const auto histories = NamedHistoriesOf(arguments, command);
  if (!histories) return std::unexpected(histories.error());
  if (histories->empty())
    return WrongUse("no program is known; the first run: jprof optimize -- CMD");
  return StatusOf(ShowOptimizePage(*histories, arguments.page));
}

Result<int> Forget(const OptimizeArguments& arguments, const Command&) {
  if (arguments.program.empty())
    return WrongUse(
        "name the program: jprof optimize forget NAME; `jprof optimize status` "
        "lists them");
  std::error_code ignored;
  int forgotten = 0;
  if (fs::exists(DatabasePath(arguments), ignored)) {
    auto store = cpo::Store::Open(DatabasePath(arguments));
    if (!store) return std::unexpected(store.error());
    const auto done = store->Forget(arguments.program);
    if (!done) return std::unexpected(done.error());
    forgotten = *done;
  }
  if (forgotten == 0) return NothingKnown(arguments.program);
  return 0;
}

Result<int> ShowNextRun(const OptimizeArguments& arguments, const Command& command) {
  if (!arguments.dry_run)
    return WrongUse(
        "apply needs --dry-run, which shows the next run; to run: jprof optimize -- "
        "CMD");
  if (command.empty()) return WrongUse("give a command: jprof optimize apply --dry-run -- CMD");
  const auto program = ProgramOf(command);
  if (!program) return std::unexpected(program.error());
  const auto agents = AgentsFor(*program, arguments.agent);
  if (!agents) return std::unexpected(agents.error());
  const cpo::ProgramKey key = cpo::KeyOfProgram(*program);
  cpo::History history = {.key = key};
  auto store = cpo::Store::OpenToRead(DatabasePath(arguments));
  if (!store) return std::unexpected(store.error());
  if (*store) {
    auto loaded = (*store)->Load(key, record::ThisMachine());
    if (!loaded) return std::unexpected(loaded.error());
    history = *std::move(loaded);
  }
  const auto planned = cpo::PlanNextRun(history, RequestOf(arguments, *program, *agents));
  if (!planned) return std::unexpected(planned.error());
  PrintPlannedRun(key.name, *planned);
  return 0;
}

struct OptimizeAction {
  std::string_view name;
  Result<int> (*run)(const OptimizeArguments&, const Command&);
};

constexpr OptimizeAction kOptimizeActions[] = {{"status", ShowHistories},
                                               {"explain", ShowHistories},
                                               {"view", ViewHistories},
                                               {"forget", Forget},
                                               {"apply", ShowNextRun}};

Result<int> Optimize(const OptimizeArguments& arguments, const Command& command) {
  if (arguments.action != "view" && (!arguments.page.out.empty() || arguments.page.no_open))
    return WrongUse("-o and --no-open belong to `jprof optimize view`");
  if (arguments.action.empty()) {
    if (arguments.dry_run) return WrongUse("--dry-run belongs to `jprof optimize apply`");
    return RunAndLearn(arguments, command);
  }
  if (arguments.action != "apply" && arguments.line->IsGiven("--runs"))
    return WrongUse("--runs belongs to `jprof optimize -- CMD`");
  std::vector<std::string_view> names;
  for (const OptimizeAction& one : kOptimizeActions) names.push_back(one.name);
  const auto chosen = Choose("ACTION", arguments.action, names);
  if (!chosen) {
    return WrongUse("{}; a program goes behind --: jprof optimize -- {} ...",
                    chosen.error().message, arguments.action);
  }
  return kOptimizeActions[*chosen].run(arguments, command);
}

std::string OptimizeFooter() {
  return R"(The first run of a program on this machine is measured, and agents propose directives with
predicted benefits. Later runs apply them or leave them out, and are compared: a directive whose
benefit is proved is validated, and applied from then on; another one is withdrawn. Each run prints
on standard error what it did. The exit status is that of the program (docs/OPTIMISE.md).

  status [NAME]            the programs that are known, and the agents
  explain [NAME]           their directives: predicted, observed, and why they are in their state
  view [NAME]              the same as a page: predicted against observed benefits, and the runs
  forget NAME              forgets a program, on all machines
  apply --dry-run -- CMD   shows what the next run would do

Agents:
)" + AgentsText() +
         R"(
Examples:
  jprof optimize -- ./app                       the next run of a program
  jprof optimize --runs 6 -- ./app              six runs, each with the same input
  jprof optimize --agent jvm-heap --runs 6 -- java -jar app.jar
                                                collector and heap of a JVM, measured and tried
  jprof optimize status                         what is known
  jprof optimize explain app                    what was predicted and observed, and why
  jprof optimize view app -o app.html           the same as a page, with plots
  jprof optimize apply --dry-run -- ./app       what the next run would do
  jprof optimize forget app                     learn anew)";
}

}  // namespace

Action OptimizeCommand(CommandLine line, const Command& command) {
  auto arguments = std::make_shared<OptimizeArguments>();
  OptimizeArguments& a = *arguments;
  a.line.emplace(line);
  line.Footer(OptimizeFooter());
  line.Option("ACTION", a.action, "status|explain|view|forget|apply",
              "What to do instead of running a program (below)");
  line.Option("NAME", a.program, "NAME", "A program that `jprof optimize status` lists");
  line.Option("--agent", a.agent, "NAME", "Consider only this agent (below)");
  line.Option("--runs", a.runs, "N", "Run the program N times (default 1)")
      .Between(uint64_t{1}, uint64_t{1000});
  line.Flag("--measure", a.measure, "Measure again, also if the program is known");
  line.Flag("--dry-run", a.dry_run, "With apply: run nothing");
  line.Option(
      "--database", a.database, "FILE",
      "Where the results are kept (default: jprof/optimize.db in the user's data directory)");
  line.Option("--format", a.format, "text|json", "With status and explain: text (default) or json");
  AddPageOptions(line, a.page, "view");
  return [arguments, &command] { return Optimize(*arguments, command); };
}

}  // namespace jprof::cli
