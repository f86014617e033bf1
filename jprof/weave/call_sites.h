// Finds the instructions of a method that call others, with their source lines, and makes the calls
// that tell the counter which one is next (weave.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "jprof/weave/big_endian.h"
#include "jprof/weave/class_file.h"
#include "jprof/weave/constants.h"
#include "jprof/weave/weave.h"

namespace jprof::weave {

// One object may be used for many methods, one after another, and keeps its memory.
class CallSites {
 public:
  // Appends to `calls`. All arguments must exist as long as the object.
  CallSites(const ConstantPool& pool, Constants& constants, const SiteIds& ids, Output& calls)
      : pool_(pool), constants_(constants), ids_(ids), calls_(calls) {}

  // Returns whether there is an instruction for which Add appends a call.
  bool AreIn(std::string_view code) const;
  // Begins a method, whose own node is in the local variables from `own` on. Lines that are
  // malformed are not known.
  void Begin(const CodeAttribute& code, uint16_t own);
  // Appends the call for the instruction at an offset, if it is a site; the offsets must ascend.
  // Returns false if the constants do not fit.
  bool Add(std::string_view code, uint32_t at);

 private:
  struct Line {
    uint16_t start;  // offset in the code
    uint16_t line;
  };

  bool IsSite(std::string_view code, uint32_t at) const;
  void ReadLines(const Attribute& table);
  uint32_t LineAt(uint32_t at);

  const ConstantPool& pool_;
  Constants& constants_;
  const SiteIds& ids_;
  Output& calls_;
  uint16_t own_ = 0;
  std::vector<Line> lines_;  // by ascending offset
  size_t next_line_ = 0;     // the first one behind the last instruction
};

}  // namespace jprof::weave
