// The functions of one image. The table is built once from its symbol tables, then searched
// by address.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "a2n/interval_map.h"

namespace jprof::a2n {

struct Symbol {
  uint64_t address = 0, size = 0;
  uint32_t name = 0;   // offset in the table's names
  uint8_t rank = 0;    // of two at one address the higher is displayed (SymbolTable::Rank)
  bool label = false;  // a name in code, not a function
};

class SymbolTable {
 public:
  enum class Binding : uint8_t { kLocal, kWeak, kGlobal };
  static uint8_t Rank(bool function, Binding binding) {
    return static_cast<uint8_t>(4 * function + static_cast<int>(binding));
  }

  void Add(Symbol symbol, std::string_view name);
  // Prepares the table for lookups. `limits` are ranges of code, sorted. A symbol of size 0 extends
  // to the next one, or to the end of its range; it is empty if no range contains it.
  void Build(std::span<const std::pair<uint64_t, uint64_t>> limits);

  // Returns the innermost function that contains the address, or null if there is none.
  const Symbol* Find(uint64_t address) const;
  const char* NameOf(const Symbol& symbol) const { return names_.data() + symbol.name; }
  // Returns the symbol's index, for data that others keep per symbol.
  size_t IndexOf(const Symbol& symbol) const {
    return static_cast<size_t>(&symbol - symbols_.data());
  }
  const std::vector<Symbol>& symbols() const { return symbols_; }  // by address, after Build
  bool empty() const { return symbols_.empty(); }

 private:
  void KeepOnePerAddress();
  void DropLabelsInsideFunctions();
  void GiveSizes(std::span<const std::pair<uint64_t, uint64_t>> limits);

  std::vector<Symbol> symbols_;
  std::string names_;   // each zero-terminated
  IntervalMap owners_;  // of code, each owned by a symbol
};

}  // namespace jprof::a2n
