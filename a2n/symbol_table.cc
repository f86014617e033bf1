#include "a2n/symbol_table.h"

#include <algorithm>
#include <cstring>

namespace jprof::a2n {
namespace {

size_t Underscores(const char* name) { return std::strspn(name, "_"); }

// Offsets of names are below this; later names are dropped. No real image has 4 GiB of names.
constexpr size_t kMostNames = size_t{1} << 32;

}  // namespace

void SymbolTable::Add(Symbol symbol, std::string_view name) {
  if (names_.size() + name.size() + 1 > kMostNames) return;
  if (symbol.size > ~uint64_t{0} - symbol.address) symbol.size = 0;
  symbol.name = static_cast<uint32_t>(names_.size());
  names_ += name;
  names_ += '\0';
  symbols_.push_back(symbol);
}

// Keeps only the symbol to display. Prefers a function to a label, then global to weak to local,
// then the plainest name.
void SymbolTable::KeepOnePerAddress() {
  std::ranges::sort(symbols_, [&](const Symbol& a, const Symbol& b) {
    if (a.address != b.address) return a.address < b.address;
    if (a.rank != b.rank) return a.rank > b.rank;
    const size_t a_bare = Underscores(NameOf(a)), b_bare = Underscores(NameOf(b));
    if (a_bare != b_bare) return a_bare < b_bare;
    const size_t a_length = std::strlen(NameOf(a)), b_length = std::strlen(NameOf(b));
    if (a_length != b_length) return a_length < b_length;
    return std::strcmp(NameOf(a), NameOf(b)) < 0;
  });
  size_t kept = 0;
  for (const Symbol& symbol : symbols_) {
    if (kept > 0 && symbols_[kept - 1].address == symbol.address) {
      if (symbols_[kept - 1].size == 0) symbols_[kept - 1].size = symbol.size;
      continue;
    }
    symbols_[kept++] = symbol;
  }
  symbols_.resize(kept);
}

// Removes labels inside functions. Assembly has such labels (loops, addresses for signal handlers):
// only the function is relevant.
void SymbolTable::DropLabelsInsideFunctions() {
  uint64_t end = 0;
  std::erase_if(symbols_, [&](const Symbol& symbol) {
    if (symbol.size == 0 && symbol.label && symbol.address < end) return true;
    end = std::max(end, symbol.address + symbol.size);
    return false;
  });
}

void SymbolTable::GiveSizes(std::span<const std::pair<uint64_t, uint64_t>> limits) {
  for (size_t i = 0; i < symbols_.size(); ++i) {
    Symbol& symbol = symbols_[i];
    if (symbol.size != 0) continue;
    const auto after =
        std::ranges::upper_bound(limits, symbol.address, {}, &std::pair<uint64_t, uint64_t>::first);
    if (after == limits.begin() || std::prev(after)->second <= symbol.address) continue;
    const uint64_t limit = std::prev(after)->second;
    symbol.size = (i + 1 < symbols_.size() ? std::min(limit, symbols_[i + 1].address) : limit) -
                  symbol.address;
  }
}

void SymbolTable::Build(std::span<const std::pair<uint64_t, uint64_t>> limits) {
  KeepOnePerAddress();
  DropLabelsInsideFunctions();
  GiveSizes(limits);
  for (uint32_t i = 0; i < symbols_.size(); ++i)
    owners_.Add(symbols_[i].address, symbols_[i].address + symbols_[i].size, i);
  owners_.Build();
  symbols_.shrink_to_fit();
  names_.shrink_to_fit();
}

const Symbol* SymbolTable::Find(uint64_t address) const {
  const uint32_t owner = owners_.Find(address);
  return owner == IntervalMap::kNone ? nullptr : &symbols_[owner];
}

}  // namespace jprof::a2n
