// The functions of one image: built once from what its symbol tables list, then asked by address.
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
  uint32_t name = 0;   // place in the table's names
  uint8_t rank = 0;    // of two at one address the higher is shown: see SymbolTable::Rank
  bool label = false;  // no function, only a name in code
};

class SymbolTable {
 public:
  enum class Binding : uint8_t { kLocal, kWeak, kGlobal };
  static uint8_t Rank(bool function, Binding binding) {
    return static_cast<uint8_t>(4 * function + static_cast<int>(binding));
  }

  void Add(Symbol symbol, std::string_view name);
  // Makes it ready to be asked. `limits`: ranges of code, sorted; a symbol of size 0 reaches to the
  // next one, or to the end of its range, or nowhere if there is no range around it.
  void Build(std::span<const std::pair<uint64_t, uint64_t>> limits);

  // Of the innermost function that holds the address; null: none does.
  const Symbol* Find(uint64_t address) const;
  const char* NameOf(const Symbol& symbol) const { return names_.data() + symbol.name; }
  // The symbol's place, for what others keep beside it.
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
  std::string names_;   // each with its zero
  IntervalMap owners_;  // of code, each owned by a symbol
};

}  // namespace jprof::a2n
