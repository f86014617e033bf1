#include "reports/scale/scale_columns.h"

#include <fmt/format.h>

#include "reports/print/estimate_text.h"

namespace jprof::reports {
namespace {

constexpr std::string_view kForms[] = {"constant", "power", "logarithmic"};  // Scaling::Form

void AddText(const model::ScaleView& view, ScaleColumns& columns) {
  const auto percent = [&](const char* name, double model::ScaleRow::*share) {
    columns.Add(kPeople, {name, 5}, [share](const ShownScale& shown) {
      return Value::Fixed(100 * (shown.row.*share), 1);
    });
  };
  percent("%10N", &model::ScaleRow::share_farther);
  percent("%", &model::ScaleRow::share);
  const auto text = [&](Column column, std::string ShownScale::*member) {
    columns.Add(kPeople, std::move(column), [member](const ShownScale& shown) {
      const std::string& of = shown.*member;
      return of.empty() ? Value::Missing() : Value::Text(of);
    });
  };
  text({"CALLS~", 9}, &ShownScale::law);
  if (view.has_times) {
    text({"TIME~", 6}, &ShownScale::exponent);
    text({"+-", 5}, &ShownScale::arm);
  }
  columns.Add(kPeople, {"CALLS", 13}, [](const ShownScale& shown) {
    return Value::Integer(static_cast<uint64_t>(shown.row.calls.back()));
  });
  if (view.has_times) {
    columns.Add(kPeople, {.name = "SELF", .width = 8, .spare = 1}, [](const ShownScale& shown) {
      const model::Estimate& time = shown.row.times.back();
      const bool is_bound = time.high > 2 * time.value;
      return is_bound ? Value::DurationBelow(time.high) : Value::Duration(time.value);
    });
  }
  text({"NAME"}, &ShownScale::name);
}

// Adds a list of one value for each size: in CSV a column for each.
template <typename Get>
void AddList(const model::ScaleView& view, const std::string& name, const Get& get,
             ScaleColumns& columns) {
  const size_t count = view.sizes.size();
  columns.Add(kJson, {.name = name, .shape = Column::Shape::kList, .cells = count},
              [get](const ShownScale& shown, size_t size) { return get(shown.row, size); });
  for (size_t i = 0; i < count; ++i) {
    columns.Add(kCsv, {fmt::format("{}_{:.0f}", name, view.sizes[i])},
                [get, i](const ShownScale& shown) { return get(shown.row, i); });
  }
}

// Adds a number that may be missing.
template <typename Get>
void AddNumber(const char* name, const Get& get, ScaleColumns& columns) {
  columns.Add(kCsv | kJson, {name}, [get](const ShownScale& shown) {
    const std::optional<double> number = get(shown.row);
    return number ? Value::Fixed(*number, 6) : Value::Missing();
  });
}

void AddData(const model::ScaleView& view, ScaleColumns& columns) {
  using model::ScaleRow;
  constexpr unsigned kData = kCsv | kJson;
  columns.Add(kData, {"level"},
              [](const ShownScale& shown) { return Value::Integer(shown.row.is_part ? 1 : 0); });
  columns.Add(kData, {"contexts"},
              [](const ShownScale& shown) { return Value::Integer(shown.row.contexts); });
  columns.Add(kData, {"law"}, [](const ShownScale& shown) {
    const auto& law = shown.row.law;
    return law ? Value::Text(kForms[static_cast<size_t>(law->form)]) : Value::Missing();
  });
  columns.Add(kData, {"calls_grow"}, [](const ShownScale& shown) {
    return shown.row.law ? Value::Text(shown.law) : Value::Missing();
  });
  const auto of_law = [&](const char* name, double model::Scaling::*member) {
    const auto get = [member](const ScaleRow& row) {
      return row.law ? std::optional((*row.law).*member) : std::nullopt;
    };
    AddNumber(name, get, columns);
  };
  of_law("exponent", &model::Scaling::exponent);
  of_law("misfit", &model::Scaling::misfit);
  const auto of_time = [&](const char* name, double model::Estimate::*member) {
    const auto get = [member](const ScaleRow& row) {
      return row.time_exponent ? std::optional((*row.time_exponent).*member) : std::nullopt;
    };
    AddNumber(name, get, columns);
  };
  of_time("time_exponent", &model::Estimate::value);
  of_time("time_exponent_low", &model::Estimate::low);
  of_time("time_exponent_high", &model::Estimate::high);
  AddNumber(
      "share", [](const ScaleRow& row) { return std::optional(row.share); }, columns);
  AddNumber(
      "share_at_10n", [](const ScaleRow& row) { return std::optional(row.share_farther); },
      columns);
  const auto calls = [](const ScaleRow& row, size_t size) {
    return Value::Integer(static_cast<uint64_t>(row.calls[size]));
  };
  AddList(view, "calls", calls, columns);
  if (view.has_times) {
    const auto list = [&](const char* name, double model::Estimate::*member) {
      const auto get = [member](const ScaleRow& row, size_t size) {
        return Value::Fixed(row.times[size].*member, 0);
      };
      AddList(view, name, get, columns);
    };
    list("time_ns", &model::Estimate::value);
    list("time_ns_low", &model::Estimate::low);
    list("time_ns_high", &model::Estimate::high);
  }
  columns.Add(kData, {"name"}, [](const ShownScale& shown) { return Value::Text(shown.name); });
  columns.Add(kData, {"callers"}, [](const ShownScale& shown) {
    return shown.row.context == model::kNoNode ? Value::Missing() : Value::Text(shown.callers);
  });
}

}  // namespace

ScaleColumns ColumnsOf(const model::ScaleView& view, const Options& options) {
  ScaleColumns columns(EntryOf(options.format).view);
  AddText(view, columns);
  AddData(view, columns);
  return columns;
}

}  // namespace jprof::reports
