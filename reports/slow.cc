// Prints the slow calls that a trace has kept, each with the tree of its own calls
// (docs/REPORTS.md).
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "common/utc_text.h"
#include "model/sums/slow_trees.h"
#include "profile/files/printable_text.h"
#include "reports/print/formats.h"
#include "reports/print/units.h"
#include "reports/quality/quality_of.h"
#include "reports/report_list.h"
#include "reports/tree/header.h"
#include "reports/tree/outline.h"

namespace jprof::reports {
namespace {

constexpr size_t kCallsInText = 5;
constexpr uint64_t kNanos = 1'000'000'000;
constexpr std::string_view kMissingName = "(events that are missing)";

enum class SlowRowKind { kCall, kBefore, kContext, kRest };

// A row as the columns' getters see it: a slow call, a call before it, or a context below it.
struct SlowRow {
  SlowRowKind kind;
  const model::SlowTree& tree;
  const profile::Thread& thread;
  size_t number;  // of the slow call, from 1
  double start_s;
  const model::SlowNode* node = nullptr;        // of kContext; of kRest its sum
  const model::EarlierCall* earlier = nullptr;  // of kBefore
  std::string_view name = {}, text = {};        // of the method; what the column NAME has
  char type = '?';
};
using SlowColumns = Columns<SlowRow>;

constexpr std::string_view KindName(SlowRowKind kind) {
  constexpr std::string_view kNames[] = {"call", "before", "context", "rest"};
  return kNames[static_cast<size_t>(kind)];
}

// Returns "2026-03-04T05:06:07.890123Z".
std::string UtcMicros(uint64_t unix_ns) {
  std::string text = UtcText(static_cast<std::time_t>(unix_ns / kNanos));
  text.insert(text.size() - 1, fmt::format(".{:06}", unix_ns % kNanos / 1000));
  return text;
}

double SecondsFromStart(const model::Source& source, const profile::SlowCall& call) {
  const uint64_t start = source.reader.header().start_unix_ns;
  return call.start_unix_ns > start ? static_cast<double>(call.start_unix_ns - start) / 1e9 : 0;
}

// The values of a row in ns, or none for those that it does not have.
struct SlowTimes {
  double tick_ns;

  Value Wall(const SlowRow& row) const {
    if (row.kind == SlowRowKind::kCall) return Time(static_cast<double>(row.tree.call.wall_ns));
    return row.node != nullptr ? Ticks(row.node->wall()) : Value::Missing();
  }
  Value Cpu(const SlowRow& row) const {
    if (row.kind == SlowRowKind::kCall) return Ticks(row.tree.call.cpu_ticks);
    return row.node != nullptr ? Ticks(row.node->cpu) : Value::Missing();
  }
  Value OffCpu(const SlowRow& row) const {
    if (row.kind == SlowRowKind::kCall) return Ticks(row.tree.call.off_cpu_ticks);
    return row.node != nullptr ? Ticks(row.node->off_cpu) : Value::Missing();
  }

  bool for_people;

