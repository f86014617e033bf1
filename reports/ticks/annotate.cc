// Prints the instructions of a symbol, with the ticks beside each.
#include "reports/ticks/annotate.h"

#include <algorithm>
#include <map>

#include "model/ticks/disassembler.h"
#include "model/values/statistics.h"
#include "profile/files/printable_text.h"
#include "reports/ticks/tprof.h"

namespace jprof::reports {
namespace {

using profile::CleanText;

struct Symbol {
  a2n::Place place;
  uint32_t pid = 0;
  uint64_t time = 0;
  size_t ticks = 0;
  std::map<uint64_t, size_t> at;  // from offset to ticks
  uint32_t module = 0, name = 0;  // in TickTable::names
};

// Returns the symbols whose name contains `wanted`, the most ticks first. A method that was
// compiled twice has two entries.
std::vector<Symbol> SymbolsWith(model::Recording& recording, const model::TickTable& table,
                                std::string_view wanted) {
  std::map<std::pair<uint32_t, uint64_t>, std::map<const void*, Symbol>> found;
  for (const model::Tick& tick : table.ticks) {
    if (table.names[tick.symbol].find(wanted) == std::string::npos) continue;
    const a2n::Place place = recording.resolver->Resolve(tick.pid, tick.address, tick.time);
    Symbol& symbol = found[{tick.pid, place.symbol_start}][place.jitted];
    if (symbol.ticks++ == 0) {
      symbol.place = place;
      symbol.pid = tick.pid;
      symbol.time = tick.time;
      symbol.module = tick.module;
      symbol.name = tick.symbol;
    }
    ++symbol.at[place.offset];
  }
  std::vector<Symbol> symbols;
  for (auto& [start, versions] : found) {
    for (auto& [jitted, symbol] : versions) symbols.push_back(std::move(symbol));
  }
  std::ranges::stable_sort(symbols,
                           [](const Symbol& a, const Symbol& b) { return a.ticks > b.ticks; });
  return symbols;
}

void PrintOne(model::Recording& recording, const Symbol& symbol,
              const model::Disassembler& disassembler, size_t total, Output& out) {
  out.Bold(fmt::format("{} [{}] at {:x}: {} ticks, {:.2f} % of all\n",
                       CleanText(symbol.place.symbol), CleanText(symbol.place.module),
                       symbol.place.symbol_start, symbol.ticks,
                       model::PercentOf(symbol.ticks, total)));
  const std::vector<uint8_t> code =
      symbol.place.jitted != nullptr
          ? symbol.place.jitted->code
          : recording.resolver->Code(symbol.pid, symbol.place.symbol_start,
                                     symbol.place.symbol_size, symbol.time);
  if (code.empty()) {
    out.Print("  its instructions are not in the recording{}; ticks by offset:\n",
              symbol.place.jitted != nullptr ? " (record with --code)" : "");
    for (const auto& [offset, ticks] : symbol.at) out.Print("  {:>6}  +{:x}\n", ticks, offset);
    out.Text("\n");
    return;
  }
  model::SourceLines lines(recording, symbol.pid, symbol.time);
  out.Text("   TICKS      %  OFFSET  INSTRUCTION\n");
  disassembler.Visit(code, symbol.place.symbol_start, [&](const model::Instruction& instruction) {
    const uint64_t offset = instruction.address - symbol.place.symbol_start;
    size_t ticks = 0;
    for (auto at = symbol.at.lower_bound(offset);
         at != symbol.at.end() && at->first < offset + instruction.size; ++at) {
      ticks += at->second;
    }
    if (const std::string line = lines.At(instruction.address); !line.empty())
      out.Print("                         {}\n", line);
    const std::string share =
        ticks == 0 ? std::string(15, ' ')
                   : fmt::format("{:>8} {:>6.2f}", ticks, model::PercentOf(ticks, symbol.ticks));
    out.Print("{}  {:>6x}  {} {}\n", share, offset, instruction.mnemonic, instruction.operands);
  });
  out.Text("\n");
}

}  // namespace

Result<void> PrintAnnotated(model::Recording& recording, const model::TickTable& table,
                            std::string_view wanted, Output& out) {
  const std::vector<Symbol> symbols = SymbolsWith(recording, table, wanted);
  if (symbols.empty()) return WrongUse("no ticks in a symbol whose name contains '{}'", wanted);
  const model::Disassembler disassembler;
  if (auto usable = disassembler.Check(); !usable) return usable;
  for (const Symbol& symbol : symbols)
    PrintOne(recording, symbol, disassembler, table.ticks.size(), out);
  return {};
}

Result<void> AnnotateHottest(model::Recording& recording, const model::TickTable& table,
                             size_t most,
                             const std::function<void(const AnnotatedSymbol& symbol)>& visit) {
  const model::Disassembler disassembler;
  if (auto usable = disassembler.Check(); !usable) return usable;
  std::vector<Symbol> symbols = SymbolsWith(recording, table, "");
  symbols.resize(std::min(symbols.size(), most));
  for (const Symbol& symbol : symbols) {
    auto text = PrintedText([&](Output& out) -> Result<void> {
      PrintOne(recording, symbol, disassembler, table.ticks.size(), out);
      return {};
    });
    if (!text) return std::unexpected(text.error());
    visit({symbol.pid, symbol.module, symbol.name, *std::move(text)});
  }
  return {};
}

}  // namespace jprof::reports
