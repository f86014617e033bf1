#include "reports/assistant/method_answers.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <optional>
#include <utility>

#include "model/values/amount.h"
#include "reports/print/columns.h"
#include "reports/print/units.h"

namespace jprof::reports::assistant {
namespace {

using model::NodeIndex;

constexpr uint32_t kNoName = 0xffffffffu;

struct MethodRow {
  uint32_t name = 0;
  CallSum sum;
  CallValues values;           // empty if only calls were recorded
  std::string_view role = {};  // what it is to the method that was asked for
};

// Sums up the contexts by the name that `key` returns for them; kNoName for those that do not
// count.
std::vector<MethodRow> SumsBy(const CallGraph& graph,
                              const std::function<uint32_t(NodeIndex context)>& key) {
  std::vector<CallSum> sums(graph.names.size());
  std::vector<uint32_t> on_path(graph.names.size());
  model::VisitNodes(
      graph.contexts, 0,
      [&](NodeIndex at) {
        if (const uint32_t name = key(at); name != kNoName)
          graph.AddTo(sums[name], at, on_path[name]++ == 0);
        return true;
      },
      [&](NodeIndex at) {
        if (const uint32_t name = key(at); name != kNoName) --on_path[name];
      });
  std::vector<MethodRow> rows;
  for (uint32_t name = 0; name < sums.size(); ++name) {
    if (sums[name].contexts == 0) continue;
    MethodRow& row = rows.emplace_back(MethodRow{.name = name, .sum = std::move(sums[name])});
    if (graph.width > 0) row.values = graph.values(row.sum);
  }
  return rows;
}

double Finite(double value) { return std::isfinite(value) ? value : 0; }

using Weight = double (*)(const MethodRow& row);
double OwnOf(const MethodRow& row) { return Finite(row.values.own_share.value); }
double AllOf(const MethodRow& row) { return Finite(row.values.share.value); }
double CallsOf(const MethodRow& row) { return static_cast<double>(row.sum.calls); }

void SortBy(Weight weight, std::vector<MethodRow>& rows) {
  std::ranges::stable_sort(rows, [weight](const MethodRow& a, const MethodRow& b) {
    return std::pair(weight(a), CallsOf(a)) > std::pair(weight(b), CallsOf(b));
  });
}

std::string AmountIn(const std::string& unit, double value) {
  return unit == "count" ? std::to_string(model::Rounded(value)) : model::AmountIn(unit, value);
}

std::string ValueIn(const std::string& unit, const ShownTime& value) {
  return unit == "ns" ? ValueText(value) : AmountIn(unit, value.sampled.value);
}

std::string ArmIn(const std::string& unit, const ShownTime& value) {
  if (unit == "ns") return ArmText(value);
  const double arm = (value.sampled.high - value.sampled.low) / 2;
  return arm > 0 ? AmountIn(unit, arm) : "";
}

// A row's value, or nothing where it is not known.
using TimeOf = std::optional<ShownTime> (*)(const MethodRow& row);
using EstimateOf = model::Estimate (*)(const MethodRow& row);

std::optional<ShownTime> PerCall(const MethodRow& row) {
  if (row.sum.outermost_calls.value_or(0) == 0) return std::nullopt;
  return OfOneCall(row.values.all, *row.sum.outermost_calls);
}

double MemberOf(const model::Estimate& estimate, size_t member) {
  return member == 0 ? estimate.value : member == 1 ? estimate.low : estimate.high;
}

// The columns of methods. `role` says what a row is to the method that was asked for; null for a
// list without one.
class MethodColumns {
 public:
  using Role = std::string_view (*)(const MethodRow& row);

  MethodColumns(const CallGraph& graph, Format format, Role role)
      : graph_(graph), columns_(EntryOf(format).view) {
    columns_.Add(kJson, {"name"}, [this](const MethodRow& row) { return NameOf(row); });
    if (role != nullptr) {
      columns_.Add(kPeople, {"ROLE"},
                   [role](const MethodRow& row) { return Value::Text(role(row)); });
      columns_.Add(kJson, {"role"},
                   [role](const MethodRow& row) { return Value::Text(role(row)); });
    }
    if (graph.width > 0) AddValues();
    if (graph.has_calls) AddCalls();
    columns_.Add(kJson, {"contexts"},
                 [](const MethodRow& row) { return Value::Integer(row.sum.contexts); });
    columns_.Add(kPeople, {"NAME"}, [this](const MethodRow& row) { return NameOf(row); });
  }
  MethodColumns(const MethodColumns&) = delete;
  MethodColumns& operator=(const MethodColumns&) = delete;

  void Print(const std::vector<MethodRow>& rows, const Layout& layout, Format format, Output& out) {
    if (format == Format::kText) columns_.FitWidths(rows);
    columns_.columns().back().width = 0;  // the name
    const auto writer = EntryOf(format).make(layout, out);
    writer->Begin(columns_.columns());
    for (const MethodRow& row : rows) writer->Row(columns_.Of(row));
    writer->End();
  }

 private:
  Value NameOf(const MethodRow& row) const { return Value::Text(graph_.names[row.name]); }

  void AddValues() {
    AddTime("SELF", "self", [](const MethodRow& row) { return std::optional(row.values.own); });
    AddTime("CUM", "cumulative",
            [](const MethodRow& row) { return std::optional(row.values.all); });
    AddShare("SELF%", "self_percent", [](const MethodRow& row) { return row.values.own_share; });
    AddShare("CUM%", "cumulative_percent", [](const MethodRow& row) { return row.values.share; });
    columns_.Add(kJson, {"few_samples"},
                 [](const MethodRow& row) { return Value::Bool(row.values.all.is_estimated); });
  }