 private:
  Value Time(double ns) const { return for_people ? Value::Duration(ns) : Value::Number(ns); }
  Value Ticks(int64_t ticks) const { return Time(static_cast<double>(ticks) * tick_ns); }
};

Value CallsOf(const SlowRow& row) {
  if (row.kind == SlowRowKind::kCall) return Value::Integer(1);
  if (row.earlier != nullptr) return Value::Integer(row.earlier->calls);
  return row.node != nullptr ? Value::Integer(row.node->calls) : Value::Missing();
}

void AddCallColumns(SlowColumns& columns) {
  constexpr unsigned kData = kCsv | kJson;
  const auto add = [&](const char* name, auto get) { columns.Add(kData, {name}, get); };
  add("call", [](const SlowRow& row) { return Value::Integer(row.number); });
  add("kind", [](const SlowRow& row) { return Value::Text(KindName(row.kind)); });
  add("tid", [](const SlowRow& row) { return Value::Integer(row.thread.record.tid); });
  add("thread", [](const SlowRow& row) { return Value::Text(row.thread.name); });
  // Adds what is known of the call itself.
  const auto of_call = [&](const char* name, auto get) {
    add(name, [get](const SlowRow& row) {
      return row.kind == SlowRowKind::kCall ? get(row) : Value::Missing();
    });
  };
  of_call("virtual_thread", [](const SlowRow& row) {
    const uint64_t thread = row.tree.call.virtual_thread;
    return thread != 0 ? Value::Integer(thread) : Value::Missing();
  });
  of_call("start_s", [](const SlowRow& row) { return Value::Number(row.start_s); });
  of_call("start_unix_ns",
          [](const SlowRow& row) { return Value::Integer(row.tree.call.start_unix_ns); });
  of_call("first_event",
          [](const SlowRow& row) { return Value::Integer(row.tree.call.first_event); });
  of_call("last_event",
          [](const SlowRow& row) { return Value::Integer(row.tree.call.last_event); });
  of_call("events", [](const SlowRow& row) { return Value::Integer(row.tree.events); });
  of_call("missing", [](const SlowRow& row) { return Value::Integer(row.tree.missing); });
  of_call("complete", [](const SlowRow& row) {
    return Value::Bool(row.tree.is_kept() && row.tree.missing == 0 && row.tree.call.flags == 0);
  });
}

SlowColumns SlowColumnsOf(const Options& options, double tick_ns) {
  SlowColumns columns(EntryOf(options.format).view);
  constexpr unsigned kData = kCsv | kJson;
  const SlowTimes times = {.tick_ns = tick_ns, .for_people = options.for_people()};
  AddCallColumns(columns);
  columns.Add(kData, {"level"}, [](const SlowRow& row) {
    if (row.kind == SlowRowKind::kCall) return Value::Integer(0);
    return row.node != nullptr ? Value::Integer(row.node->level) : Value::Missing();
  });
  columns.Add(kData, {"calls"}, CallsOf);
  columns.Add(kData, {"wall_ns"}, [times](const SlowRow& row) { return times.Wall(row); });
  columns.Add(kData, {"cpu_ns"}, [times](const SlowRow& row) { return times.Cpu(row); });
  columns.Add(kData, {"off_cpu_ns"}, [times](const SlowRow& row) { return times.OffCpu(row); });
  columns.Add(kData, {"returned"}, [](const SlowRow& row) {
    return row.earlier != nullptr ? Value::Bool(row.earlier->returned) : Value::Missing();
  });
  columns.Add(kData, {"type"}, [](const SlowRow& row) { return Value::Text({&row.type, 1}); });
  columns.Add(kData, {"name"}, [](const SlowRow& row) { return Value::Text(row.name); });
  columns.Add(kPeople, {"WALL", 8}, [times](const SlowRow& row) { return times.Wall(row); });
  columns.Add(kPeople, {"CPU", 8}, [times](const SlowRow& row) { return times.Cpu(row); });
  columns.Add(kPeople, {.name = "OFF-CPU", .width = 8, .spare = 1},
              [times](const SlowRow& row) { return times.OffCpu(row); });
  columns.Add(kPeople, {"CALLS", 9}, CallsOf);
  columns.Add(kPeople, {"NAME"}, [](const SlowRow& row) { return Value::Text(row.text); });
  return columns;
}

// Writes the rows of one call after another.
class SlowWriter {
 public:
  SlowWriter(model::Source& source, const Options& options, SlowColumns& columns,
             TableWriter& writer)
      : source_(source),
        names_(source.reader),
        options_(options),
        columns_(columns),
        writer_(writer) {}

  void Write(const model::SlowTree& tree) {
    ++number_;
    WriteCall(tree);
    for (const model::EarlierCall& earlier : tree.earlier) WriteEarlier(tree, earlier);
    if (tree.is_kept()) WriteContexts(tree);
  }

 private:
  SlowRow RowOf(SlowRowKind kind, const model::SlowTree& tree) const {
    return {.kind = kind,
            .tree = tree,
            .thread = source_.reader.threads()[tree.call.thread],
            .number = number_,
            .start_s = SecondsFromStart(source_, tree.call)};
  }

  void WriteRow(SlowRow row, profile::MethodId method, FrameKind type, const std::string& before,
                const std::string& after) {
    const bool is_method = method != profile::kRootMethod;
    row.name = is_method ? names_.Of(method) : kMissingName;
    row.type = is_method ? names_.LetterOf(method, type, options_.static_letters) : '?';
    const std::string text = is_method
                                 ? before + names_.Mark(method, type, options_.static_letters) +
                                       std::string(names_.In(options_.names, method)) + after
                                 : before + std::string(kMissingName);
    row.text = text;
    writer_.Row(columns_.Of(row));
  }

  void WriteCall(const model::SlowTree& tree) {
    const profile::SlowCall& call = tree.call;
    const SlowRow row = RowOf(SlowRowKind::kCall, tree);
    std::string after =
        fmt::format(", at {:.6f} s ({}), {}{}, {}", row.start_s, UtcMicros(call.start_unix_ns),
                    profile::CleanText(row.thread.name),
                    call.virtual_thread != 0 ? fmt::format(" {}", call.virtual_thread) : "",
                    Counted(tree.events, "event", "events"));
    if (tree.missing != 0) after += fmt::format(", {} are missing", tree.missing);
    if ((call.flags & profile::kSlowNotKept) != 0)
      after += ": not kept, no space";
    else if (!tree.is_kept())
      after += ": its events cannot be read";
    WriteRow(row, MethodOf(call.method), TypeOf(call.method), fmt::format("#{} ", number_), after);
  }

