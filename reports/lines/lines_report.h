// Prints the source lines of methods: what was sampled at them, and what is called there.
#pragma once

#include <utility>

#include "model/lines/load_lines.h"
#include "model/open/open.h"
#include "reports/print/options.h"
#include "reports/print/output.h"

namespace jprof::reports {

inline constexpr ColumnHelp kLinesColumns[] = {
    {"LINE", "the line in the source file; `-`: not known"},
    {"CALLS",
     "of a method its calls, of a line all calls that are made there, of a called method (`->`) "
     "its calls there: exact; needs a recording by calltree with --call-sites"},
    {"SAMPLES",
     "taken at this line, or in this method, alone; of a combined profile in all sampled runs "
     "together"},
    {"CUM", "the same with everything that is called there"},
    {"+-", "half of the 95 % interval of CUM, by the number of samples"},
    {"%", "CUM in percent of the whole"},
    {"NAME", "the method with its file, the text of the line, or the method that is called there"},
};

// Prints a profile with sites, or the runs with sites of a combined one. Fails with kWrongUse if
// there are none, or no method that Options::method names.
Result<void> PrintLines(model::Input& input, const Options& options, Output& out);

// Loads the lines once, to print them several times.
class LoadedLines {
 public:
  // Fails as PrintLines does. Of the options it uses the metric and the method. `input` must exist
  // as long as the object.
  static Result<LoadedLines> Load(model::Input& input, const Options& options);

  // Prints the lines in the format of the options, at most Options::top rows.
  void Print(const Options& options, Output& out);

 private:
  explicit LoadedLines(model::Lines lines) : lines_(std::move(lines)) {}

  model::Lines lines_;
};

}  // namespace jprof::reports
