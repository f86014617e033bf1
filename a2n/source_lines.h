// Finds source positions and inlined functions of one image by its DWARF. A compilation unit is
// read once, at the first lookup in it: its functions and those inlined into them become pieces of
// code, found by binary search.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "a2n/a2n.h"
#include "a2n/interval_map.h"

struct Dwarf;

namespace jprof::a2n {

class SourceLines {
 public:
  // If `dwarf` is null, nothing is found. `bias` is subtracted from DWARF's addresses to get those
  // of the image.
  SourceLines(Dwarf* dwarf, uint64_t bias, bool demangle);
  ~SourceLines();

  struct Found {
    // The innermost frame is first. There are none if nothing is known about this address. The
    // outermost may have no name.
    std::vector<Frame> frames;
    // Whether the name of the outermost is less complete than the symbol table's, because it lacks
    // the parameters or the enclosing scope.
    bool partial_name = false;
  };
  Found FramesAt(uint64_t address);

 private:
  struct Unit;
  void FindUnits();

  Dwarf* dwarf_;
  uint64_t bias_;
  bool demangle_;
  std::vector<std::unique_ptr<Unit>> units_;
  IntervalMap owners_;  // of code, each owned by a unit
};

}  // namespace jprof::a2n