  void WriteEarlier(const model::SlowTree& tree, const model::EarlierCall& earlier) {
    SlowRow row = RowOf(SlowRowKind::kBefore, tree);
    row.earlier = &earlier;
    WriteRow(row, MethodOf(earlier.method), TypeOf(earlier.method),
             earlier.returned ? "  before: " : "  before, still running: ", "");
  }

  void WriteContexts(const model::SlowTree& tree) {
    std::vector<double> weight;
    for (const model::SlowNode& node : tree.nodes)
      weight.push_back(static_cast<double>(node.wall()));
    const model::NodeIndex root = 0;
    const Outline outline(tree.nodes, {&root, 1}, options_, weight,
                          [](model::NodeIndex, double) { return false; });
    outline.Visit(
        root,
        [&](model::NodeIndex node, Place place) {
          if (node != root) WriteContext(tree, tree.nodes[node], place);
          return true;
        },
        [&](model::NodeIndex parent, Place place) {
          WriteRest(tree, parent, place, outline);
          return true;
        });
  }

  void WriteContext(const model::SlowTree& tree, const model::SlowNode& node, Place place) {
    SlowRow row = RowOf(SlowRowKind::kContext, tree);
    row.node = &node;
    WriteRow(row, node.method, node.type, Before(place), "");
  }

  // Writes the hidden children of a node, with all below them, as one row.
  template <typename OfTree>
  void WriteRest(const model::SlowTree& tree, model::NodeIndex parent, Place place,
                 const OfTree& outline) {
    model::SlowNode sum;
    sum.level = tree.nodes[parent].level + 1;
    size_t hidden = 0;
    model::VisitHidden(
        tree.nodes, parent, [&](model::NodeIndex node) { return outline.Hides(node); },
        [&](model::NodeIndex node) {
          ++hidden;
          sum.calls += tree.nodes[node].calls;
          if (tree.nodes[node].parent != parent) return;  // the times are with all below
          sum.AddTimesOf(tree.nodes[node]);
        });
    SlowRow row = RowOf(SlowRowKind::kRest, tree);
    row.node = &sum;
    const std::string name = RestName(hidden), text = Before(place) + name;
    row.name = name;
    row.text = text;
    writer_.Row(columns_.Of(row));
  }

  const model::Source& source_;
  model::Names names_;
  const Options& options_;
  SlowColumns& columns_;
  TableWriter& writer_;
  size_t number_ = 0;
};

void TextHead(const model::Source& source, const Options& options, Output& out) {
  Head head = RunHead(source, "slow");
  head.width = options.width;
  head.lines.push_back({"times", "with all that a call made, and with the profiler's own cost"});
  PrintHead(head, QualityOf(source, model::Names()), out);
  out.Text("\n");
}

}  // namespace

Result<void> PrintSlow(model::Source& source, const Options& options, Output& out) {
  if (source.reader.header().slow_items == 0)
    return WrongUse(
        "{} was recorded without slow calls; record them with: jprof trace --slow METHOD:TIME -- "
        "java ...",
        source.reader.shown());
  const auto trees = model::LoadSlowTrees(source.reader);
  if (!trees) return std::unexpected(trees.error());
  const size_t shown =
      options.fits_screen() ? std::min(trees->size(), kCallsInText) : trees->size();
  const auto ticks_per_second = std::max<uint64_t>(1, source.reader.header().ticks_per_second);
  const Layout layout = {
      .head = {.text = [&](Output& text) { TextHead(source, options, text); },
               .json =
                   [&](JsonWriter& json) {
                     JsonRun(source, "slow", json);
                     JsonLosses(source, QualityOf(source, model::Names()), json);
                   }},
      .tail = {.text = [&](Output& text) { text.Text(MoreText(trees->size() - shown, "call")); }},
      .rows = "rows",
      .width = options.width,
      .legend = options.legend};
  SlowColumns columns = SlowColumnsOf(options, 1e9 / static_cast<double>(ticks_per_second));
  const auto writer = EntryOf(options.format).make(layout, out);
  writer->Begin(columns.columns());
  SlowWriter rows(source, options, columns, *writer);
  for (const model::SlowTree& tree : std::span(*trees).first(shown)) rows.Write(tree);
  writer->End();
  return {};
}

}  // namespace jprof::reports
