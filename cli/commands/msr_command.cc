// `jprof msr`: prints model-specific registers of x86 processors.
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/shared/choices.h"
#include "cli/shared/commands.h"
#include "cli/shared/usage_error.h"
#include "ptm/msr/device.h"
#include "reports/print/columns.h"
#include "reports/print/formats.h"

namespace jprof::cli {
namespace {

using ptm::MsrReading;
using ptm::MsrRegister;
using ptm::NamedRegister;
using reports::kCsv;
using reports::kJson;
using reports::kPeople;
using reports::Value;

constexpr char kMsrFooter[] =
    R"(Reads only; nothing is ever written to a register. Requires root (CAP_SYS_RAWIO) and the module
msr. A register that a processor refuses has no value, a line says so, and the exit status is 1.

Examples:
  sudo jprof msr APERF MPERF                   actual and base cycles of every processor
  sudo jprof msr --cpu 0-3,8 THERM_STATUS      of some processors
  sudo jprof msr 0x611 206                     by number: hexadecimal with 0x, or decimal
  sudo jprof msr --format csv PKG_ENERGY_STATUS
  jprof msr --list                             the names, and where they are documented)";

struct MsrArguments {
  std::vector<std::string> registers;
  std::string processors;
  std::string devices = ptm::kMsrDevices;
  std::string format = "text";
  bool list = false;
};

constexpr uint32_t kMostProcessors = 65536;

// Parses "7" and "0-3".
std::optional<std::pair<uint32_t, uint32_t>> ParseRange(std::string_view text) {
  const char* end = text.data() + text.size();
  uint32_t first = 0;
  auto [at, error] = std::from_chars(text.data(), end, first);
  if (error != std::errc()) return std::nullopt;
  uint32_t last = first;
  if (at != end && *at == '-') {
    const auto [stop, wrong] = std::from_chars(at + 1, end, last);
    if (wrong != std::errc()) return std::nullopt;
    at = stop;
  }
  if (at != end || last < first || last >= kMostProcessors) return std::nullopt;
  return std::pair(first, last);
}

// Parses "0-3,8". Fails with kWrongUse.
Result<std::vector<uint32_t>> ParseProcessors(std::string_view list) {
  std::vector<uint32_t> processors;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    const auto range = ParseRange(list.substr(begin, end - begin));
    if (!range) return WrongUse("--cpu '{}': give processors as in 0-3,8", list);
    for (uint32_t one = range->first; one <= range->second; ++one) processors.push_back(one);
    begin = end + 1;
  }
  std::ranges::sort(processors);
  const auto twice = std::ranges::unique(processors);
  processors.erase(twice.begin(), twice.end());
  return processors;
}

// Returns the processors of --cpu, by default all. Fails with kWrongUse for one that is not there.
Result<std::vector<uint32_t>> ChosenProcessors(const MsrArguments& arguments) {
  const std::vector<uint32_t> all = ptm::MsrProcessors(arguments.devices);
  if (arguments.processors.empty()) return all.empty() ? std::vector<uint32_t>{0} : all;
  const auto chosen = ParseProcessors(arguments.processors);
  if (!chosen || all.empty()) return chosen;
  for (const uint32_t one : *chosen) {
    if (!std::ranges::binary_search(all, one))
      return WrongUse("--cpu: there is no processor {}; {} has {}", one, arguments.devices,
                      fmt::join(all, ", "));
  }
  return chosen;
}

Result<std::vector<MsrRegister>> ChosenRegisters(const MsrArguments& arguments) {
  if (arguments.registers.empty())
    return WrongUse("give a register, such as `jprof msr TSC`; `jprof msr --list` names them");
  std::vector<MsrRegister> registers;
  for (const std::string& text : arguments.registers) {
    auto one = ptm::ParseRegister(text);
    if (!one) return std::unexpected(one.error());
    registers.push_back(*std::move(one));
  }
  return registers;
}

// Prints a table whose columns in text are as wide as their values.
template <typename Row>
Result<void> PrintTable(reports::Columns<Row> columns, const std::vector<Row>& rows,
                        reports::Format format, std::string_view key) {
  columns.FitWidths(rows);
  reports::Output out(stdout);
  const reports::Layout layout = {.rows = key, .gap = 2};
  const auto writer = reports::EntryOf(format).make(layout, out);
  writer->Begin(columns.columns());
  for (const Row& row : rows) writer->Row(columns.Of(row));
  writer->End();
  return out.Finish();
}

struct ReadingRow {
  const MsrReading& reading;
  std::string number, hex;
};

