// Prints how long each call of watched methods took: quantiles and histograms by method or by
// calling context (docs/REPORTS.md).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/sums/distributions.h"
#include "reports/print/formats.h"
#include "reports/print/units.h"
#include "reports/quality/quality_of.h"
#include "reports/report_list.h"
#include "reports/tree/header.h"
#include "reports/tree/metric_head.h"
#include "reports/tree/outline.h"

namespace jprof::reports {
namespace {

using model::TimeHistogram;

constexpr size_t kFramesInText = 4;
struct DistributionLine {
  profile::MethodId method{};
  model::NodeIndex row = model::kNoNode;  // with --contexts
  uint64_t contexts = 1;
  model::Distribution times;
  model::CallSummary cpu = {}, elapsed = {};
};

// Which powers of two, in ns, the rows' calls have.
struct Octaves {
  int first = 0;
  std::vector<uint64_t> calls;  // of one row

  static int Of(const model::CallTimes& calls) {
    return static_cast<int>(std::floor(std::log2(std::max(1.0, calls.mean()))));
  }
};

// A row as the columns' getters see it.
struct ShownDistribution {
  const DistributionLine& line;
  std::string_view name, histogram;
};
using DistributionColumns = Columns<ShownDistribution>;

std::vector<DistributionLine> LinesOf(const model::Forest& forest, bool contexts) {
  std::vector<DistributionLine> lines;
  std::vector<model::RowDistribution> rows = DistributionsOf(forest);
  if (contexts) {
    for (model::RowDistribution& row : rows)
      lines.push_back({forest.rows.rows[row.row].method, row.row, 1, std::move(row.distribution)});
  } else {
    for (model::MethodDistribution& sum : SumByMethod(forest, rows))
      lines.push_back({sum.method, model::kNoNode, sum.contexts, std::move(sum.distribution)});
  }
  std::ranges::stable_sort(lines, std::greater(), [](const DistributionLine& line) {
    const model::CallTimes all = line.times.cpu.All();
    return all.measured - all.removed;
  });
  for (DistributionLine& line : lines) {
    line.cpu = line.times.cpu.Summary();
    line.elapsed = line.times.elapsed.Summary();
  }
  return lines;
}

// Returns the first and the last octave of any row.
std::pair<int, int> OctavesOf(const std::vector<DistributionLine>& lines) {
  int first = 62, last = 0;
  for (const DistributionLine& line : lines) {
    for (const TimeHistogram::Bucket& bucket : line.times.cpu.buckets) {
      first = std::min(first, Octaves::Of(bucket.calls));
      last = std::max(last, Octaves::Of(bucket.calls));
    }
  }
  return {std::min(first, last), last};
}

// Returns a character for each octave, whose height is the logarithm of the number of its calls.
std::string HistogramText(const TimeHistogram& histogram, std::pair<int, int> octaves) {
  constexpr std::string_view kBars[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::vector<uint64_t> calls(static_cast<size_t>(octaves.second - octaves.first + 1));
  for (const TimeHistogram::Bucket& bucket : histogram.buckets)
    calls[static_cast<size_t>(Octaves::Of(bucket.calls) - octaves.first)] += bucket.calls.calls;
  const auto height = [](uint64_t count) { return std::log1p(static_cast<double>(count)); };
  const double most = height(std::ranges::max(calls));
  std::string text;
  for (const uint64_t count : calls)
    text += kBars[static_cast<size_t>(std::ceil(most > 0 ? 8 * height(count) / most : 0))];
  return text;
}

// Returns "NAME < CALLER < ...", or the name alone if the line is not of one context.
std::string NameOf(model::Forest& forest, const DistributionLine& line, model::NameForm form,
                   size_t frames) {
  std::string name(forest.names.In(form, line.method));
  if (line.row == model::kNoNode) return name;
  const auto& rows = forest.rows.rows;
  const model::NameForm short_form = form == model::NameForm::kJvm ? form : ShortOf(form);
  for (model::NodeIndex at = rows[line.row].parent; rows[at].parent != model::kNoNode;
       at = rows[at].parent) {
    if (frames-- == 0) return name + " < ...";
    name.append(" < ").append(forest.names.In(short_form, rows[at].method));
  }
  return name;
}

Value ShownTime(const model::CallTime& time) {
  return time.vague ? Value::DurationBelow(time.most) : Value::Duration(time.time);
}

double RemovedPercent(const TimeHistogram& histogram) {
  const model::CallTimes all = histogram.All();
  return all.measured > 0 ? 100 * all.removed / all.measured : 0;
}

void AddTextColumns(DistributionColumns& columns, int octaves) {
  const auto add = [&](Column column, model::CallSummary DistributionLine::*clock,
                       model::CallTime model::CallSummary::*time) {
    columns.Add(kPeople, std::move(column), [clock, time](const ShownDistribution& shown) {
      return ShownTime(shown.line.*clock.*time);
    });
  };
  using Summary = model::CallSummary;
  const auto cpu = &DistributionLine::cpu, elapsed = &DistributionLine::elapsed;
  columns.Add(kPeople, {"CALLS", 10}, [](const ShownDistribution& shown) {
    return Value::Integer(shown.line.times.cpu.All().calls);
  });
  add({"MIN", 8}, cpu, &Summary::least);
  add({"P50", 8}, cpu, &Summary::p50);
  add({"P90", 8}, cpu, &Summary::p90);
  add({"P99", 8}, cpu, &Summary::p99);
  add({"MAX", 8}, cpu, &Summary::longest);
  add({.name = "MEAN", .width = 8, .spare = 2}, cpu, &Summary::mean);
  add({.name = "EL-P50", .width = 8, .spare = 1}, elapsed, &Summary::p50);
  add({.name = "EL-P99", .width = 8, .spare = 3}, elapsed, &Summary::p99);
  add({.name = "EL-MAX", .width = 8, .spare = 4}, elapsed, &Summary::longest);
  columns.Add(kPeople, {.name = "OWN%", .width = 5, .spare = 1},
              [](const ShownDistribution& shown) {
                return Value::Fixed(RemovedPercent(shown.line.times.cpu), 1);
              });
  columns.Add(kPeople, {.name = "HISTOGRAM", .width = std::max(9, octaves)},
              [](const ShownDistribution& shown) { return Value::Text(shown.histogram); });
  columns.Add(kPeople, {"NAME"},
              [](const ShownDistribution& shown) { return Value::Text(shown.name); });
}

// Returns the calls of a bucket, which may be none.
model::CallTimes CallsIn(const TimeHistogram& histogram, uint32_t number) {
  const auto found =
      std::ranges::lower_bound(histogram.buckets, number, {}, &TimeHistogram::Bucket::number);
  const bool exists = found != histogram.buckets.end() && found->number == number;
  return exists ? found->calls : model::CallTimes{};
}

// The buckets that any line has: from `first` up to the one before `end`.
struct BucketRange {
  uint32_t first = 0, end = 0;

  size_t size() const { return end - first; }
};

BucketRange BucketsOf(const std::vector<DistributionLine>& lines) {
  BucketRange range = {profile::kDurationBuckets, 0};
  for (const DistributionLine& line : lines) {
    for (const TimeHistogram* of : {&line.times.cpu, &line.times.elapsed}) {
      if (of->buckets.empty()) continue;
      range.first = std::min(range.first, of->buckets.front().number);
      range.end = std::max(range.end, of->buckets.back().number + 1);
    }
  }
  return {std::min(range.first, range.end), range.end};
}

// Returns the least time of a bucket in ns, as it was measured.
double BeginOf(uint32_t number, double tick) {
  return static_cast<double>(profile::BucketBegin(number)) * tick;
}

void AddClock(DistributionColumns& columns, const std::string& clock,
              TimeHistogram model::Distribution::*of, model::CallSummary DistributionLine::*summary,
              BucketRange buckets, double tick) {
  constexpr unsigned kData = kCsv | kJson;
  using Summary = model::CallSummary;
  constexpr std::pair<const char*, model::CallTime Summary::*> kTimes[] = {
      {"min", &Summary::least}, {"p50", &Summary::p50},     {"p90", &Summary::p90},
      {"p99", &Summary::p99},   {"max", &Summary::longest}, {"mean", &Summary::mean}};
  for (const auto& [name, time] : kTimes) {
    columns.Add(kData, {fmt::format("{}_{}_ns", clock, name)},
                [summary, time = time](const ShownDistribution& shown) {
                  return Value::Number((shown.line.*summary.*time).time);
                });
  }
  columns.Add(kData, {clock + "_removed_percent"}, [of](const ShownDistribution& shown) {
    return Value::Number(RemovedPercent(shown.line.times.*of));
  });
  const auto calls = [of, buckets](const ShownDistribution& shown, size_t i) {
    return CallsIn(shown.line.times.*of, buckets.first + static_cast<uint32_t>(i));
  };
  columns.Add(kJson,
              {.name = clock + "_calls", .shape = Column::Shape::kList, .cells = buckets.size()},
              [calls](const ShownDistribution& shown, size_t i) {
                return Value::Integer(calls(shown, i).calls);
              });
  columns.Add(
      kJson,
      {.name = clock + "_bucket_mean_ns", .shape = Column::Shape::kList, .cells = buckets.size()},
      [calls](const ShownDistribution& shown, size_t i) {
        const model::CallTimes in = calls(shown, i);
        return in.calls == 0 ? Value::Missing() : Value::Number(in.mean());
      });
  for (size_t i = 0; i < buckets.size(); ++i) {
    const double begin = BeginOf(buckets.first + static_cast<uint32_t>(i), tick);
    columns.Add(kCsv, {fmt::format("{}_calls_from_{:.1f}_ns", clock, begin)},
                [calls, i](const ShownDistribution& shown) {
                  return Value::Integer(calls(shown, i).calls);
                });
  }
}

void AddDataColumns(DistributionColumns& columns, BucketRange buckets, double tick) {
  constexpr unsigned kData = kCsv | kJson;
  columns.Add(kData, {"calls"}, [](const ShownDistribution& shown) {
    return Value::Integer(shown.line.times.cpu.All().calls);
  });
  columns.Add(kData, {"entered"}, [](const ShownDistribution& shown) {
    return Value::Integer(shown.line.times.entered);
  });
  columns.Add(kData, {"contexts"},
              [](const ShownDistribution& shown) { return Value::Integer(shown.line.contexts); });
  AddClock(columns, "cpu", &model::Distribution::cpu, &DistributionLine::cpu, buckets, tick);
  AddClock(columns, "elapsed", &model::Distribution::elapsed, &DistributionLine::elapsed, buckets,
           tick);
  columns.Add(kData, {"name"},
              [](const ShownDistribution& shown) { return Value::Text(shown.name); });
}

Quality QualityOfCalls(const model::Source& source, const model::Forest& forest) {
  Quality quality = QualityOf(source, forest);
  for (const std::string& pattern : model::UnmatchedPatterns(source.reader)) {
    quality.Add({{.name = "unmatched_pattern",
                  .value = 1,
                  .severity = Severity::kMajor,
                  .text = fmt::format("no method that was called matches {}", pattern),
                  .means = "It has no row.",
                  .advice = "Look up the method's name in: jprof report methods, and whether it is "
                            "in focus."}});
  }
  return quality;
}

void TextHead(const model::Source& source, const model::Forest& forest, size_t width, Output& out) {
  Head head = ForestHead(source, forest, "distribution");
  head.width = width;
  head.lines.push_back(
      {"calls", "CPU time of each with all that it called, and elapsed time (EL)"});
  PrintHead(head, QualityOfCalls(source, forest), out);
  out.Text("\n");
}

// Returns the lines below the table: what is not shown, and what the axis of the histograms is.
std::string TailLines(size_t hidden, std::string_view what, std::pair<int, int> octaves) {
  return MoreText(hidden, what) + fmt::format("HISTOGRAM: from {} to {}, by factors of 2.\n",
                                              Duration(std::exp2(octaves.first)),
                                              Duration(std::exp2(octaves.second + 1)));
}

void JsonHead(const model::Source& source, const model::Forest& forest, BucketRange buckets,
              JsonWriter& json) {
  JsonMetrics(forest, json);
  JsonLosses(source, QualityOfCalls(source, forest), json);
  JsonRun(source, "distribution", json);
  json.StringsMember("unmatched", model::UnmatchedPatterns(source.reader));
  json.Key("bucket_from_ns");
  json.StartArray();
  for (uint32_t i = buckets.first; i <= buckets.end && buckets.size() > 0; ++i)
    json.Shortest(BeginOf(i, forest.metrics[0].info.scale));
  json.EndArray();
}

Result<void> CheckRecorded(const model::Source& source) {
  const profile::Meta& meta = source.reader.meta();
  if (!meta.options.distribution.empty() || source.reader.header().distributions != 0) return {};
  if (meta.piece.number != 0) {
    return WrongUse(
        "{} is a piece of a recording, which has no distributions of calls; print those of the "
        "whole profile, in whose folder `pieces` it was written",
        source.reader.shown());
  }
  return WrongUse(
      "{} was recorded without distributions of calls; record them with: jprof callflow "
      "--distribution METHOD -- java ...",
      source.reader.shown());
}

}  // namespace

Result<void> PrintDistribution(model::Source& source, const Options& options, Output& out) {
  if (auto recorded = CheckRecorded(source); !recorded) return recorded;
  model::ForestOptions loaded = options;
  loaded.pools = false;
  Result<model::Forest> forest = model::LoadForest(source, loaded);
  if (!forest) return std::unexpected(forest.error());
  if (forest->metrics.empty())
    return Fail("{}: its metrics are missing (meta.json is damaged)", source.reader.shown());
  const std::vector<DistributionLine> lines = LinesOf(*forest, options.contexts);
  const std::pair<int, int> octaves = OctavesOf(lines);
  const BucketRange buckets = BucketsOf(lines);
  const size_t shown = options.fits_screen() ? std::min(lines.size(), kScreenRows) : lines.size();
  const Layout layout = {
      .head = {.text = [&](Output& text) { TextHead(source, *forest, options.width, text); },
               .json = [&](JsonWriter& json) { JsonHead(source, *forest, buckets, json); }},
      .tail = {.text =
                   [&](Output& text) {
                     if (lines.empty()) return;
                     text.Text(TailLines(lines.size() - shown,
                                         options.contexts ? "context" : "method", octaves));
                   }},
      .rows = options.contexts ? "contexts" : "methods",
      .width = options.width,
      .legend = options.legend};
  DistributionColumns columns(EntryOf(options.format).view);
  AddTextColumns(columns, octaves.second - octaves.first + 1);
  AddDataColumns(columns, buckets, forest->metrics[0].info.scale);
  const auto writer = EntryOf(options.format).make(layout, out);
  writer->Begin(columns.columns());
  for (const DistributionLine& line : std::span(lines).first(shown)) {
    const bool people = options.for_people();
    const std::string histogram = people ? HistogramText(line.times.cpu, octaves) : "";
    const std::string name = NameOf(*forest, line, people ? options.names : model::NameForm::kJvm,
                                    people && !options.all ? kFramesInText : SIZE_MAX);
    writer->Row(columns.Of({line, name, histogram}));
  }
  writer->End();
  return {};
}

}  // namespace jprof::reports
