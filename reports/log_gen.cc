// log-gen: the trace, entries and exits in order (docs/REPORTS.md).
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "profile/reader_trace.h"
#include "reports/header.h"
#include "reports/report_list.h"

namespace jprof::reports {
namespace {

// Takes the trained cost out of each line, which needs the methods around it: a shadow stack a
// thread. A single interval cannot fall below what the transition really costs, so lines are
// clamped there.
class LineCorrector {
 public:
  explicit LineCorrector(const calibrate::Metric* metric) : metric_(metric) {}

  // The event's value in raw units; `letter` is its method's. Call for every event, in order.
  double Value(const profile::TraceEvent& event, char letter) {
    Strand& strand = strands_[event.thread];
    if (event.missing > 0) strand = {};
    const char top = strand.stack.empty() ? Letter(MethodType::kThread) : strand.stack.back();
    calibrate::Key key = {strand.previous, top, EventKind::kEntry, letter};
    if (event.exit) {
      if (!strand.stack.empty()) strand.stack.pop_back();
      const char parent = strand.stack.empty() ? Letter(MethodType::kThread) : strand.stack.back();
      key = {strand.previous, letter, EventKind::kExit, parent};
    } else {
      strand.stack.push_back(letter);
    }
    strand.previous = key.event;
    const double delta = static_cast<double>(event.delta);
    if (metric_ == nullptr) return delta;
    const calibrate::Overhead& cost = Cost(key);
    return std::max(delta - cost.overhead, cost.truth);
  }

 private:
  struct Strand {
    std::string stack;  // letters
    EventKind previous = EventKind::kEntry;
  };

  const calibrate::Overhead& Cost(const calibrate::Key& key) {
    const uint32_t packed = static_cast<uint32_t>(key.previous) << 17 |
                            static_cast<uint32_t>(key.event) << 16 |
                            static_cast<uint32_t>(static_cast<uint8_t>(key.running)) << 8 |
                            static_cast<uint8_t>(key.other);
    const auto [known, is_new] = known_.try_emplace(packed);
    if (is_new) known->second = Lookup(*metric_, key).value;
    return known->second;
  }

  const calibrate::Metric* metric_;
  std::unordered_map<uint32_t, Strand> strands_;
  std::unordered_map<uint32_t, calibrate::Overhead> known_;
};

// One event, ready to print.
struct Line {
  int64_t value = 0;
  bool exit = false;
  char type = '?';
  std::string_view name;
  const profile::Thread& thread;
  uint64_t missing = 0;
};

void PrintTextLine(const Line& line, Output& out) {
  if (line.missing > 0)
    out.Print("{:8} ? ({} events are missing here) {}\n", 0, line.missing, line.thread.name);
  out.Print("{:8} {} {}:{} {}\n", line.value, line.exit ? '<' : '>', line.type, line.name,
            line.thread.name);
}

void PrintJsonLine(const Line& line, Output& out) {
  out.Print("{{\"tid\":{},\"thread\":", line.thread.record.tid);
  out.JsonString(line.thread.name);
  out.Print(",\"event\":\"{}\",\"type\":\"{}\",\"name\":", line.exit ? "exit" : "entry", line.type);
  out.JsonString(line.name);
  out.Print(",\"delta\":{},\"missing_before\":{}}}", line.value, line.missing);
}

void PrintCsvLine(const Line& line, Output& out) {
  out.Print("{},", line.thread.record.tid);
  out.CsvField(line.thread.name);
  out.Print(",{},{},{},{},", line.exit ? "exit" : "entry", line.type, line.value, line.missing);
  out.CsvField(line.name);
  out.Text("\n");
}

// The metric lines are in; what calltree-like traces without one count in is nothing: 0.
struct Unit {
  profile::Metric info;
  const calibrate::Metric* table = nullptr;
};

Unit FirstMetric(const Source& source) {
  const auto& metrics = source.reader.meta().metrics;
  Unit unit;
  if (!metrics.empty()) unit.info = metrics.front();
  if (source.table) unit.table = source.table->Find(unit.info.name);
  return unit;
}

void Begin(const Source& source, const Unit& unit, const Options& options, Output& out) {
  if (options.format == Format::kCsv)
    return out.Text("tid,thread,event,type,delta,missing_before,name\n");
  if (options.format == Format::kJson) {
    out.Text("{");
    JsonRun(source, "log-gen", out);
    out.Text(",\"metrics\":[{\"name\":");
    out.JsonString(unit.info.name);
    out.Text(",\"unit\":");
    out.JsonString(unit.info.unit);
    return out.Print(",\"calibrated\":{}}}],\"events\":[", unit.table != nullptr);
  }
  PrintRun(source, "log-gen", out);
  const std::string how = unit.table != nullptr
                              ? "calibrated with " + source.table_from +
                                    ", each line at least what the transition really costs"
                          : source.table ? "UNCALIBRATED: no costs for it in " + source.table_from
                                         : "UNCALIBRATED: " + source.uncalibrated;
  out.Print(" metric    {} in {}, {}\n", unit.info.name, unit.info.unit, how);
  out.Text(
      " legend    change of the metric since the thread's event before, > entry or < exit, method, "
      "thread\n\n");
}

void End(const Source& source, uint64_t events, const Options& options, Output& out) {
  if (options.format == Format::kCsv) return;
  if (options.format == Format::kText) {
    out.Print("\n {} events\n", events);
    return PrintLosses(source, out);
  }
  out.Text("\n],");
  JsonLosses(source, out);
  out.Print(",\"event_count\":{}}}\n", events);
}

}  // namespace

Result<void> PrintLogGen(Source& source, const Options& options, Output& out) {
  if (options.format == Format::kCollapsed)
    return WrongUse("log-gen has no stacks to collapse: use log-rt or scs");
  const Unit unit = FirstMetric(source);
  Names names(source.reader.ReadMethods());
  LineCorrector corrector(unit.table);
  uint64_t events = 0;
  const auto print = [&](const profile::TraceEvent& event) {
    if (events++ == 0) Begin(source, unit, options, out);
    const uint32_t method = profile::MethodOf(event.word);
    const double value = corrector.Value(event, KeyLetter(event.word, names)) * unit.info.scale;
    const Line line = {
        Rounded(value),
        event.exit,
        Letter(profile::TypeOf(event.word), options.static_letters && names.IsStatic(method)),
        names.Of(method),
        source.reader.threads()[event.thread],
        event.missing};
    switch (options.format) {
      case Format::kText:
        PrintTextLine(line, out);
        break;
      case Format::kJson:
        out.Text(events > 1 ? ",\n" : "\n");
        PrintJsonLine(line, out);
        break;
      default:
        PrintCsvLine(line, out);
        break;
    }
    return out.ok();
  };
  const Result<void> read = profile::ReadTrace(source.reader, print);
  if (!read) return read;
  if (events == 0) Begin(source, unit, options, out);
  End(source, events, options, out);
  return {};
}

}  // namespace jprof::reports