std::string HexOf(const MsrReading& reading) {
  return reading.value ? fmt::format("0x{:016x}", *reading.value) : "";
}

Value HexValue(const ReadingRow& row) {
  return row.hex.empty() ? Value::Missing() : Value::Text(row.hex);
}

reports::Columns<ReadingRow> ReadingColumns(reports::View view) {
  reports::Columns<ReadingRow> columns(view);
  const auto add = [&](const char* title, const char* key, auto get) {
    columns.Add(kPeople, {title}, get);
    columns.Add(kCsv | kJson, {key}, get);
  };
  add("CPU", "cpu", [](const ReadingRow& row) { return Value::Integer(row.reading.processor); });
  add("REGISTER", "register",
      [](const ReadingRow& row) { return Value::Text(row.reading.of.name); });
  add("NUMBER", "number", [](const ReadingRow& row) { return Value::Text(row.number); });
  add("HEX", "hex", HexValue);
  add("DECIMAL", "decimal", [](const ReadingRow& row) {
    return row.reading.value ? Value::Integer(*row.reading.value) : Value::Missing();
  });
  return columns;
}

Result<int> PrintReadings(const std::vector<MsrReading>& readings, reports::Format format) {
  std::vector<ReadingRow> rows;
  for (const MsrReading& one : readings)
    rows.push_back({one, fmt::format("0x{:x}", one.of.number), HexOf(one)});
  const auto printed =
      PrintTable(ReadingColumns(reports::EntryOf(format).view), rows, format, "registers");
  if (!printed) return std::unexpected(printed.error());
  int status = 0;
  for (const MsrReading& one : readings) {
    if (one.value) continue;
    PrintError(one.value.error().message);
    status = 1;
  }
  return status;
}

struct NameRow {
  const NamedRegister& of;
  std::string number;
};

reports::Columns<NameRow> NameColumns(reports::View view) {
  reports::Columns<NameRow> columns(view);
  columns.Add(kCsv | kJson, {"number"}, [](const NameRow& row) { return Value::Text(row.number); });
  columns.Add(kCsv | kJson, {"name"}, [](const NameRow& row) { return Value::Text(row.of.name); });
  columns.Add(kCsv | kJson, {"documented"},
              [](const NameRow& row) { return Value::Text(row.of.documented); });
  columns.Add(kCsv | kJson, {"meaning"},
              [](const NameRow& row) { return Value::Text(row.of.meaning); });
  return columns;
}

Result<int> PrintNames(reports::Format format) {
  if (format == reports::Format::kText) {
    static constexpr char kLine[] = "{:<10}  {:<20}  {:<42}  {}\n";
    fmt::print(kLine, "NUMBER", "NAME", "DOCUMENTED AS", "MEANING");
    for (const NamedRegister& one : ptm::NamedRegisters())
      fmt::print(kLine, fmt::format("0x{:x}", one.number), one.name, one.documented, one.meaning);
    return 0;
  }
  std::vector<NameRow> rows;
  for (const NamedRegister& one : ptm::NamedRegisters())
    rows.push_back({one, fmt::format("0x{:x}", one.number)});
  return StatusOf(
      PrintTable(NameColumns(reports::EntryOf(format).view), rows, format, "registers"));
}

Result<int> Msr(const MsrArguments& arguments) {
  const auto format = ChooseFormat(arguments.format);
  if (!format) return std::unexpected(format.error());
  if (arguments.list) return PrintNames(*format);
  const auto registers = ChosenRegisters(arguments);
  if (!registers) return std::unexpected(registers.error());
  const auto processors = ChosenProcessors(arguments);
  if (!processors) return std::unexpected(processors.error());
  const auto readings = ptm::ReadRegisters(arguments.devices, *processors, *registers);
  if (!readings) return std::unexpected(readings.error());
  return PrintReadings(*readings, *format);
}

}  // namespace

Action MsrCommand(CommandLine line, const Command&) {
  auto arguments = std::make_shared<MsrArguments>();
  line.Footer(kMsrFooter);
  MsrArguments& a = *arguments;
  line.Option("REGISTER", a.registers, "",
              "Registers: names of --list, or numbers, hexadecimal with 0x or decimal");
  line.Option("--cpu", a.processors, "LIST", "Processors, as in 0-3,8; default: all");
  line.Flag("--list", a.list, "Print the registers that have a name");
  line.Option("--format", a.format, "text|json|csv", "text (default), json or csv");
  line.Option("--devices", a.devices, "DIR",
              "Folder with the devices N/msr, for example that of the host in a container; default "
              "/dev/cpu");
  return [arguments] { return Msr(*arguments); };
}

}  // namespace jprof::cli
