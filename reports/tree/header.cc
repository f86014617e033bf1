#include "reports/tree/header.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/values/statistics.h"
#include "profile/files/printable_text.h"
#include "profile/read/losses.h"

namespace jprof::reports {
namespace {

std::string Command(const profile::Meta& meta) {
  std::string text;
  for (const std::string& word : meta.command) text += (text.empty() ? "" : " ") + word;
  constexpr size_t kShown = 200;
  return text.size() > kShown ? text.substr(0, kShown) + "..." : text;
}

// Converts ticks to seconds. Returns 0 if the profile does not have the tick rate.
double Seconds(const profile::ControlHeader& header, uint64_t from, uint64_t to) {
  if (header.ticks_per_second == 0 || to <= from) return 0;
  return static_cast<double>(to - from) / static_cast<double>(header.ticks_per_second);
}

// Describes the shares of intervals by how exact the key was that corrected them.
std::string Fallbacks(const model::MetricTotals& column) {
  using enum calibrate::Level;
  const auto share = [&](calibrate::Level level) {
    const double all = std::accumulate(column.events.begin(), column.events.end(), 0.0);
    return model::PercentOf(column.events[static_cast<size_t>(level)], all);
  };
  std::string text = fmt::format("{:.1f} % of intervals by their own key", share(kExact));
  const std::pair<calibrate::Level, const char*> others[] = {
      {kNonStatic, "as non-static"},
      {kAnyPrevious, "by any previous event"},
      {kPerEvent, "by the cheapest of that event"},
      {kNone, "unknown (nothing removed)"}};
  for (const auto& [level, says] : others) {
    if (share(level) > 0) text += fmt::format(", {:.2g} % {}", share(level), says);
  }
  return text;
}

// Returns the corrected total with its error or, as in rows, only its bound where the error is too
// large.
std::string LeftText(const model::MetricTotals& column) {
  const double base = column.raw - column.adjust;
  const std::string error = AmountText(column, column.error);
  if (2 * model::kDeviations95 * column.error <= base || column.error == 0)
    return fmt::format("leaving {} +- {}", AmountText(column, base), error);
  return fmt::format("leaving <{} (its error is {})",
                     AmountText(column, std::max(0.0, base + model::kDeviations95 * column.error)),
                     error);
}

void PrintCalibrated(const model::Source& source, const model::MetricTotals& column, Output& out) {
  out.Print("           calibrated with {} (made {})\n", source.table_from,
            profile::CleanText(source.table->made_at));
  if (!source.refitted.empty()) out.Print("           {}\n", source.refitted);
  out.Print("           removed {} of {} ({:.1f} %), {}; it moves in steps of {} raw\n",
            AmountText(column, column.adjust), AmountText(column, column.raw),
            model::PercentOf(column.adjust, column.raw), LeftText(column), column.granularity);
  if (column.info.is_time() && source.table->version < calibrate::kVersionWithEnds) {
    out.Text(
        "           the error is without overlap and lost inlining, which this table's training "
        "did "
        "not measure: run\n           jprof calibrate again\n");
  }
  out.Print("           {}\n", Fallbacks(column));
  if (column.over_calibrated > 0) {
    out.Print(
        "           over-calibrated: {} rows fell below "
        "0 and print 0; their {} stay in all totals\n",
        column.over_calibrated, AmountText(column, column.residue));
  }
  if (column.within_error > 0) {
    out.Print("           {} rows cost no more than their error: --raw shows it for each\n",
              column.within_error);
  }
}

// Returns the interval between two samples, such as "1 ms of CPU time".
std::string PeriodText(const profile::Metric& info) {
  const double period = static_cast<double>(info.period.value);
  if (info.period.unit != "ns") return model::AmountIn(info.period.unit, period);
  using Clock = profile::Period::Clock;
  return fmt::format("{:g} ms{}", period / 1e6,
                     info.period.clock == Clock::kCpu       ? " of CPU time"
                     : info.period.clock == Clock::kElapsed ? " of elapsed time"
                                                            : "");
}

std::string RateText(const profile::Metric& info) {
  if (info.period.value <= 0) return "each one, or as often as its source says";
  if (info.period.unit == "events" && info.period.value == 1) return "each event";
  std::string text = fmt::format("one every {}", PeriodText(info));
  if (info.period.unit == "ns")
    text += fmt::format(" ({:g} a second)", 1e9 / static_cast<double>(info.period.value));
  return text;
}

// Prints how many samples there are and what one represents. A weighted metric is printed with the
// number of its samples.
void PrintSampled(const model::Forest& forest, const model::MetricTotals& column, Output& out) {
  const profile::Metric& info = column.info;
  const bool counted = column.counts != model::MetricTotals::kNoCounts;
  const double samples = counted ? forest.metrics[column.counts].raw : 0;
  out.Print(" event     {}: {}\n", info.name, RateText(info));
  if (info.is_weighted()) {
    out.Print("           {}", AmountText(column, column.raw));
    if (samples > 0)
      out.Print(" by {} samples, {} each on average", model::Rounded(samples),
                AmountText(column, column.raw / samples));
    if (!counted) out.Text("; the number of samples behind it is not known");
    out.Text("\n");
  } else if (info.period.value > 0) {
    out.Print("           {} samples, each stands for {}\n", model::Rounded(samples),
              PeriodText(info));
  } else {
    out.Print("           {} samples\n", model::Rounded(samples));
  }
}

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
  return Seconds(reader.header(), 0, sum.sampling_ticks) * 1e9;
}

// Returns whether the preceding weighted metric prints this number of samples.
bool IsPrintedBefore(const model::Forest& forest, size_t m) {
  return m > 0 && forest.metrics[m - 1].info.is_weighted() && forest.metrics[m - 1].counts == m;
}

size_t PartlyCounted(const model::Names& names) {
  size_t count = 0;
  for (uint32_t id = 0; id < names.size(); ++id)
    count += (names.Parts(profile::MethodId{id}).flags & profile::kMethodIntrinsic) != 0;
  return count;
}

// Prints what the profile was merged from.
void PrintMerged(const model::Source& source, Output& out) {
  if (!source.merged) return;
  const profile::MergedMeta& merged = *source.merged;
  out.Print(" merged    {} profiles; threads: {} (jprof info lists them)\n", merged.inputs.size(),
            merged.threads);
  for (const std::string& notice : merged.notices)
    out.Warning(fmt::format("           {}\n", notice));
}

}  // namespace

