// Prints exact calls and production times in one tree (docs/REPORTS.md).
#include "reports/combined/combined_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "model/combined/combined.h"
#include "model/combined/shrinkage.h"
#include "model/tree/run_description.h"
#include "profile/files/printable_text.h"
#include "reports/print/columns.h"
#include "reports/print/estimate_text.h"
#include "reports/print/formats.h"
#include "reports/print/legend.h"
#include "reports/tree/collapsed.h"
#include "reports/tree/header.h"

namespace jprof::reports {
namespace {

std::string CombinedLegend() {
  using enum FrameKind;
  return Legend(
             "LV level, 0 = all threads; CALLS exact, - = cannot be counted; SAMPLES in it, all "
             "runs; TIME ms of one run in it alone; CUM with all it called, its +- (95 %) and its "
             "% of all; NS/CALL CUM of one call and its +-, r of one entry (recursion was folded); "
             "<X at most X: the interval is wider than the value; ~ estimate from calls where "
             "samples are few; types: " +
             KindsText({kInterpreted, kJitted, kRejitted, kInlined, kNative, kFunction, kKernel,
                        kOther})) +
         "\n";
}

// A row is a context, or the contexts below one parent that the options hide.
struct CombinedRow {
  uint32_t id = 0, parent = 0, level = 0;
  char type = '?';
  std::string_view name;
  bool is_java = true, counted = false;
  uint64_t calls = 0;
  std::vector<double> samples, all_samples;  // by run
  double counted_ns = 0, counted_error = 0, counted_all = 0;
  model::ContextTimes times;
  bool hidden = false;
  double estimated_time = 0, estimated_all = 0;  // ns

  bool is_estimated = false;
  std::optional<uint64_t> outermost_calls;  // nothing if recursion was folded

