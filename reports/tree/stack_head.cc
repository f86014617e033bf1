#include "reports/tree/stack_head.h"

#include "model/values/amount.h"
#include "model/values/statistics.h"
#include "profile/files/printable_text.h"
#include "profile/read/losses.h"
#include "reports/tree/header.h"

namespace jprof::reports {
namespace {

profile::ThreadRecord SumOfSamples(const profile::Reader& reader) {
  profile::ThreadRecord sum;
  for (const profile::Thread& thread : reader.threads()) {
    sum.samples += thread.record.samples;
    sum.samples_unknown += thread.record.samples_unknown;
    sum.samples_truncated += thread.record.samples_truncated;
    sum.samples_own += thread.record.samples_own;
    sum.samples_lost += thread.record.samples_lost;
    sum.sampling_ticks += thread.record.sampling_ticks;
  }
  return sum;
}

double SamplingNanos(const profile::Reader& reader, const profile::ThreadRecord& sum) {
  return SecondsBetween(reader.header(), 0, sum.sampling_ticks) * 1e9;
}

}  // namespace

void PrintStacks(const model::Source& source, Output& out) {
  if (const std::string& reason = source.reader.meta().options.timer_reason; !reason.empty())
    out.Print(" timer     POSIX timers of the threads, not perf events: {}\n",
              profile::CleanText(reason));
  if (const auto coverage = profile::CoverageOf(source.reader.header())) {
    out.Print(" covered   {:.1f} % of the {:.3f} s of CPU time of the sampled threads\n",
              coverage->Percent(), coverage->cpu_seconds);
  }
  const profile::ThreadRecord sum = SumOfSamples(source.reader);
  if (sum.samples + sum.samples_own + sum.samples_lost == 0) return;
  out.Print(
      " stacks    {} taken: {} with unknown frames ({:.2f} %), {} cut at the depth limit ({:.2f} "
      "%); "
      "{} in the profiler itself dropped, {} lost\n",
      sum.samples, sum.samples_unknown, model::PercentOf(sum.samples_unknown, sum.samples),
      sum.samples_truncated, model::PercentOf(sum.samples_truncated, sum.samples), sum.samples_own,
      sum.samples_lost);
  if (const uint64_t in_heap = source.reader.header().samples_in_heap; in_heap != 0) {
    out.Print(
        "           {} of virtual threads end early ({:.2f} "
        "%): their outer frames were still in the heap\n",
        in_heap, model::PercentOf(in_heap, sum.samples));
  }
  const double cost = SamplingNanos(source.reader, sum);
  if (cost <= 0 || sum.samples == 0) return;
  out.Print("           taking them cost {}, {:.2f} us each\n", model::AmountIn("ns", cost),
            cost / static_cast<double>(sum.samples) / 1e3);
}

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