std::string ElapsedText(const profile::ControlHeader& header) {
  if (header.finished == 0) return "not finished: still running, or killed";
  return fmt::format("{:.3f} s elapsed", Seconds(header, header.start_ticks, header.end_ticks));
}

Value BaseValue(const model::MetricTotals& column, const model::Cell& cell) {
  if (column.calibrated && cell.is_vague()) {
    const double upper = std::ceil(model::InUnit(column, cell.upper()));
    return Value::Below(std::max(model::Rounded(upper), int64_t{1}));
  }
  return Value::Signed(model::Rounded(model::InUnit(column, std::max(cell.base(), 0.0))));
}

std::string_view BoundLegend(const model::Forest& forest) {
  if (std::ranges::none_of(forest.metrics, &model::MetricTotals::calibrated)) return {};
  return "           BASE <X: its 95 % interval, which ends at X, is wider than the value\n";
}

std::string AmountText(const model::MetricTotals& column, double raw) {
  return model::AmountIn(column.info.unit, raw * column.info.scale);
}

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

void PrintRun(const model::Source& source, std::string_view report, Output& out) {
  const profile::Reader& reader = source.reader;
  const profile::Meta& meta = reader.meta();
  out.Bold(fmt::format("jprof {} of {}\n", report, profile::CleanText(reader.directory())));
  out.Print(" command   {}{}\n", Command(meta),
            meta.pid == 0 ? "" : fmt::format(" (pid {})", meta.pid));
  PrintMerged(source, out);
  out.Print(" run       {}{}, started {}, {}\n", meta.mode.empty() ? "unknown mode" : meta.mode,
            meta.options.fold_recursion ? " with folded recursion" : "",
            meta.start.empty() ? "?" : meta.start, ElapsedText(reader.header()));
  const std::string folded = profile::FoldedText(reader.header());
  if (!folded.empty()) out.Print(" detail    {}; counts are exact\n", folded);
  const char* unknown = source.merged ? "several JVMs"
                        : meta.probe.is(ProbeKind::kHooks) || meta.probe.is(ProbeKind::kSleds)
                            ? "C and C++ functions"
                            : "unknown JVM";
  out.Print(" machine   {}{}{}{}\n", meta.jvm.Title().empty() ? unknown : meta.jvm.Title(),
            meta.probe.kind.empty() ? "" : ", probe " + meta.probe.kind,
            meta.probe.note.empty() ? "" : ": ", meta.probe.note);
  const auto filtered = std::count_if(
      reader.threads().begin(), reader.threads().end(),
      [](const auto& thread) { return thread.record.flags & profile::kThreadFiltered; });
  out.Print(" threads   {}", reader.threads().size() - static_cast<size_t>(filtered));
  if (filtered > 0) out.Print(", and {} left out by --threads", filtered);
  out.Text("\n");
}

void PrintPartlyCounted(const model::Names& names, Output& out) {
  const size_t count = PartlyCounted(names);
  if (count == 0) return;
  out.Print(
      " counts    partial for methods that have intrinsics ({}, see `jprof info`), and for what "
      "only these call\n",
      count);
}

