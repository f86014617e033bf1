// Prints recorded call chains: collapsed stacks for flame-graph tools, and who called a symbol.
#include <algorithm>
#include <map>

#include "model/values/statistics.h"
#include "profile/files/printable_text.h"
#include "reports/ticks/tprof.h"

namespace jprof::reports {
namespace {

// Returns "[libc.so.6]" where the symbol is not known. Replaces ';', which divides frames.
std::string FrameName(const a2n::Place& place) {
  const size_t base = place.module.rfind('/') + 1;
  std::string name = place.outcome == a2n::Outcome::kSymbol
                         ? profile::CleanText(place.symbol)
                         : fmt::format("[{}]", profile::CleanText(place.module.substr(base)));
  std::ranges::replace(name, ';', ':');
  return name;
}

// Returns the names of a tick's frames, innermost first, or only the one that was hit if there is
// no chain.
std::vector<std::string> FramesOf(model::Recording& recording, const model::Tick& tick) {
  const auto name = [&](uint64_t address) {
    const bool kernel = address >> 63 != 0;
    return FrameName(
        recording.resolver->Resolve(kernel ? a2n::kKernel : tick.owner, address, tick.time));
  };
  std::vector<std::string> frames = {name(tick.address)};
  // The chain begins with the tick's own address. The others are return addresses, which are behind
  // the calls.
  for (size_t i = 1; i < tick.chain.size(); ++i) frames.push_back(name(tick.chain[i] - 1));
  return frames;
}

struct Callers {
  size_t ticks = 0;  // with the symbol on the chain
  size_t own = 0;    // in the symbol itself
  std::map<std::string, size_t> by_name;
};

}  // namespace

void PrintCollapsed(model::Recording& recording, const model::TickTable& table, Output& out) {
  std::map<std::string, size_t> stacks;
  for (const model::Tick& tick : table.ticks) {
    std::string stack = table.names[tick.process];
    std::ranges::replace(stack, ';', ':');
    std::string thread = table.names[tick.thread];
    std::ranges::replace(thread, ';', ':');
    stack += ';' + thread;
    const std::vector<std::string> frames = FramesOf(recording, tick);
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) stack += ';' + *frame;
    ++stacks[stack];
  }
  for (const auto& [stack, ticks] : stacks) out.Print("{} {}\n", stack, ticks);
}

Result<void> PrintCallers(model::Recording& recording, const model::TickTable& table,
                          std::string_view wanted, Output& out) {
  if (std::ranges::all_of(table.ticks,
                          [](const model::Tick& tick) { return tick.chain.empty(); })) {
    return WrongUse("the recording has no call chains: record with jprof tprof --chains");
  }
  std::map<std::string, Callers> symbols;
  for (const model::Tick& tick : table.ticks) {
    const std::vector<std::string> frames = FramesOf(recording, tick);
    // Finds the innermost matching frame. Its caller is the first other function above it.
    const auto callee = std::ranges::find_if(
        frames, [&](const std::string& name) { return name.contains(wanted); });
    if (callee == frames.end()) continue;
    const auto caller = std::find_if(callee, frames.end(),
                                     [&](const std::string& name) { return name != *callee; });
    Callers& callers = symbols[*callee];
    ++callers.ticks;
    callers.own += callee == frames.begin();
    ++callers.by_name[caller == frames.end() ? "(no caller: the chain ends here)" : *caller];
  }
  if (symbols.empty())
    return WrongUse("no call chain with a symbol whose name contains '{}'", wanted);
  std::vector<std::pair<std::string, Callers>> sorted(symbols.begin(), symbols.end());
  std::ranges::stable_sort(sorted, std::greater(),
                           [](const auto& symbol) { return symbol.second.ticks; });
  for (const auto& [symbol, callers] : sorted) {
    out.Bold(fmt::format("{}: {} ticks in it and below, {:.2f} % of all; {} in itself\n", symbol,
                         callers.ticks, model::PercentOf(callers.ticks, table.ticks.size()),
                         callers.own));
    out.Text("   TICKS      %  CALLER\n");
    std::vector<std::pair<std::string, size_t>> rows(callers.by_name.begin(),
                                                     callers.by_name.end());
    std::ranges::stable_sort(rows, std::greater(), &std::pair<std::string, size_t>::second);
    for (const auto& [caller, ticks] : rows)
      out.Print("{:>8} {:>6.2f}  {}\n", ticks, model::PercentOf(ticks, callers.ticks), caller);
    out.Text("\n");
  }
  return {};
}

}  // namespace jprof::reports
