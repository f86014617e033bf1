// Sums up a tree with sites by source line: what was sampled at a line, and what is called there.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/frame_kind.h"
#include "model/tree/forest.h"

namespace jprof::model {

// The calls of one method at one bytecode.
struct CallAtLine {
  uint32_t bytecode = 0;
  std::string callee;  // as Names::Of returns it
  char letter = '?';
  uint64_t calls = 0;
  // Of the first metric, with all that the callee calls; raw. A call within the same one is not
  // counted again.
  double all = 0;
};

struct LineSum {
  uint32_t line = 0;   // 0 for what has no known line
  uint64_t calls = 0;  // made at it
  // Of the first metric, raw: at the line itself, and with all that it calls, where a line that is
  // reached from itself is not counted again.
  double own = 0, all = 0;
  std::vector<CallAtLine> called;
};

struct MethodLines {
  std::string name;  // as Names::Of returns it
  std::string file;  // of its source; empty if it is not known
  char letter = '?';
  uint64_t calls = 0;          // of the method
  double own = 0, all = 0;     // as above, of the whole method
  std::vector<LineSum> lines;  // in ascending order
};

// Adds the trees of one or more profiles of a program.
class LineSums {
 public:
  // Requires a forest that was loaded with ForestOptions::call_sites. Adds its calls if
  // `with_calls`, and the values of its first metric if `with_values`.
  void Add(Forest& forest, bool with_calls, bool with_values);

  // Returns the methods with the greatest own value first, then by calls made.
  std::vector<MethodLines> Take();

  double whole() const { return whole_; }  // sum of the first metric

 private:
  struct Key {
    uint32_t method, line;
  };
  class Adder;

  uint32_t MethodAt(std::string_view name);
  LineSum& LineAt(uint32_t method, uint32_t line);

  double whole_ = 0;
  std::vector<MethodLines> methods_;
  std::unordered_map<std::string, uint32_t> by_name_;
  std::unordered_map<uint64_t, uint32_t> by_line_;  // by method and line: the place in its lines
};

}  // namespace jprof::model
