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
#include "reports/lines/lines_report.h"
#include "reports/locks/log_jlm.h"
#include "reports/object_columns.h"
#include "reports/report_columns.h"
#include "reports/scale/scale_columns.h"
#include "reports/scale/scale_report.h"
#include "reports/ticks/tprof.h"
#include "reports/tree/header.h"
#include "reports/view/views.h"

namespace jprof::reports {
namespace {

constexpr std::string_view kTreeOptions =
    "--format --threads --sort --all --min-percent --depth --names --legend --width --no-pager "
    "--metric --cumulative --raw --static-letters --call-sites --window --table --uncalibrated "
    "--force --refit";
constexpr std::string_view kTreeStacks =
    "--format --threads --sort --min-percent --depth --metric --window --table --uncalibrated "
    "--force --refit";

using enum model::InputKind;
constexpr model::InputKind kProfiles[] = {kProfile}, kCombinedProfiles[] = {kCombined},
                           kBothProfiles[] = {kProfile, kCombined}, kRecordings[] = {kTicks},
                           kTraces[] = {kTrace}, kEventKinds[] = {kEvents, kProfile},
                           kScales[] = {kScale},
                           kEveryKind[] = {kProfile, kCombined, kTicks, kTrace, kEvents, kScale};

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
     "--static-letters --window --table --uncalibrated --force --refit",
     "", kTableFormats, kMethodsColumns, kProfiles, OfProfile<PrintMethods>},
    {"labels", "labels that the program has set: how often, and the calls of each method per set",
     "--format --threads --all --names --legend --width --no-pager --metric --static-letters "
     "--window --table --uncalibrated --force --refit",
     "", kTableFormats, kLabelsColumns, kProfiles, OfProfile<PrintLabels>},
    {"scs", "the call tree of a sampled profile: samples in every calling context",
     "--format --threads --sort --all --min-percent --depth --names --legend --width --no-pager "
     "--metric --cumulative --static-letters --call-sites --window",
     "--format --threads --sort --min-percent --depth --metric --window", kTreeFormats, kScsColumns,
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
    {"distribution", "how long each call took, of methods that callflow --distribution selected",
     "--format --threads --contexts --all --names --legend --width --no-pager --table "
     "--uncalibrated --force",
     "", kTableFormats, kDistributionColumns, kProfiles, OfProfile<PrintDistribution>},
    {"series", "the methods over time, of a profile recorded with --series",
     "--format --all --names --legend --width --no-pager --metric --window --table --uncalibrated "
     "--force",
     "", kTableFormats, kSeriesColumns, kProfiles, OfProfile<PrintSeries>},
    {"log-gen", "the trace: entries and exits in order",
     "--format --names --no-pager --static-letters --table --uncalibrated --force --refit", "",
     kCommonFormats, kLogGenColumns, kProfiles, OfProfile<PrintLogGen>},
    {"slow", "the slow calls of jprof trace --slow, each with its own calls",
     "--format --all --min-percent --depth --names --legend --width --no-pager --static-letters",
     "", kTableFormats, kSlowColumns, kProfiles, OfProfile<PrintSlow>},
    {"log-jlm", "the locks: how often each was taken, waited for and held, by whom",
     "--format --contexts --all --names --legend --width --no-pager", "", kTableFormats,
     kLogJlmColumns, kProfiles, OfProfile<PrintLogJlm>},
    {"combined", "a combined profile: exact calls and true times in every calling context",
     "--format --sort --all --min-percent --depth --names --legend --width --no-pager --table "
     "--uncalibrated --force",
     "--format --sort --min-percent --depth", kTreeFormats, kCombinedColumns, kCombinedProfiles,
     OfCombined, PageOf<model::Combined>},
    {"lines",
     "source lines of a method, or of the hottest: samples, and calls made there",
     "--format --all --min-percent --names --legend --width --no-pager --metric --source-path "
     "--window --table --uncalibrated --force",
     "",
     kTableFormats,
     kLinesColumns,
     kBothProfiles,
     PrintLines,
     nullptr,
     {},
     true},
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
    {"scale", "how calls and times grow with the size of the input, of jprof scale",
     "--format --all --names --legend --width --no-pager", "", kTableFormats, kScaleColumns,
     kScales, Of<model::Scale, PrintScale>, PageOf<model::Scale>},
    {"html",
     "all of it as one HTML file, also of a recording (docs/VIEW.md)",
     "--out --window --table --uncalibrated --force",
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