void PrintMetrics(const model::Source& source, const model::Forest& forest, Output& out) {
  if (forest.metrics.empty()) {
    out.Print(" metrics   none: call counts only{}\n",
              PartlyCounted(forest.names) == 0 ? ", they are exact" : "");
  }
  PrintPartlyCounted(forest.names, out);
  for (const model::MetricTotals& column : forest.metrics) {
    if (IsPrintedBefore(forest, static_cast<size_t>(&column - forest.metrics.data()))) continue;
    if (column.info.is_samples()) {
      PrintSampled(forest, column, out);
      continue;
    }
    out.Print(" metric    {} in {}\n", column.info.name, column.info.unit);
    if (column.running_permille < 1000) {
      out.Warning(fmt::format(
          "           SCALED: it shared a counter and ran {:.1f} % of the time at least\n",
          column.running_permille / 10.0));
    }
    if (column.calibrated) {
      PrintCalibrated(source, column, out);
    } else if (source.table) {
      out.Warning(
          fmt::format("           UNCALIBRATED: {} has no costs for it; train it: jprof calibrate "
                      "--metrics {}\n",
                      source.table_from, column.info.name));
    } else {
      out.Warning(fmt::format("           UNCALIBRATED, the profiler's own cost is in it: {}\n",
                              source.uncalibrated));
    }
  }
}

void PrintLosses(const model::Source& source, Output& out) {
  bool any = false;
  const auto line = [&](std::string_view label, const std::string& text) {
    out.Warning(fmt::format(" {:<9} {}\n", label, text));
    any = true;
  };
  for (const profile::Loss& loss : profile::Losses(source.reader)) {
    if (loss.count > 0) line("lost", fmt::format("{} {}", loss.count, loss.says));
  }
  for (const std::string& damage : source.reader.damages().Lines()) line("damaged", damage);
  if (!any) out.Text(" losses    none\n");
}

void RemarkLosses(const model::Source& source, Format format, Output& out) {
  if (EntryOf(format).head) return;
  out.Remark(profile::FoldedText(source.reader.header()));
  for (const profile::Loss& loss : profile::Losses(source.reader)) {
    if (loss.count > 0) out.Remark(fmt::format("lost: {} {}", loss.count, loss.says));
  }
  for (const std::string& damage : source.reader.damages().Lines())
    out.Remark("damaged: " + damage);
}

namespace {

void JsonMetric(const model::MetricTotals& metric, JsonWriter& json) {
  const double scale = metric.info.scale;
  json.StartObject();
  json.Member("name", metric.info.name);
  json.Member("unit", metric.info.unit);
  json.Member("calibrated", metric.calibrated);
  json.NumberMember("raw", metric.raw * scale);
  json.NumberMember("removed", metric.adjust * scale);
  json.NumberMember("error", metric.error * scale);
  json.Key("running");
  json.Shortest(metric.running_permille / 1000.0);
  json.Member("over_calibrated", metric.over_calibrated);
  json.NumberMember("residue", metric.residue * scale);
  if (metric.info.is_samples()) {
    json.Member("sampled", metric.info.is_weighted() ? "weighted" : "samples");
    json.NumberMember("period", static_cast<double>(metric.info.period.value));
    json.Member("period_unit", metric.info.period.unit);
  }
  json.EndObject();
}

}  // namespace

void JsonMetrics(const model::Forest& forest, JsonWriter& json) {
  json.Key("metrics");
  json.StartArray();
  for (const model::MetricTotals& metric : forest.metrics) JsonMetric(metric, json);
  json.EndArray();
}

void JsonLosses(const model::Source& source, JsonWriter& json) {
  json.Key("losses");
  json.StartObject();
  for (const profile::Loss& loss : profile::Losses(source.reader))
    json.Member(loss.name, loss.count);
  json.EndObject();
  json.StringsMember("damages", source.reader.damages().Lines());
}

void JsonRun(const model::Source& source, std::string_view report, JsonWriter& json) {
  const profile::Meta& meta = source.reader.meta();
  const profile::ControlHeader& header = source.reader.header();
  json.Member("report", report);
  json.Key("profile");
  json.StartObject();
  json.Member("directory", source.reader.directory());
  json.Member("mode", meta.mode);
  json.Member("command", Command(meta));
  json.Member("pid", meta.pid);
  json.Member("start", meta.start);
  json.Member("finished", header.finished != 0);
  json.FixedMember("elapsed_s", Seconds(header, header.start_ticks, header.end_ticks), 6);
  if (const auto folded = profile::FoldedFrom(header))
    json.FixedMember("folded_from_s", *folded, 6);
  if (!source.refitted.empty()) json.Member("refitted", source.refitted);
  if (source.merged) {
    json.Member("merged", source.merged->inputs.size());
    json.StringsMember("notices", source.merged->notices);
  }
  json.EndObject();
}

}  // namespace jprof::reports
