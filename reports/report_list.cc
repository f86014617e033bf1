#include "reports/report_list.h"

#include <algorithm>
#include <ranges>

#include "model/itrace/memory_use.h"
#include "reports/combined/combined_report.h"
#include "reports/events/event_columns.h"
#include "reports/events/timeline.h"
#include "reports/itrace/arc.h"
#include "reports/itrace/arc_columns.h"
#include "reports/itrace/memory.h"
#include "reports/locks/log_jlm.h"
#include "reports/object_columns.h"
#include "reports/ticks/tprof.h"
#include "reports/tree/header.h"
#include "reports/view/views.h"

namespace jprof::reports {
namespace {

constexpr std::string_view kNameMeaning =
    "`J:pkg.Class.method(Type)` (`--names`), where J is the letter of the frame's kind; `+3` "
    "before it: three callers, each with this single callee, are not printed; `(5 more rows)`: "
    "what `--all` shows";

constexpr std::string_view kSpreadMeaning =
    "of a merged profile: the least value of the first metric, as measured (without a metric: of "
    "CALLS), in any merged profile; one without the context counts as 0"
    "; `-`: the row is of several contexts";

constexpr ColumnHelp kLogRtColumns[] = {
    {"LV", "level: 0 the thread, 1 its first method"},
    {"CALLS", "entries of this method in this calling context"},
    {"CEE", "without a metric: calls it made, the sum of its children's CALLS"},
    {"RAW", "with `--raw`: the exclusive value as measured"},
    {"ADJUST", "with `--raw`: the profiler's overhead in it, which is subtracted"},
    {"SELF",
     "the exclusive value of the metric: this node alone, without callees, corrected (`base` of "
     "CSV and JSON); `<X`: its 95 % interval, which ends at X, is wider than the value; further "
     "metrics are SELF-1, ..."},
    {"SAMPLES", "in place of SELF where the metric is sampled: not calibrated"},
    {"ERROR", "with `--raw`: about one standard deviation of SELF"},
    {"AB",
     "of a profile of `jprof objects`, in place of SELF: bytes of the objects that the method "
     "allocates itself in this context, the sum of the rows of classes (`--`) right below it"},
    {"AO", "the same: the number of these objects"},
    {"LB", "the same with `--live`: bytes of those objects that still exist"},
    {"LO", "the same with `--live`: the number of those objects that still exist"},
    {"ASKED", "the same with `--removed`: how many the bytecode has asked for, allocated or not"},
    {"CUM", "the inclusive value: SELF with everything below"},
    {"%", "CUM of the first metric in percent of the whole"},
    {"RUNS", "of a merged profile: how many of the merged profiles have this context"},
    {"MIN", kSpreadMeaning},
    {"MEDIAN", "the same: the median of all merged profiles; of an even number the lower of two"},
    {"MAX", "the same: the largest value"},
    {"CUM/CALL", "CUM of the first metric divided by CALLS"},
    {"P-SAMPLES",
     "of the counted run of a combined profile: samples in this context alone, in all sampled "
     "runs"},
    {"P-SELF", "the same: mean production time of a run in this context alone (`report combined`)"},
    {"P-CUM", "the same: mean production time of a run in it with all that it called"},
    {"+-", "half of the 95 % interval of P-CUM"},
    {"P-CUM/CALL", "P-CUM of one call; `rX`: of one entry, as recursion was folded"},
    {"DS",
     "dispatches: how often the thread was scheduled in while this was the current method; left "
     "out if there are none"},
    {"IN", "interrupts that came while this was the current method; only with `jprof timeline`"},
    {"NAME", kNameMeaning},
};

constexpr ColumnHelp kMethodsColumns[] = {
    {"SELF%", "SELF in percent of the whole (without a metric: CALLS)"},
    {"CUM%", "CUM in percent of the whole"},
    {"CALLS", "entries of the method"},
    {"CTX", "the number of its calling contexts"},
    {"RAW", "with `--raw`: the exclusive value as measured"},
    {"ADJUST", "with `--raw`: the profiler's overhead in it, which is subtracted"},
    {"SELF",
     "the exclusive value of the metric (`base` of CSV and JSON); further metrics are SELF-1, ..."},
    {"SAMPLES", "in place of SELF where the metric is sampled: not calibrated"},
    {"ERROR", "with `--raw`: about one standard deviation of SELF"},
    {"CUM", "SELF with all callees, where a method below itself is not counted again"},
    {"SELF/CALL", "SELF of the first metric divided by CALLS"},
    {"NAME", "the method; behind `<` its main caller, and that caller's share of SELF"},
};

constexpr ColumnHelp kScsColumns[] = {
    {"LV", "level: 0 the thread, 1 its first method"},
    {"SAMPLES",
     "taken in this node alone (exclusive); with "
     "several events one column for each, with its name"},
    {"CUM", "SAMPLES with everything below (inclusive)"},
    {"%", "CUM of the first event in percent of the whole"},
    {"RUNS", "of a merged profile: how many of the merged profiles have this context"},
    {"MIN", kSpreadMeaning},
    {"MEDIAN", "the same: the median of all merged profiles; of an even number the lower of two"},
    {"MAX", "the same: the largest value"},
    {"CALLS", "entries, which are exact: only in a profile by `calltree --sample`"},
    {"NAME", "the frame, behind the letter of its kind"},
};

constexpr ColumnHelp kLogGenColumns[] = {
    {"tid", "the thread's id"},
    {"thread", "the thread's name"},
    {"event", "`entry` or `exit`"},
    {"type", "the method's letter"},
    {"delta", "the change of the first metric since the thread's previous event"},
    {"missing_before", "events that were dropped or overwritten before this one"},
    {"name", "the method"},
};

constexpr ColumnHelp kLogJlmColumns[] = {
    {"%MISS", "100 SLOW / NONREC: how often a thread had to wait for it"},
    {"GETS", "times that a lock of this class was taken: NONREC + REC"},
    {"NONREC", "times that the thread did not have it already"},
    {"SLOW", "times that a thread had to wait, because another one had it"},
    {"REC", "times that the thread had it already"},
    {"TIER2", "spins of the middle level: `-`, HotSpot does not tell"},
    {"TIER3", "spins of the outer level: `-`, HotSpot does not tell"},
    {"%UTIL",
     "HOLD in percent of the recorded time; above 100 where several objects of the class are held "
     "at once; `-`: recorded with --lite, or the recording has not ended"},
    {"AVER_HTM", "mean time from taking to releasing it; `-`: recorded with --lite"},
    {"WAIT", "time that threads waited for it"},
    {"NAME",
     "the class of the lock; with `--contexts` below it `in`: where it is taken, `waits in ... "
     "for`: who waits, and where the owner had taken it"},
};

constexpr ColumnHelp kCombinedColumns[] = {
    {"LV", "level: 0 all threads, 1 their first methods"},
    {"CALLS", "calls in the counted run: exact; `-`: not a Java method, cannot be counted"},
    {"SAMPLES", "taken in this context alone, in all sampled runs together"},
    {"SELF",
     "mean time of a run in this context alone, from the samples; `~X`: fewer than 10 samples, an "
     "estimate from the calls"},
    {"CUM", "mean time of a run in it with all that it called"},
    {"+-",
     "half of the 95 % interval: first of CUM, then of CUM/CALL; empty behind `<X`, behind `~X` "
     "the "
     "upper end of the interval, `<Y`"},
    {"%", "CUM in percent of all samples"},
    {"CUM/CALL",
     "what one call takes with all that it called; of a recursion CUM is divided by the outermost "
     "calls; `rX`: per entry, as the counted run folded recursion and did not tell them apart"},
    {"NAME", kNameMeaning},
};

constexpr std::string_view kTreeOptions =
    "--format --threads --sort --all --min-percent --depth --names --legend --width --no-pager "
    "--metric --cumulative --raw --static-letters --table --uncalibrated --force --refit";
constexpr std::string_view kTreeStacks =
    "--format --threads --sort --min-percent --depth "
    "--metric --table --uncalibrated --force --refit";

using enum model::InputKind;
constexpr model::InputKind kProfiles[] = {kProfile}, kCombinedProfiles[] = {kCombined},
                           kRecordings[] = {kTicks}, kTraces[] = {kTrace},
                           kEventKinds[] = {kEvents, kProfile},
                           kEveryKind[] = {kProfile, kCombined, kTicks, kTrace, kEvents};

// Adapts the function of a report to the kind of input that it prints.
template <typename T, auto kPrint>
Result<void> Of(model::Input& input, const Options& options, Output& out) {
  return kPrint(std::get<T>(input), options, out);
}

// Also remarks what a head would report as lost.
template <auto kPrint>
Result<void> OfProfile(model::Input& input, const Options& options, Output& out) {
  auto& source = std::get<model::Source>(input);
  auto printed = kPrint(source, options, out);
  if (printed) RemarkLosses(source, options.format, out);
  return printed;
}

template <typename T>
Result<void> PageOf(model::Input& input, Output& out) {
  const Result<ViewData> data = ViewOf(std::get<T>(input));
  if (!data) return std::unexpected(data.error());
  return data->Print(out);
}

Result<void> OfCombined(model::Input& input, const Options& options, Output& out) {
  return PrintCombined(std::get<model::Combined>(input), options, out);
}

Result<void> PrintTicks(model::Recording& recording, const Options& options, Output& out) {
  return PrintTprof(recording,
                    {.format = options.format,
                     .clip = options.all ? std::optional(0.0) : options.min_percent,
                     .names = options.names,
                     .width = options.width},
                    out);
}

template <auto kPrint>
Result<void> OfEvents(model::Input& input, const Options& options, Output& out) {
  auto events = model::LoadEvents(input);
  if (!events) return std::unexpected(events.error());
  return kPrint(*events, options, out);
}

constexpr Report kReports[] = {
    {"log-rt", "the call tree: every method in every calling context", kTreeOptions, kTreeStacks,
     kTreeFormats, kLogRtColumns, kProfiles, OfProfile<PrintLogRt>, PageOf<model::Source>},
    {"methods", "the tree summed by method, hottest first",
     "--format --threads --all --min-percent --names --legend --width --no-pager --metric --raw "
     "--static-letters --table --uncalibrated --force --refit",
     "", kTableFormats, kMethodsColumns, kProfiles, OfProfile<PrintMethods>},
    {"scs", "the call tree of a sampled profile: samples in every calling context",
     "--format --threads --sort --all --min-percent --depth --names --legend --width --no-pager "
     "--metric --cumulative --static-letters",
     "--format --threads --sort --min-percent --depth --metric", kTreeFormats, kScsColumns,
     kProfiles, OfProfile<PrintScs>},
    {"objects", "the allocated objects of a profile of jprof objects, summed by class",
     "--format --threads --all --min-percent --names --legend --width --no-pager --metric", "",
     kTableFormats, kObjectsColumns, kProfiles, OfProfile<PrintObjects>},
    {"growth",
     "how the live objects of each context grow, in a profile of jprof objects --snapshots",
     "--format --all --names --legend --width --no-pager", "", kTableFormats, kGrowthColumns,
     kProfiles, OfProfile<PrintGrowth>},
    {"removed", "what code asks for and compilers remove, of jprof objects --removed",
     "--format --threads --all --min-percent --names --legend --width --no-pager", "",
     kTableFormats, kRemovedColumns, kProfiles, OfProfile<PrintRemoved>},
    {"log-gen", "the trace: entries and exits in order",
     "--format --names --no-pager --static-letters --table --uncalibrated --force --refit", "",
     kCommonFormats, kLogGenColumns, kProfiles, OfProfile<PrintLogGen>},
    {"log-jlm", "the locks: how often each was taken, waited for and held, by whom",
     "--format --contexts --all --names --legend --width --no-pager", "", kTableFormats,
     kLogJlmColumns, kProfiles, OfProfile<PrintLogJlm>},
    {"combined", "a combined profile: exact calls and true times in every calling context",
     "--format --sort --all --min-percent --depth --names --legend --width --no-pager --table "
     "--uncalibrated --force",
     "--format --sort --min-percent --depth", kTreeFormats, kCombinedColumns, kCombinedProfiles,
     OfCombined, PageOf<model::Combined>},
    {"arc", "a trace of jprof itrace: functions and calls, with exact numbers of instructions",
     "--format --all --min-percent --top --function --tid --listing --names --legend --width "
     "--no-pager",
     "--format --threads --tid", kTreeFormats, kArcColumns, kTraces,
     Of<model::ArcRecording, PrintArc>, PageOf<model::ArcRecording>, kArcCallColumns},
    {"memory",
     "references to memory of jprof itrace --memory: by function, by site, and misses by size",
     "--format --by --all --min-percent --top --function --tid --names --legend --width --no-pager",
     "", kTableFormats, kMemoryColumns, kTraces, Of<model::ArcRecording, PrintMemory>},
    {"tprof",
     "a recording of jprof tprof: processes, threads, modules, symbols",
     "--format --all --min-percent --names --width --no-pager",
     "--format",
     kStackFormats,
     {},
     kRecordings,
     Of<model::Recording, PrintTicks>,
     PageOf<model::Recording>},
    {"timeline", "when threads ran and what they waited for, of jprof timeline",
     "--format --all --names --legend --width --no-pager", "", kTableFormats, kTimelineColumns,
     kEventKinds, OfEvents<PrintTimeline>, PageOf<model::EventRecording>},
    {"critical-path", "what delayed the end of a program that jprof timeline has recorded",
     "--format --all --names --legend --width --no-pager --from --to", "", kTableFormats,
     kPathColumns, kEventKinds, OfEvents<PrintCriticalPath>},
    {"utilisation", "how busy each processor was, in equal intervals",
     "--format --legend --width --no-pager", "", kTableFormats, kUtilisationColumns, kEventKinds,
     OfEvents<PrintUtilisation>},
    {"html",
     "all of it as one HTML file, also of a recording (docs/VIEW.md)",
     "--out --table --uncalibrated --force",
     "",
     {},
     {},
     kEveryKind,
     nullptr},
};

const Report& Named(std::string_view name) {
  return *std::ranges::find(kReports, name, &Report::name);
}

// Returns the options with the defaults of text and Markdown: the largest siblings first, and the
// legend if it is requested.
Options Adapted(const Report& report, Options options) {
  if (!options.for_people()) return options;
  if (!options.sort && report.Prints(model::InputKind::kProfile)) {
    options.sort = model::Sort::kBase;
    options.cumulative = true;
  }
  if (options.legends) options.legend = report.columns;
  return options;
}

bool Contains(std::string_view words, std::string_view word) {
  for (const auto part : std::views::split(words, ' ')) {
    if (std::string_view(part.begin(), part.end()) == word) return true;
  }
  return false;
}

}  // namespace

bool Report::HasOption(std::string_view option, Format format) const {
  const bool stacks = format == Format::kCollapsed && !collapsed_options.empty();
  return Contains(stacks ? collapsed_options : options, option);
}

bool Report::Prints(model::InputKind kind) const {
  return std::ranges::find(kinds, kind) != kinds.end();
}

std::span<const Report> Reports() { return kReports; }

const Report& DefaultReport(model::InputKind kind) {
  return *std::ranges::find_if(kReports, [kind](const Report& one) { return one.Prints(kind); });
}

const Report& DefaultReport(const model::Input& input) {
  const auto* source = std::get_if<model::Source>(&input);
  if (source != nullptr && source->reader.meta().is(Mode::kScs)) return Named("scs");
  if (source != nullptr && source->reader.meta().is(Mode::kLocks)) return Named("log-jlm");
  if (source != nullptr && source->reader.meta().is(Mode::kObjects)) return Named("objects");
  const auto* trace = std::get_if<model::ArcRecording>(&input);
  if (trace != nullptr && trace->branches.records() == 0 && model::HasReferences(*trace))
    return Named("memory");
  return DefaultReport(model::KindOf(input));
}

Result<void> PrintReport(const Report& report, model::Input& input, const Options& options,
                         Output& out) {
  if (auto offered = CheckOffered(report.name, report.formats, options.format); !offered)
    return offered;
  return report.print(input, Adapted(report, options), out);
}

Result<void> PrintView(model::Input& input, Output& out) {
  return DefaultReport(model::KindOf(input)).page(input, out);
}

}  // namespace jprof::reports
