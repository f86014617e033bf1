#include "reports/quality/quality_of.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "profile/files/printable_text.h"
#include "profile/read/combined.h"
#include "profile/read/reader_trace.h"
#include "reports/quality/profile_facts.h"

namespace jprof::reports {
namespace {

// Reads all events, as only that finds the damages of a trace.
Result<Quality> OfTrace(model::Source& source) {
  const auto read =
      profile::ReadTrace(source.reader, [](const profile::TraceEvent&) { return true; });
  if (!read) return std::unexpected(read.error());
  const model::Names names(source.reader);
  return QualityOf(source, model::FirstMetric(source), names);
}

Result<Quality> Load(model::Source& source) {
  if (source.reader.meta().is(Mode::kTrace)) return OfTrace(source);
  const auto forest = model::LoadForest(source, {});
  if (!forest) return std::unexpected(forest.error());
  Quality quality = QualityOf(source, *forest);
  if (model::HasKernelEvents(source.reader.directory()))
    AddEvents(model::LoadEvents(source), quality);
  return quality;
}

Result<Quality> Load(model::Combined& combined) {
  const auto view = model::LoadCombined(combined);
  if (!view) return std::unexpected(view.error());
  return QualityOf(combined, *view);
}

Result<Quality> Load(model::Recording& recording) {
  const model::TickTable table = model::NameTicks(recording);
  return QualityOf(recording, table);
}

Result<Quality> Load(model::ArcRecording& arcs) {
  const model::ArcTrace trace = model::WalkArcs(arcs);
  return QualityOf(arcs, trace);
}

Result<Quality> Load(model::EventRecording& recording) {
  const auto events = model::LoadEvents(recording);
  if (!events) return std::unexpected(events.error());
  return QualityOf(*events);
}

Result<Quality> Load(model::Scale& scale) { return QualityOf(scale); }

Fact Broken(std::string text) {
  return {.name = "damaged",
          .value = 1,
          .severity = Severity::kSevere,
          .text = profile::CleanText(text),
          .detail = {},
          .means = "There are no numbers of it. Other runs of the combined profile have their own.",
          .advice = "Record again; check that the disk has room."};
}

Result<Quality> OfRun(const std::string& directory, const model::TableChoice& choice) {
  auto source = model::OpenSource(directory, choice);
  return source ? Load(*source) : std::unexpected(source.error());
}

// Returns the facts of the single runs of a combined profile. Fails with `why` if no run can be
// read.
Result<Quality> OfRuns(const std::string& directory, const model::TableChoice& choice,
                       const Error& why) {
  const auto meta = profile::ReadCombined(directory);
  Quality quality;
  quality.Add({Broken("the runs cannot be combined: " + why.message)});
  bool has_read = false;
  for (const profile::Run& run : meta ? meta->runs : std::vector<profile::Run>()) {
    const auto one = OfRun((std::filesystem::path(directory) / run.profile).string(), choice);
    has_read |= one.has_value();
    quality.AddOf(run.profile, one ? *one : Quality{{Broken("damaged: " + one.error().message)}});
  }
  if (!has_read) return std::unexpected(why);
  return quality;
}

}  // namespace

Quality QualityOf(const model::Source& source, const model::Forest& forest) {
  return QualityOfProfile({source, forest.metrics, &forest.names, &forest});
}

Quality QualityOf(const model::Source& source, const model::TraceUnit& unit,
                  const model::Names& names) {
  const model::MetricTotals metric = {.info = unit.info, .calibrated = unit.table != nullptr};
  return QualityOfProfile({source, {&metric, 1}, &names});
}

Quality QualityOf(const model::Source& source, const model::Names& names) {
  return QualityOfProfile({source, {}, &names});
}

Result<Quality> LoadQuality(model::Input& input) {
  return std::visit([](auto& opened) { return Load(opened); }, input);
}

Result<Quality> LoadQuality(Result<model::Input>& input, const std::string& directory,
                            const model::TableChoice& choice) {
  auto quality = input ? LoadQuality(*input) : std::unexpected(input.error());
  if (quality || model::KindOf(directory) != model::InputKind::kCombined) return quality;
  return OfRuns(directory, choice, quality.error());
}

}  // namespace jprof::reports