  bool has_calls() const { return is_java && calls > 0 && !hidden && outermost_calls != 0; }
  // Returns the number of calls by which CUM is divided.
  uint64_t divisor() const { return outermost_calls.value_or(calls); }
  ShownTime own_time() const { return {times.own, is_estimated, estimated_time}; }
  ShownTime all_time() const { return {times.all, is_estimated, estimated_all}; }
};

using CombinedColumns = Columns<CombinedRow>;

void AddText(CombinedColumns& columns, int calls_width) {
  columns.Add(kPeople, {"LV", 2}, [](const CombinedRow& row) { return Value::Integer(row.level); });
  columns.Add(kPeople, {"CALLS", calls_width}, [](const CombinedRow& row) {
    const bool countable = row.hidden ? row.counted : row.is_java && row.level > 0;
    return countable ? Value::Integer(row.calls) : Value::Missing();
  });
  columns.Add(kPeople, {"SAMPLES", 7}, [](const CombinedRow& row) {
    return Value::Signed(model::Rounded(model::Sum(row.samples)));
  });
}

// The texts of a row. They live until the row is written.
struct Texts {
  std::string time, all, half, per_call, per_call_half, name;
};

// Computes the width from methods that are called once, such as main, which have the widest values.
int PerCallWidth(const model::CombinedView& view) {
  constexpr int kLeast = 10;
  const model::CombinedTree& tree = view.tree;
  double most = 0;
  for (size_t i = 1; i < tree.contexts.size(); ++i) {
    const model::CombinedContext& context = tree.contexts[i];
    if (context.calls > 0)
      most = std::max(most, model::Sum(tree.AllSamples(i)) / static_cast<double>(context.calls));
  }
  const double longest = most * *std::ranges::max_element(tree.period_ns);
  const bool marks = std::ranges::any_of(tree.contexts, &model::CombinedContext::recursive);
  return std::max(kLeast, static_cast<int>(PerCall(longest).size()) + (marks ? 1 : 0));
}

void AddTextValues(CombinedColumns& columns, int per_call_width, Texts& texts) {
  columns.Add(kPeople, {"TIME", 9}, [&texts](const CombinedRow& row) {
    return Value::Text(texts.time = ValueText(row.own_time(), Milliseconds));
  });
  columns.Add(kPeople, {"CUM", 9}, [&texts](const CombinedRow& row) {
    return Value::Text(texts.all = ValueText(row.all_time(), Milliseconds));
  });
  columns.Add(kPeople, {"+-", 7}, [&texts](const CombinedRow& row) {
    return Value::Text(texts.half = ArmText(row.all_time(), Milliseconds));
  });
  columns.Add(kPeople, {"%", 5},
              [](const CombinedRow& row) { return Value::Fixed(100 * row.times.share.value, 1); });
  columns.Add(kPeople, {"NS/CALL", per_call_width}, [&texts](const CombinedRow& row) {
    if (!row.has_calls()) return Value::Missing();
    texts.per_call = ValueText(OfOneCall(row.all_time(), row.divisor()), PerCall);
    return Value::Text(texts.per_call += row.outermost_calls ? "" : kPerEntry);
  });
  columns.Add(kPeople, {"+-", per_call_width - 1}, [&texts](const CombinedRow& row) {
    if (!row.has_calls()) return Value::Text("");
    return Value::Text(texts.per_call_half =
                           ArmText(OfOneCall(row.all_time(), row.divisor()), PerCall));
  });
  columns.Add(kPeople, {"NAME"}, [&texts](const CombinedRow& row) {
    texts.name.assign(row.level, ' ');
    if (!row.hidden) texts.name += {row.type, ':'};
    texts.name += row.name;
    return Value::Text(texts.name);
  });
}

using EstimateOf = model::Estimate (*)(const CombinedRow&);

void AddEstimate(CombinedColumns& columns, const std::string& name, bool per_call, int digits,
                 EstimateOf of) {
  const std::vector<std::string> members = {"value", "low", "high"};
  const auto value = [per_call, digits, of](const CombinedRow& row, size_t part) {
    if (per_call && !row.has_calls()) return Value::Missing();
    const model::Estimate estimate = of(row);
    const double number = part == 0 ? estimate.value : part == 1 ? estimate.low : estimate.high;
    return Value::Fixed(number, static_cast<uint8_t>(digits));
  };
  columns.Add(kJson, {.name = name, .shape = Column::Shape::kObject, .members = members}, value);
  for (size_t part = 0; part < members.size(); ++part) {
    columns.Add(kCsv, {part == 0 ? name : name + "_" + members[part]},
                [value, part](const CombinedRow& row) { return value(row, part); });
  }
}

void AddData(CombinedColumns& columns, const model::CombinedTree& tree) {
  constexpr unsigned kData = kCsv | kJson;
  columns.Add(kData, {"id"}, [](const CombinedRow& row) { return Value::Integer(row.id); });
  columns.Add(kData, {"parent"}, [](const CombinedRow& row) {
    return row.level == 0 ? Value::Missing() : Value::Integer(row.parent);
  });
  columns.Add(kData, {"level"}, [](const CombinedRow& row) { return Value::Integer(row.level); });
  columns.Add(kData, {"type"}, [](const CombinedRow& row) { return Value::Text({&row.type, 1}); });
  columns.Add(kJson, {"name"}, [](const CombinedRow& row) { return Value::Text(row.name); });
  columns.Add(kData, {"calls"}, [](const CombinedRow& row) {
    return row.is_java && row.level > 0 ? Value::Integer(row.calls) : Value::Missing();
  });
  columns.Add(kData, {"counted"}, [](const CombinedRow& row) { return Value::Bool(row.counted); });
  columns.Add(kJson, {.name = "samples", .shape = Column::Shape::kList, .cells = tree.runs},
              [](const CombinedRow& row, size_t run) { return Value::Number(row.samples[run]); });
  columns.Add(
      kJson, {.name = "all_samples", .shape = Column::Shape::kList, .cells = tree.runs},
      [](const CombinedRow& row, size_t run) { return Value::Number(row.all_samples[run]); });
  columns.Add(kCsv, {"samples"},
              [](const CombinedRow& row) { return Value::Number(model::Sum(row.samples)); });
  AddEstimate(columns, "time_ns", false, 0, [](const CombinedRow& row) { return row.times.own; });
  AddEstimate(columns, "cum_ns", false, 0, [](const CombinedRow& row) { return row.times.all; });
  columns.Add(kData, {"estimated"},
              [](const CombinedRow& row) { return Value::Bool(row.is_estimated); });
  columns.Add(kData, {"estimated_ns"}, [](const CombinedRow& row) {
    return row.hidden ? Value::Missing() : Value::Fixed(row.estimated_time, 0);
  });
  columns.Add(kData, {"estimated_cum_ns"}, [](const CombinedRow& row) {
    return row.hidden ? Value::Missing() : Value::Fixed(row.estimated_all, 0);
  });
  AddEstimate(columns, "share", false, 6, [](const CombinedRow& row) { return row.times.share; });
  columns.Add(kData, {"outermost_calls"}, [](const CombinedRow& row) {
    return row.outermost_calls && row.is_java && row.level > 0 && !row.hidden
               ? Value::Integer(*row.outermost_calls)
               : Value::Missing();
  });
  AddEstimate(columns, "ns_per_call", true, 3, [](const CombinedRow& row) {
    return model::Scaled(row.times.all, 1 / static_cast<double>(row.divisor()));
  });
  AddEstimate(columns, "own_ns_per_call", true, 3, [](const CombinedRow& row) {
    return model::Scaled(row.times.own, 1 / static_cast<double>(row.calls));
  });
  if (tree.has_times) {
    columns.Add(kData, {"counted_ns"},
                [](const CombinedRow& row) { return Value::Number(row.counted_ns); });
    columns.Add(kData, {"counted_error_ns"},
                [](const CombinedRow& row) { return Value::Number(row.counted_error); });
    columns.Add(kData, {"counted_cum_ns"},
                [](const CombinedRow& row) { return Value::Number(row.counted_all); });
  }
  columns.Add(kCsv, {"name"}, [](const CombinedRow& row) { return Value::Text(row.name); });
}

// Orders siblings by their inclusive time, or as --sort requests.
void Order(model::CombinedTree& tree, const Options& options) {
  if (options.sort == model::Sort::kFirst) return;
  const auto key = [&](uint32_t context) -> std::pair<double, double> {
    const auto calls = static_cast<double>(tree.contexts[context].calls);
    const double weight = model::Sum(tree.AllSamples(context));
    if (options.sort == model::Sort::kCalls) return {calls, weight};
    const bool by_base = options.sort == model::Sort::kBase;
    return {by_base ? model::Sum(tree.OwnSamples(context)) : weight, calls};
  };
  model::SortSiblings(tree.contexts, [&](std::vector<model::NodeIndex> siblings) {
    std::ranges::stable_sort(siblings, [&](uint32_t a, uint32_t b) { return key(a) > key(b); });
    return siblings;
  });
}

// Visits the contexts depth first. Hidden ones (--min-percent, --depth) are one row below their
// parent.
class CombinedWalk {
 public:
  using Visitor = std::function<bool(const CombinedRow&)>;

