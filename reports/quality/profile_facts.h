// Finds the facts of one profile of calls or samples.
#pragma once

#include "model/tree/forest.h"
#include "model/tree/source.h"
#include "reports/quality/fact_row.h"

namespace jprof::reports {

// Refers to what is known of a profile. A run of a combined profile, and a trace, have no forest.
struct ProfileEvidence {
  const model::Source& source;
  std::span<const model::MetricTotals> metrics;
  const model::Names* names = nullptr;
  const model::Forest* forest = nullptr;

  const profile::Reader& reader() const { return source.reader; }
};
using ProfileFacts = std::span<const FactRow<ProfileEvidence>>;

ProfileFacts RunFacts();     // the run, and whether the profile is whole
ProfileFacts MetricFacts();  // calibration and its errors
ProfileFacts StackFacts();   // sampled stacks

// Returns a fact for each loss (profile/read/losses.h) that happened.
std::vector<Fact> LossFacts(const ProfileEvidence& evidence);

// Returns the sums of the threads' records that are about samples.
profile::ThreadRecord SumOfSamples(const profile::Reader& reader);

// Returns the facts of all tables above.
Quality QualityOfProfile(const ProfileEvidence& evidence);

// Returns the facts of one of several runs but statements, which are about all runs together.
Quality QualityOfRun(const model::Source& source);

}  // namespace jprof::reports
