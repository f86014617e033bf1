// `jprof itrace`: traces the instructions of threads.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>

#include "cli/shared/commands.h"
#include "cli/shared/process_id.h"
#include "cli/shared/usage_error.h"
#include "common/procfs.h"
#include "options/option_table.h"
#include "record/itrace/itrace_record.h"
#include "record/place/recording_summary.h"
#include "record/run/status_line.h"

namespace jprof::cli {
namespace {

// Prints a line that shows on a terminal that work is going on.
class Progress {
 public:
  void operator()(uint64_t instructions, bool began) {
    if (++ticks_ % kEvery != 0) return;
    line_.Show(began ? fmt::format("jprof: {:.1f} million instructions", double(instructions) / 1e6)
                     : "jprof: waiting for the begin; Ctrl-C ends this");
  }
  void End() { line_.End(); }

 private:
  static constexpr int kEvery = 50;  // ticks, which take a second
  int ticks_ = 0;
  record::StatusLine line_;
};

void PrintThread(const itrace::ThreadTotals& thread) {
  fmt::print(stderr, "jprof: thread {}: {} instructions", thread.tid, thread.instructions);
  if (thread.repeats != 0) fmt::print(stderr, ", {} iterations of rep", thread.repeats);
  fmt::print(stderr, ", {} system calls", thread.system_calls);
  if (thread.signals != 0) fmt::print(stderr, ", {} signals", thread.signals);
  if (thread.records != 0) fmt::print(stderr, ", {} records", thread.records);
  if (thread.references != 0) fmt::print(stderr, ", {} references to memory", thread.references);
  fmt::print(stderr, "\n");
}

void PrintSummary(const record::ItracePlan& plan, const record::ItraceSummary& summary) {
  uint64_t instructions = 0, stepped = 0, changed = 0, unseen = 0, calls = 0;
  double seconds = 0;
  for (const itrace::ThreadTotals& thread : summary.threads) {
    PrintThread(thread);
    instructions += thread.instructions;
    stepped += thread.stepped;
    calls += thread.system_calls;
    changed += thread.changed;
    unseen += thread.unseen;
    seconds = std::max(seconds, static_cast<double>(thread.traced_ns) / 1e9);
  }
  for (const std::string& note : summary.notes) PrintError(note);
  const double rate = seconds > 0 ? static_cast<double>(instructions) / seconds / 1e6 : 0;
  fmt::print(stderr, "jprof: {} instructions in {:.3f} s ({:.1f} million/s), engine {}\n",
             instructions, seconds, rate, summary.engine);
  if (stepped > calls) {
    fmt::print(stderr, "jprof: {} instructions could not be translated and were stepped\n",
               stepped - calls);
  }
  if (unseen != 0) {
    fmt::print(stderr,
               "jprof: {} executions of gathers, scatters and the like: what they access is not "
               "recorded\n",
               unseen);
  }
  if (changed != 0) fmt::print(stderr, "jprof: code had changed {} times\n", changed);
  if (!plan.options.writes()) return;
  const std::string place = record::DisplayPath(plan.out);
  fmt::print(stderr, "jprof: trace:   {}\n", place);
  PrintNext((plan.options.records ? "jprof report " : "jprof report memory ") + place);
}

Result<int> Itrace(const record::ItraceRequest& request, const Command& command) {
  const auto plan = record::PlanItrace(request, command);
  if (!plan) return std::unexpected(plan.error());
  Progress progress;
  const auto summary =
      record::RecordItrace(*plan, [&progress](uint64_t n, bool began) { progress(n, began); });
  progress.End();
  if (!summary) return std::unexpected(summary.error());
  if (!summary->began) {
    for (const std::string& note : summary->notes) PrintError(note);
    return 1;
  }
  PrintSummary(*plan, *summary);
  return summary->exit_code;
}

}  // namespace

Action ItraceCommand(CommandLine line, const Command& command) {
  auto request = std::make_shared<record::ItraceRequest>();
  record::ItraceRequest& r = *request;
  line.Footer(
      "Examples:\n"
      "  jprof itrace -- ./app                          "
      "the main thread, from its first instruction\n"
      "  jprof itrace --function work -- ./app          one call of a function\n"
      "  jprof itrace --function work --calls 10 -- ./app   ten calls\n"
      "  jprof itrace --from parse --to done -p 1234    between two functions, of a process\n"
      "  jprof itrace --function com.acme.Foo.bar -- java -jar app.jar   a compiled Java method\n"
      "  jprof itrace -p 1234 --duration 1              one second of its main thread\n"
      "  jprof itrace --threads all --no-records -- ./app   only count, every thread");
  line.Option("-p,--pid", r.pid, "PID", "Trace this process");
  line.Option("--tid", r.tid, "TID", "Only this thread of the process");
  line.Option("--threads", r.threads, "all",
              "all: every thread (default: the one in which tracing begins)")
      .OneOf({"all"});
  line.Flag("--no-records", r.no_records, "Record no branches, only count: faster");
  line.Flag("--memory", r.memory,
            "Record the address of each load and store, for jprof report memory");
  line.Flag("--sites", r.sites,
            "With --memory: also log where the memory was allocated. The library that is preloaded "
            "for that is in the trace: about 35,000 references of its own, and 4,000 at each "
            "allocation of at least 128 KiB");
  line.Option("-o,--output", r.out, "DIR", "The trace's directory (NAME.itrace)");
  line.Group("Where it begins and ends");
  line.Option("--function", r.function, "NAME",
              "From the entry of this function to its return: a symbol of the program or of a "
              "library, a Java method pkg.Class.name, or an address");
  line.Option("--calls", r.calls, "N", "How many calls of the function; 0: all (default 1)");
  line.Option("--from", r.from, "NAME", "Begin at this function");
  line.Option("--to", r.to, "NAME", "End at this function (with --from)");
  line.Option("--instructions", r.instructions, "N", "End exactly after so many instructions")
      .Positive();
  line.Option("--duration", r.duration, "", "End after so many seconds").Positive();
  line.Group(options::kRarelyNeeded);
  line.Flag("--not-taken", r.not_taken, "Also record conditional branches that are not taken");
  line.Option("--engine", r.engine, "auto|block|step",
              "auto (default), block: translated code, step: a stop at each instruction")
      .OneOf({"auto", "block", "step"});
  line.Flag("--no-pin", r.no_pin, "Do not bind the thread to one processor meanwhile");
  line.Option("--agent", r.agent, "LIB",
              "The agent library (default: JPROF_AGENT, or libjprof.so of this installation)");
  return [request, &command] { return Itrace(*request, command); };
}

}  // namespace jprof::cli