  CombinedWalk(const model::CombinedView& view, const Options& options)
      : view_(view), tree_(view.tree), options_(options) {
    threshold_ = Weight(0) * options.min_percent / 100;
  }

  void Run(const Visitor& visit) {
    model::VisitShown(
        tree_.contexts, 0, [this](uint32_t context) { return Hides(context); },
        [&](uint32_t context) { return visit(RowOf(context)); },
        [&](uint32_t parent) { return visit(Hidden(parent)); });
  }

 private:
  double Weight(uint32_t context) const { return model::Sum(tree_.AllSamples(context)); }
  bool Hides(uint32_t context) const {
    return tree_.contexts[context].level > options_.depth ||
           (threshold_ > 0 && Weight(context) < threshold_);
  }

  void AddTo(CombinedRow& row, uint32_t context) const {
    row.calls += tree_.contexts[context].calls;
    row.counted_ns += tree_.contexts[context].counted_ns;
    row.counted_error += tree_.contexts[context].counted_error;
    for (size_t run = 0; run < tree_.runs; ++run) row.samples[run] += tree_.Samples(context, run);
  }

  CombinedRow Empty() const {
    CombinedRow row;
    row.samples.resize(tree_.runs);
    row.all_samples.resize(tree_.runs);
    return row;
  }

  CombinedRow RowOf(uint32_t index) const {
    const model::CombinedContext& context = tree_.contexts[index];
    CombinedRow row = Empty();
    row.id = index + 1;
    row.parent = context.parent + 1;
    row.level = context.level;
    row.type = index == 0 ? 'T' : context.type;
    row.name = index == 0 ? "(all threads)" : std::string_view(tree_.names[context.name]);
    row.is_java = context.is_java;
    row.estimated_time = view_.estimated_own[index];
    row.estimated_all = view_.estimated_all[index];
    row.counted = context.counted;
    AddTo(row, index);
    const std::span all = tree_.AllSamples(index);
    row.all_samples.assign(all.begin(), all.end());
    row.counted_all = tree_.counted_all[index];
    row.times = model::TimesOf(view_, index);
    row.is_estimated = model::IsEstimated(view_, index);
    row.outermost_calls = tree_.OutermostCalls(index);
    return row;
  }