  void AddCalls() {
    const auto calls = [](const MethodRow& row) { return Value::Integer(row.sum.calls); };
    columns_.Add(kPeople, {"CALLS"}, calls);
    columns_.Add(kJson, {"calls"}, calls);
    if (graph_.width > 0) AddTime("CUM/CALL", "cumulative_per_call", PerCall);
  }

  // Text has the value and half of its interval, JSON the value and both ends.
  void AddTime(const char* shown, const char* key, TimeOf of) {
    const auto text = [this, of](std::string (*as)(const std::string&, const ShownTime&)) {
      return [this, of, as, &made = texts_.emplace_back()](const MethodRow& row) {
        const auto time = of(row);
        made = time ? as(graph_.unit, *time) : "-";
        return Value::Text(made);
      };
    };
    columns_.Add(kPeople, {shown}, text(ValueIn));
    columns_.Add(kPeople, {"+-"}, text(ArmIn));
    AddObject(key, 3, [of](const MethodRow& row) -> std::optional<model::Estimate> {
      const auto time = of(row);
      if (!time) return std::nullopt;
      model::Estimate estimate = time->sampled;
      if (time->is_estimated) estimate.value = time->estimated;
      return estimate;
    });
  }

  void AddShare(const char* shown, const char* key, EstimateOf of) {
    columns_.Add(kPeople, {shown},
                 [of](const MethodRow& row) { return Value::Fixed(100 * of(row).value, 1); });
    AddObject(key, 3,
              [of](const MethodRow& row) { return std::optional(model::Scaled(of(row), 100)); });
  }

  void AddObject(const char* key, uint8_t digits,
                 std::function<std::optional<model::Estimate>(const MethodRow&)> of) {
    columns_.Add(
        kJson, {.name = key, .shape = Column::Shape::kObject, .members = {"value", "low", "high"}},
        [digits, of = std::move(of)](const MethodRow& row, size_t member) {
          const auto estimate = of(row);
          return estimate ? Value::Fixed(MemberOf(*estimate, member), digits) : Value::Missing();
        });
  }

  const CallGraph& graph_;
  Columns<MethodRow> columns_;
  std::deque<std::string> texts_;  // of the row that is written
};

// Prints the first rows, with the head of the input.
void PrintRows(const CallGraph& graph, std::string_view report, std::vector<MethodRow> rows,
               size_t limit, MethodColumns::Role role, Format format, Output& out) {
  const size_t left_out = rows.size() - std::min(rows.size(), limit);
  rows.resize(rows.size() - left_out);
  Head head = graph.head;
  head.report = report;
  const Layout layout = {
      .head = {.text =
                   [&](Output& text) {
                     PrintHead(head, graph.quality, text);
                     text.Text("\n");
                   },
               .json =
                   [&](JsonWriter& json) {
                     json.Member("report", report);
                     json.Member("profile", graph.head.of);
                     json.Member("metric", graph.metric);
                     json.Member("unit", graph.unit);
                     json.Member("grade", GradeOf(graph.quality.worst()));
                   }},
      .tail = {.text =
                   [&](Output& text) {
                     if (left_out > 0)
                       text.Print("{} left out (argument limit)\n",
                                  Counted(left_out, "row is", "rows are"));
                   },
               .json = [&](JsonWriter& json) { json.Member("left_out", left_out); }}};
  MethodColumns(graph, format, role).Print(rows, layout, format, out);
}

uint32_t NameAt(const CallGraph& graph, NodeIndex context) { return graph.contexts[context].name; }

std::vector<MethodRow> AllMethods(const CallGraph& graph) {
  return SumsBy(graph, [&](NodeIndex at) { return at == 0 ? kNoName : NameAt(graph, at); });
}

Weight WeightOf(const CallGraph& graph, std::string_view by) {
  constexpr Weight kWeights[] = {OwnOf, AllOf, CallsOf};
  if (graph.width == 0) return CallsOf;
  const auto found = std::ranges::find(kHottestBy, by);
  return kWeights[found == std::end(kHottestBy) ? 0 : found - std::begin(kHottestBy)];
}

}  // namespace

void PrintHottestMethods(const CallGraph& graph, std::string_view by, size_t limit, Format format,
                         Output& out) {
  std::vector<MethodRow> rows = AllMethods(graph);
  SortBy(WeightOf(graph, by), rows);
  PrintRows(graph, "hottest", std::move(rows), limit, nullptr, format, out);
}

void PrintNeighbours(const CallGraph& graph, uint32_t method, Direction direction, size_t limit,
                     Format format, Output& out) {
  const bool callers = direction == Direction::kCallers;
  const auto itself = [&](NodeIndex at) { return NameAt(graph, at) == method ? method : kNoName; };
  const auto neighbour = [&](NodeIndex at) {
    if (at == 0) return kNoName;
    const uint32_t name = NameAt(graph, at), caller = NameAt(graph, graph.contexts[at].parent);
    if (callers) return name == method ? caller : kNoName;
    return caller == method ? name : kNoName;
  };
  std::vector<MethodRow> rows = SumsBy(graph, neighbour);
  for (MethodRow& row : rows) row.role = callers ? "caller" : "callee";
  SortBy(graph.width > 0 ? AllOf : CallsOf, rows);
  for (MethodRow& row : SumsBy(graph, itself)) {
    row.role = "method";
    rows.insert(rows.begin(), std::move(row));
  }
  PrintRows(
      graph, callers ? "callers" : "callees", std::move(rows), limit + 1,
      [](const MethodRow& row) { return row.role; }, format, out);
}

}  // namespace jprof::reports::assistant
