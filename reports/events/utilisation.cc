#include "model/events/stretch_sums.h"
#include "model/values/statistics.h"
#include "reports/events/events_head.h"
#include "reports/events/timeline.h"
#include "reports/print/formats.h"
#include "reports/print/units.h"

namespace jprof::reports {
namespace {

// What the columns see of a processor in an interval.
struct BusyRow {
  uint64_t begin, end;
  uint32_t processor;
  const model::ProcessorSums& sums;
  bool has_calls;

  Value Percent(uint64_t part) const {
    return Value::Fixed(model::PercentOf(part, sums.total()), 1);
  }
};

void AddBusyColumns(bool has_gaps, Columns<BusyRow>& columns) {
  constexpr unsigned kData = kCsv | kJson;
  columns.Add(kPeople, {"FROM", 8},
              [](const BusyRow& row) { return Value::Duration(static_cast<double>(row.begin)); });
  columns.Add(kPeople, {"TO", 8},
              [](const BusyRow& row) { return Value::Duration(static_cast<double>(row.end)); });
  columns.Add(kData, {"begin_ns"}, [](const BusyRow& row) { return Value::Integer(row.begin); });
  columns.Add(kData, {"end_ns"}, [](const BusyRow& row) { return Value::Integer(row.end); });
  columns.Add(kPeople, {"CPU", 4},
              [](const BusyRow& row) { return Value::Integer(row.processor); });
  columns.Add(kData, {"processor"},
              [](const BusyRow& row) { return Value::Integer(row.processor); });
  columns.Add(kPeople, {"IDLE%", 6}, [](const BusyRow& row) { return row.Percent(row.sums.idle); });
  columns.Add(kPeople, {"USER%", 6}, [](const BusyRow& row) {
    return row.has_calls ? row.Percent(row.sums.threads - row.sums.kernel) : Value::Missing();
  });
  columns.Add(kPeople, {"KERNEL%", 7}, [](const BusyRow& row) {
    return row.has_calls ? row.Percent(row.sums.kernel) : Value::Missing();
  });
  columns.Add(kPeople, {"THREADS%", 8},
              [](const BusyRow& row) { return row.Percent(row.sums.threads); });
  columns.Add(kPeople, {"INTR%", 6},
              [](const BusyRow& row) { return row.Percent(row.sums.interrupts); });
  if (has_gaps)
    columns.Add(kPeople, {"UNSEEN%", 7},
                [](const BusyRow& row) { return row.Percent(row.sums.unknown); });
  columns.Add(kData, {"idle_ns"}, [](const BusyRow& row) { return Value::Integer(row.sums.idle); });
  columns.Add(kData, {"threads_ns"},
              [](const BusyRow& row) { return Value::Integer(row.sums.threads); });
  columns.Add(kData, {"kernel_ns"}, [](const BusyRow& row) {
    return row.has_calls ? Value::Integer(row.sums.kernel) : Value::Missing();
  });
  columns.Add(kData, {"interrupts_ns"},
              [](const BusyRow& row) { return Value::Integer(row.sums.interrupts); });
  columns.Add(kData, {"unseen_ns"},
              [](const BusyRow& row) { return Value::Integer(row.sums.unknown); });
  columns.Add(kPeople, {"DISP", 8},
              [](const BusyRow& row) { return Value::Integer(row.sums.dispatches); });
  columns.Add(kPeople, {"INTRS", 8},
              [](const BusyRow& row) { return Value::Integer(row.sums.interrupt_count); });
  columns.Add(kData, {"dispatches"},
              [](const BusyRow& row) { return Value::Integer(row.sums.dispatches); });
  columns.Add(kData, {"interrupts"},
              [](const BusyRow& row) { return Value::Integer(row.sums.interrupt_count); });
}

constexpr uint64_t kIntervals = 10;  // of the whole recording

}  // namespace

Result<void> PrintUtilisation(model::RecordedEvents& events, const Options& options, Output& out) {
  const model::Stretches& stretches = events.stretches;
  const Layout layout = {
      .head = {.text =
                   [&](Output& text) {
                     EventsHead(events, "utilisation", options.width, text);
                     text.Text("\n");
                   },
               .json = [&](JsonWriter& json) { EventsJson(events, "utilisation", json); }},
      .rows = "intervals",
      .width = options.width,
      .legend = options.legend};
  const auto writer = EntryOf(options.format).make(layout, out);
  Columns<BusyRow> columns(EntryOf(options.format).view);
  AddBusyColumns(!stretches.gaps.empty(), columns);
  writer->Begin(columns.columns());
  const auto add = [&](uint64_t begin, uint64_t end) {
    const auto sums = model::SumProcessors(stretches, begin, end);
    for (uint32_t i = 0; i < sums.size(); ++i) {
      if (sums[i].total() != 0)
        writer->Row(
            columns.Of({begin, end, i, sums[i], stretches.has_calls && events.meta.whole_machine}));
    }
  };
  for (uint64_t i = 0; i < kIntervals; ++i)
    add(stretches.duration * i / kIntervals, stretches.duration * (i + 1) / kIntervals);
  if (options.for_people()) add(0, stretches.duration);
  writer->End();
  return {};
}

}  // namespace jprof::reports