  CombinedRow Hidden(uint32_t parent) {
    CombinedRow row = Empty();
    size_t count = 0;
    const auto add = [&](uint32_t context) {
      ++count;
      AddTo(row, context);
      row.counted |= tree_.contexts[context].counted;
    };
    model::VisitHidden(
        tree_.contexts, parent, [this](uint32_t context) { return Hides(context); }, add);
    row.all_samples = row.samples;
    row.counted_all = row.counted_ns;
    row.id = static_cast<uint32_t>(tree_.contexts.size()) + ++hidden_rows_;
    row.parent = parent + 1;
    row.level = tree_.contexts[parent].level + 1;
    row.type = ' ';
    row.hidden = true;
    hidden_name_ = fmt::format("(hidden: {} rows)", count);
    row.name = hidden_name_;
    const model::Estimate time = view_.times->Of(row.samples);
    row.times = {.own = time, .all = time, .share = view_.times->ShareOf(row.samples)};
    return row;
  }

  const model::CombinedView& view_;
  const model::CombinedTree& tree_;
  const Options& options_;
  double threshold_ = 0;
  uint32_t hidden_rows_ = 0;
  std::string hidden_name_;
};

std::string RunText(const model::RunFacts& facts) {
  std::string text = facts.how;
  const profile::Run& run = facts.run;
  if (run.wall_seconds) text += fmt::format(", {:.3f} s elapsed", *run.wall_seconds);
  if (run.cpu_seconds) {
    text += fmt::format(", {:.3f} s CPU", *run.cpu_seconds);
  } else if (facts.cpu_seconds > 0) {
    text += fmt::format(", {:.3f} s CPU of Java threads", facts.cpu_seconds);
  }
  if (run.exit_status) text += fmt::format(", exit status {}", *run.exit_status);
  if (run.output == profile::Run::Output::kEqual) text += ", same output";
  if (run.output == profile::Run::Output::kDiffers) text += ", OTHER OUTPUT";
  return text;
}

void PrintRuns(const model::CombinedView& view, Output& out) {
  out.Print(" {:<9} {}: {} calls of {} methods in {} contexts\n", view.counted.run.profile,
            RunText(view.counted), view.counted.calls, view.counted.methods, view.counted_contexts);
  for (const std::string& note : view.counted.notes)
    out.Warning(fmt::format("           {}\n", note));
  for (const model::RunFacts& facts : view.sampled) {
    out.Print(" {:<9} {}: {} samples, {} methods\n", facts.run.profile, RunText(facts),
              model::Rounded(facts.samples), facts.methods);
    for (const std::string& note : facts.notes) out.Warning(fmt::format("           {}\n", note));
  }
}

void PrintDifferences(const model::CombinedView& view, Output& out) {
  constexpr size_t kShown = 5;
  if (view.differences.empty()) {
    out.Text(" runs      no difference found\n");
    return;
  }
  for (size_t i = 0; i < std::min(kShown, view.differences.size()); ++i)
    out.Warning(fmt::format(" {:<9} {}\n", i == 0 ? "differ" : "", view.differences[i].text));
  if (view.differences.size() > kShown)
    out.Print("           and {} smaller differences: --format json lists all\n",
              view.differences.size() - kShown);
}

void PrintHead(const model::Combined& combined, const model::CombinedView& view, Output& out) {
  out.Bold(fmt::format("jprof combined of {}\n", profile::CleanText(combined.directory)));
  const std::string command = model::CommandText(combined.meta.command);
  out.Print(" command   {}\n", command.size() > 200 ? command.substr(0, 200) + "..." : command);
  for (const std::string& note : combined.meta.notes)
    out.Warning(fmt::format("           {}\n", note));
  PrintRuns(view, out);
  PrintDifferences(view, out);
  out.Print(
      " matched   {:.1f} % of samples in contexts that the counted run did not see; {:.1f} % "
      "outside Java methods\n",
      100 * view.uncounted, 100 * view.outside);
  out.Print("           {} contexts in both; {:.1f} % of calls in contexts without a sample\n",
            view.common_contexts, 100 * view.calls_unsampled);
  if (view.times->knows_runs()) {
    out.Print(
        " interval  covers counting statistics and the difference between runs: {:.1f} % of the "
        "total, {:.1f} % of a context's share\n",
        100 * view.times->relative_total(), 100 * view.times->relative_share());
  } else {
    out.Warning(
        " interval  counting statistics only: with one "
        "sampled run the difference between runs is unknown\n");
  }
  out.Text(CombinedLegend());
}

void JsonRunFacts(const model::RunFacts& facts, JsonWriter& json) {
  using enum profile::Run::Output;
  const profile::Run& run = facts.run;
  json.StartObject();
  json.Member("profile", run.profile);
  json.Member("how", facts.how);
  const auto number = [&](const char* key, const std::optional<double>& value) {
    json.Key(key);
    value ? json.Shortest(*value) : (void)json.Null();
  };
  number("wall_s", run.wall_seconds);
  number("cpu_s", run.cpu_seconds);
  json.FixedMember("java_cpu_s", facts.cpu_seconds, 6);
  json.Key("exit_status");
  run.exit_status ? json.Value(*run.exit_status) : (void)json.Null();
  json.Key("same_output");
  run.output == kUnknown ? (void)json.Null() : json.Value(run.output == kEqual);
  json.Member("methods", facts.methods);
  json.Member("calls", facts.calls);
  json.NumberMember("samples", facts.samples);
  json.StringsMember("notes", facts.notes);
  json.EndObject();
}

void JsonHead(const model::Combined& combined, const model::CombinedView& view, JsonWriter& json) {
  json.Member("report", "combined");
  json.Member("directory", combined.directory);
  json.Member("command", model::CommandText(combined.meta.command));
  json.Key("counted_run");
  JsonRunFacts(view.counted, json);
  json.Key("sampled_runs");
  json.StartArray();
  for (const model::RunFacts& facts : view.sampled) JsonRunFacts(facts, json);
  json.EndArray();
  json.Key("differences");
  json.StartArray();
  for (const model::RunDifference& difference : view.differences) json.String(difference.text);
  json.EndArray();
  json.FixedMember("uncounted_share", view.uncounted, 6);
  json.FixedMember("outside_share", view.outside, 6);
  json.FixedMember("unsampled_calls_share", view.calls_unsampled, 6);
  json.Member("generated_calls", view.tree.folded.calls);
  json.NumberMember("generated_samples", view.tree.folded.samples);
  json.Key("relative_total_spread");
  view.times->knows_runs() ? json.Precise(view.times->relative_total(), 4) : (void)json.Null();
  json.Key("relative_share_spread");
  view.times->knows_runs() ? json.Precise(view.times->relative_share(), 4) : (void)json.Null();
  json.Member("calibrated", view.calibrated);
}

int CallsWidth(const model::CombinedTree& tree) {
  uint64_t most = 0;
  for (const model::CombinedContext& context : tree.contexts) most = std::max(most, context.calls);
  return std::max(5, static_cast<int>(fmt::formatted_size("{}", most)));
}

void RemarkNotes(const model::Combined& combined, const model::CombinedView& view, Output& out) {
  for (const std::string& note : combined.meta.notes) out.Remark(note);
  const auto remark = [&out](const model::RunFacts& facts) {
    for (const std::string& note : facts.notes)
      out.Remark(fmt::format("{}: {}", facts.run.profile, note));
  };
  remark(view.counted);
  std::ranges::for_each(view.sampled, remark);
}

// Prints one line per context with its own time in microseconds.
void PrintCollapsedTimes(const model::CombinedView& view, const Options& options, Output& out) {
  CollapsedStacks stacks(out);
  CombinedWalk(view, options).Run([&](const CombinedRow& row) {
    std::string_view name = row.name;
    if (row.is_java && row.level > 0 && !name.starts_with('('))
      name = name.substr(0, name.find('('));
    stacks.Add(row.level, std::string(name), row.times.own.value / 1e3);
    return out.ok();
  });
}

}  // namespace

Result<void> PrintCombined(model::Combined& combined, const Options& options, Output& out) {
  if (auto offered = CheckOffered("combined", kTreeFormats, options.format); !offered)
    return offered;
  Result<model::CombinedView> view = model::LoadCombined(combined);
  if (!view) return std::unexpected(view.error());
  Order(view->tree, options);
  if (!EntryOf(options.format).head) RemarkNotes(combined, *view, out);
  if (options.format == Format::kCollapsed) {
    PrintCollapsedTimes(*view, options, out);
    return {};
  }
  CombinedColumns columns(EntryOf(options.format).view);
  Texts texts;
  AddData(columns, view->tree);
  AddText(columns, CallsWidth(view->tree));
  AddTextValues(columns, PerCallWidth(*view), texts);
  const Layout layout = {
      .head = {.text = [&](Output& to) { PrintHead(combined, *view, to); },
               .json = [&](JsonWriter& json) { JsonHead(combined, *view, json); }},
      .rows = "nodes"};
  const auto writer = EntryOf(options.format).make(layout, out);
  writer->Begin(columns.columns());
  CombinedWalk(*view, options).Run([&](const CombinedRow& row) {
    writer->Row(columns.Of(row));
    return out.ok();
  });
  writer->End();
  return {};
}

}  // namespace jprof::reports
