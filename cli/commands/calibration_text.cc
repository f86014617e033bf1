#include "cli/commands/calibration_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "profile/files/printable_text.h"
#include "record/run/interrupt_cost.h"
#include "reports/print/columns.h"
#include "reports/print/formats.h"

namespace jprof::cli {
namespace {

using calibrate::Metric;
using calibrate::Overhead;
using calibrate::Probe;
using profile::CleanText;
using reports::Value;

// A row of a table: what it is about, and the values of the calibration.
template <typename Values>
struct NamedRow {
  std::string name;  // as wide as its column
  const Values& values;
};

std::string NameCell(std::string_view name) { return fmt::format("{:<12}", name); }

template <typename Row>
void PrintRows(reports::Columns<Row>& columns, const std::vector<Row>& rows, reports::Output& out) {
  const reports::Layout layout = {.gap = 0};
  const auto writer = reports::MakeTextWriter(layout, out);
  writer->Begin(columns.columns());
  for (const Row& row : rows) writer->Row(columns.Of(row));
  writer->End();
}

// Prints the overheads of the transitions. A raw unit is `scale` of the printed ones.
void PrintTransitions(const Metric& metric, double scale, reports::Output& out) {
  using Row = NamedRow<Overhead>;
  std::vector<Row> rows;
  for (const auto& [key, value] : metric.keys) rows.push_back({NameCell(ToString(key)), value});
  reports::Columns<Row> columns(reports::kPeople);
  columns.Add(reports::kPeople, {NameCell("TRANSITION")},
              [](const Row& row) { return Value::Text(row.name); });
  columns.Add(reports::kPeople, {"COUNT", 9},
              [](const Row& row) { return Value::Integer(row.values.count); });
  const auto add = [&](const char* head, int width, double Overhead::*member) {
    columns.Add(reports::kPeople, {head, width}, [member, scale](const Row& row) {
      return Value::Fixed(row.values.*member * scale, 2);
    });
  };
  add("OBSERVED", 10, &Overhead::observed);
  add("TRUTH", 8, &Overhead::truth);
  add("OVERHEAD", 10, &Overhead::overhead);
  add("SPREAD", 8, &Overhead::spread);
  add("REPEAT", 8, &Overhead::repeat);
  add("CONTEXT", 8, &Overhead::context);
  add("LESS", 8, &Overhead::less);
  add("MORE", 8, &Overhead::more);
  if (std::ranges::any_of(rows, [](const Row& row) { return row.values.instructions > 0; }))
    columns.Add(reports::kPeople, {"INSTR", 8},
                [](const Row& row) { return Value::Fixed(row.values.instructions, 0); });
  PrintRows(columns, rows, out);
}

// Prints what the probes of each kind of code take by themselves.
void PrintProbes(const Metric& metric, reports::Output& out) {
  using Row = NamedRow<Probe>;
  if (metric.probes.empty()) return;
  std::vector<Row> rows;
  for (const auto& [type, probe] : metric.probes) rows.push_back({NameCell({&type, 1}), probe});
  reports::Columns<Row> columns(reports::kPeople);
  columns.Add(reports::kPeople, {NameCell("PROBES OF")},
              [](const Row& row) { return Value::Text(row.name); });
  const auto add = [&](const char* head, double Probe::*member) {
    columns.Add(reports::kPeople, {head, 10},
                [member](const Row& row) { return Value::Fixed(row.values.*member, 2); });
  };
  add("ENTRY IN", &Probe::enter_in);
  add("ENTRY OUT", &Probe::enter_out);
  add("EXIT IN", &Probe::exit_in);
  add("EXIT OUT", &Probe::exit_out);
  add("ARGUMENT", &Probe::argument);
  add("RESULT", &Probe::result);
  PrintRows(columns, rows, out);
}

// Prints the mean of all transitions, weighted by their counts.
void PrintMean(const Metric& metric, double scale, reports::Output& out) {
  double overhead = 0, repeat = 0, count = 0;
  for (const auto& [key, value] : metric.keys) {
    const auto weight = static_cast<double>(value.count);
    overhead += weight * value.overhead;
    repeat += weight * value.repeat;
    count += weight;
  }
  if (count > 0) {
    out.Print("{:<12}{:>9}{:>10}{:>8}{:>10.2f}{:>8}{:>8.2f}\n", "all", "", "", "",
              overhead / count * scale, "", repeat / count * scale);
  }
}

// Prints overheads in `unit`. A raw unit is `scale` of them.
void PrintMetric(const Metric& metric, double scale, std::string_view unit, reports::Output& out) {
  out.Print("{} (in {}; read in steps of {:.1f})\n", CleanText(metric.name), CleanText(unit),
            metric.granularity * scale);
  PrintTransitions(metric, scale, out);
  PrintProbes(metric, out);
  PrintMean(metric, scale, out);
}

}  // namespace

void PrintTable(const calibrate::StoredTable& stored, reports::Output& out) {
  out.Print("{}, made {}\n", CleanText(stored.path.string()), CleanText(stored.table.made_at));
  for (const auto& [part, value] : stored.table.fingerprint)
    out.Print("  {}: {}\n", CleanText(part), CleanText(value));
  for (const Metric& metric : stored.table.metrics)
    PrintMetric(metric, 1, metric.unit == "ns" ? "clock ticks" : metric.unit, out);
}

void PrintCalibration(const record::CalibrationResult& done, const calibrate::Plan& plan,
                      reports::Output& out) {
  const calibrate::Trained& trained = done.trained;
  for (const Metric& metric : trained.table.metrics)
    PrintMetric(metric, metric.unit == "ns" ? trained.scale : 1, metric.unit, out);
  out.Text("\n");
  for (const auto& check : trained.checks) {
    out.Print(
        "Check: with the table of the first training, the programs of the second one have an error "
        "of {:+.2f} {} per event{};\n       it differs by {:.2f} between programs.\n",
        check.left, check.unit, trained.checks.size() > 1 ? " of " + check.metric : "",
        check.spread);
  }
  if (done.traced) {
    out.Print(
        "INSTR: the least number of instructions of the transition itself, traced without "
        "probes; {} overheads\n       were lowered because their transition takes at least "
        "the time of these.\n",
        done.lowered);
  }
  if (done.interrupt)
    out.Print("A timer interrupt costs {}\n", record::InterruptText(*done.interrupt));
  else
    out.Print("The cost of a timer interrupt was not measured: {}\n",
              done.interrupt.error().message);
  const bool java = plan.hook_trainer.empty();
  out.Print("Table: {} ({:.0f} s, {})\n", done.path.string(), done.seconds,
            (java ? plan.java : plan.hook_trainer).string());
  out.Print("Next:  jprof callflow -- {} ...   then   jprof report log-rt\n",
            java ? "java" : "program");
}

}  // namespace jprof::cli
