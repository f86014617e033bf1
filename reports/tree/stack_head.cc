#include "reports/tree/stack_head.h"

#include "profile/read/losses.h"
#include "reports/quality/profile_facts.h"
#include "reports/tree/header.h"

namespace jprof::reports {
namespace {

double SamplingNanos(const profile::Reader& reader, const profile::ThreadRecord& sum) {
  return SecondsBetween(reader.header(), 0, sum.sampling_ticks) * 1e9;
}

}  // namespace

void JsonStacks(const model::Source& source, JsonWriter& json) {
  const profile::ThreadRecord sum = SumOfSamples(source.reader);
  json.Key("stacks");
  json.StartObject();
  json.Member("taken", sum.samples);
  json.Member("unknown", sum.samples_unknown);
  json.Member("truncated", sum.samples_truncated);
  json.Member("in_heap", source.reader.header().samples_in_heap);
  json.Member("own", sum.samples_own);
  json.Member("lost", sum.samples_lost);
  json.FixedMember("cost_ns", SamplingNanos(source.reader, sum), 0);
  if (const std::string& reason = source.reader.meta().options.timer_reason; !reason.empty())
    json.Member("timer_reason", reason);
  if (const auto coverage = profile::CoverageOf(source.reader.header())) {
    json.FixedMember("cpu_s", coverage->cpu_seconds, 6);
    json.FixedMember("covered_s", coverage->covered_seconds, 6);
  }
  json.EndObject();
}

}  // namespace jprof::reports
