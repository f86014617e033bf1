#include "reports/export/export_list.h"

#include <filesystem>

#include "profile/files/layout.h"
#include "reports/report_list.h"

namespace jprof::reports {
namespace {

// Adapts a writer of trees to the function of a format, which has source lines if `kLines`.
template <auto kWrite, bool kLines = false>
Result<void> TreeAs(ExportInput& input, Output& out) {
  const auto* const source = std::get_if<model::Source>(&input.input);
  model::ForestOptions options = input.options;
  options.call_sites = kLines && source != nullptr && source->reader.meta().options.sites;
  const Result<model::ContextTree> tree = model::LoadContexts(input.input, options);
  if (!tree) return std::unexpected(tree.error());
  if constexpr (requires { kWrite(*tree, out); }) {
    return kWrite(*tree, out);
  } else {
    return kWrite(*tree, input.name, out);
  }
}

// Adapts a writer of timelines.
template <auto kWrite>
Result<void> TimelineAs(ExportInput& input, Output& out) {
  const auto timeline = model::OpenTimeline(input.input);
  if (!timeline) return std::unexpected(timeline.error());
  return kWrite(**timeline, out);
}

Result<void> TreeAsSqlite(ExportInput& input, const std::string& path) {
  const Result<model::ContextTree> tree = model::LoadContexts(input.input, input.options);
  if (!tree) return std::unexpected(tree.error());
  return WriteSqlite(*tree, path);
}

// Copies the recorded traces, which are in this format already.
Result<void> WriteCtf(ExportInput& input, const std::string& path) {
  namespace fs = std::filesystem;
  if (!model::HasEvents(input.input)) {
    return WrongUse("{} has no events; record them with: jprof timeline -- CMD...", input.shown());
  }
  // The traces are copied as they are; loading them finds what is damaged.
  if (const auto events = model::LoadEvents(input.input); !events)
    return std::unexpected(events.error());
  std::error_code failed;
  fs::copy(fs::path(input.directory()) / profile::kEventsFolder, path, fs::copy_options::recursive,
           failed);
  return failed ? Fail("cannot write {}: {}", path, failed.message()) : Result<void>();
}

// Writes the lines of `jprof report --format collapsed`.
Result<void> WriteCollapsed(ExportInput& input, Output& out) {
  const Options options = {
      .format = Format::kCollapsed, .merged = input.options.merged, .metric = input.options.metric};
  return PrintReport(DefaultReport(input.input), input.input, options, out);
}

constexpr ExportFormat kExportFormats[] = {
    {"pprof", ".pb.gz", "gzip'ed protobuf of google/pprof, with all metrics",
     "go tool pprof -http=: FILE",
     "every context with all metrics (calls; `time_raw` and, calibrated, `time`; samples, and "
     "`cpu` "
     "of them), signed; source lines; threads as labels; modules with build ids; losses as "
     "comments",
     "errors and intervals; one period only", true, false, TreeAs<WritePprof, true>, nullptr},
    {"callgrind", ".callgrind", "for KCachegrind and callgrind_annotate",
     "callgrind_annotate --inclusive=yes FILE",
     "methods with exclusive and inclusive values of all metrics, who called whom how often, at "
     "which source lines",
     "contexts: only pairs of caller and callee; threads; values below 0 (they are 0)", false,
     false, TreeAs<WriteCallgrind, true>, nullptr},
    {"speedscope", ".speedscope.json", "flame graphs of speedscope.app, by thread and metric",
     "npx speedscope FILE", "every context; one profile for each thread and metric",
     "when something happened: widths are sums, in the order of first calls; values below 0; whole "
     "numbers above 2^53 in the viewer",
     false, false, TreeAs<WriteSpeedscope>, nullptr},
    {"collapsed", ".collapsed", "one line a stack, for flame-graph tools",
     "flamegraph.pl FILE >flame.svg",
     "every context with one metric (`--metric`), times in microseconds",
     "signatures (overloads are one frame), further metrics, values below 0", false, false,
     WriteCollapsed, nullptr},
    {"otlp", ".otlp.json", "the profiles signal of OpenTelemetry, as JSON",
     "curl --json @FILE http://localhost:4318/v1development/profiles",
     "what pprof holds; one profile for each metric",
     "errors and intervals; the signal is in development: this is version 1.11 of its protocol",
     false, false, TreeAs<WriteOtlp>, nullptr},
    {"sqlite", ".sqlite", "tables and views for queries in SQL",
     "sqlite3 FILE 'SELECT * FROM method_self'",
     "every context with all metrics, their errors and intervals; threads, methods, losses",
     "nothing of the tree", true, false, nullptr, TreeAsSqlite},
    {"perfetto", ".perfetto-trace", "a trace for ui.perfetto.dev, one track for each thread",
     "open https://ui.perfetto.dev and drop FILE on it",
     "every call of `jprof trace` and `jprof itrace` as a slice; missing events, system calls and "
     "signals as marks; of `itrace`, how many instructions each thread has executed; of "
     "`timeline`, when each thread ran, was ready and waited, and what each processor ran",
     "of `trace`, the order of events of different threads: times are CPU times of each thread",
     true, true, TimelineAs<WritePerfetto>, nullptr},
    {"chrome", ".trace.json", "the same as JSON of trace events, for chrome://tracing",
     "open chrome://tracing or https://ui.perfetto.dev and drop FILE on it",
     "the same as `perfetto`, in microseconds with three decimals", "the same; files are larger",
     false, true, TimelineAs<WriteChrome>, nullptr},
    {"lackey", ".lackey", "references to memory of itrace, one a line, for cache simulators",
     "FILE has the form of valgrind --tool=lackey --trace-mem=yes",
     "address, length and kind (load, store, both: L, S, M) of each reference of `jprof itrace "
     "--memory`",
     "the instructions: lackey's lines that begin with I; times; threads are interleaved", false,
     true, WriteReferences, nullptr},
    {"ctf", ".ctf", "a folder of traces in Common Trace Format, for babeltrace2 and Trace Compass",
     "babeltrace2 FILE", "every event of `jprof timeline`, of the kernel, the JVM and the program",
     "the names of calling contexts: they are numbers of nodes in the profile", true, true, nullptr,
     WriteCtf, true},
};

}  // namespace

std::span<const ExportFormat> ExportFormats() { return kExportFormats; }

Result<void> CheckExportable(const ExportFormat& format, const ExportInput& input) {
  const bool chooses = input.options.merged || !input.options.metric.empty();
  const bool has =
      format.of_timeline ? model::HasTimeline(input.input) : model::HasContexts(input.input);
  if (has && format.of_timeline && chooses) {
    return WrongUse(
        "{} shows {} as a timeline, which has each thread alone and no choice of metrics; leave "
        "out --metric and --threads",
        format.name, input.shown());
  }
  if (has) return {};
  if (!format.of_timeline) {
    const bool events = model::KindOf(input.input) == model::InputKind::kEvents;
    return WrongUse(
        "{} is {}, which has no call tree for {}; export it with --format perfetto{} chrome{}",
        input.shown(), events ? model::NameOf(model::InputKind::kEvents) : "a trace", format.name,
        events ? "," : " or", events ? " or ctf" : "");
  }
  return WrongUse(
      "{} holds sums by context and no points in time, which {} needs; export it with --format "
      "speedscope (flame graphs), or record a trace: jprof trace -- CMD... or jprof itrace -- "
      "CMD...",
      input.shown(), format.name);
}

}  // namespace jprof::reports
