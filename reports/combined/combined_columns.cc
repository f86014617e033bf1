#include "reports/combined/combined_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace jprof::reports {
namespace {

int CallsWidth(const model::CombinedTree& tree) {
  uint64_t most = 0;  // of a row that stands for all others
  for (const model::CombinedContext& context : tree.contexts) most += context.calls;
  return std::max(5, static_cast<int>(fmt::formatted_size("{}", most)));
}

void AddText(CombinedColumns& columns, int calls_width) {
  columns.Add(kPeople, {"LV", 2}, [](const CombinedRow& row) { return Value::Integer(row.level); });
  columns.Add(kPeople, {"CALLS", calls_width}, [](const CombinedRow& row) {
    const bool countable = row.hidden > 0 ? row.counted : row.is_java && row.level > 0;
    return countable ? Value::Integer(row.calls) : Value::Missing();
  });
  columns.Add(kPeople, {.name = "SAMPLES", .width = 7, .spare = 2}, [](const CombinedRow& row) {
    return Value::Signed(model::Rounded(model::Sum(row.samples)));
  });
}

// Returns the name behind its letter, indented, and behind the number of folded callers ("+3 ").
std::string ShownName(const CombinedRow& row) {
  std::string name = Before(row.place);
  if (row.hidden > 0) return name + RestName(row.hidden);
  return name.append({row.type, ':'}).append(row.shown_name);
}

void AddTextValues(CombinedColumns& columns, CombinedTexts& texts) {
  columns.Add(kPeople, {"SELF", 8}, [&texts](const CombinedRow& row) {
    return Value::Text(texts.time = ValueText(row.own_time()));
  });
  columns.Add(kPeople, {"CUM", 8}, [&texts](const CombinedRow& row) {
    return Value::Text(texts.all = ValueText(row.all_time()));
  });
  columns.Add(kPeople, {"+-", 8}, [&texts](const CombinedRow& row) {
    return Value::Text(texts.half = ArmText(row.all_time()));
  });
  columns.Add(kPeople, {"%", 5},
              [](const CombinedRow& row) { return Value::Fixed(100 * row.times.share.value, 1); });
  columns.Add(kPeople, {"CUM/CALL", 9}, [&texts](const CombinedRow& row) {
    if (!row.has_calls()) return Value::Missing();
    texts.per_call = row.outermost_calls ? "" : kPerEntry;
    return Value::Text(texts.per_call += ValueText(OfOneCall(row.all_time(), row.divisor())));
  });
  columns.Add(kPeople, {.name = "+-", .width = 8, .spare = 1}, [&texts](const CombinedRow& row) {
    if (!row.has_calls()) return Value::Text("");
    return Value::Text(texts.per_call_half = ArmText(OfOneCall(row.all_time(), row.divisor())));
  });
  columns.Add(kPeople, {"NAME"}, [&texts](const CombinedRow& row) {
    return Value::Text(texts.name = ShownName(row));
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
    return row.hidden > 0 ? Value::Missing() : Value::Fixed(row.estimated_time, 0);
  });
  columns.Add(kData, {"estimated_cum_ns"}, [](const CombinedRow& row) {
    return row.hidden > 0 ? Value::Missing() : Value::Fixed(row.estimated_all, 0);
  });
  AddEstimate(columns, "share", false, 6, [](const CombinedRow& row) { return row.times.share; });
  columns.Add(kData, {"outermost_calls"}, [](const CombinedRow& row) {
    return row.outermost_calls && row.is_java && row.level > 0 && row.hidden == 0
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

}  // namespace

void AddCombinedColumns(const model::CombinedView& view, CombinedTexts& texts,
                        CombinedColumns& columns) {
  AddData(columns, view.tree);
  AddText(columns, CallsWidth(view.tree));
  AddTextValues(columns, texts);
}

}  // namespace jprof::reports
