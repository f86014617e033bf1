// Finds how far the numbers of any input can be trusted.
#pragma once

#include "model/open/open.h"
#include "model/tree/trace_values.h"
#include "reports/quality/quality.h"

namespace jprof::reports {

// Each returns the facts of what was loaded. Facts about files that cannot be read are complete
// only if everything was read.
Quality QualityOf(const model::Source& source, const model::Forest& forest);
Quality QualityOf(const model::Source& source, const model::TraceUnit& unit,
                  const model::Names& names);
Quality QualityOf(const model::Source& source, const model::Names& names);
Quality QualityOf(const model::Combined& combined, const model::CombinedView& view);
Quality QualityOf(const model::Recording& recording, const model::TickTable& table);
Quality QualityOf(const model::ArcRecording& arcs, const model::ArcTrace& trace);
Quality QualityOf(const model::RecordedEvents& events);
Quality QualityOf(const model::Scale& scale);

// Adds the facts of the events that were recorded beside a profile, without those of the profile.
void AddEvents(const Result<model::RecordedEvents>& events, Quality& quality);

// Loads what was opened and returns its facts. Fails if it cannot be read.
Result<Quality> LoadQuality(model::Input& input);

// Does the same with the outcome of opening `directory`. Returns the facts of the single runs of a
// combined profile that cannot be read as a whole, and why; fails if no run can be read.
Result<Quality> LoadQuality(Result<model::Input>& input, const std::string& directory,
                            const model::TableChoice& choice);

// Returns "2 runs, 1000 stacks per second of CPU time, ...": a run, for the facts and the head.
std::string RunText(const model::RunSummary& summary);

}  // namespace jprof::reports
