// Describes the columns of the report `scale`.
#pragma once

#include <array>
#include <string>

#include "model/scale/scale.h"
#include "reports/print/legend.h"
#include "reports/print/options.h"

namespace jprof::reports {

// A row, and its texts, which live until it is written.
struct ShownScale {
  const model::ScaleRow& row;
  std::string name, callers, law, exponent, arm;
};
using ScaleColumns = Columns<ShownScale>;

ScaleColumns ColumnsOf(const model::ScaleView& view, const Options& options);

inline constexpr ColumnHelp kScaleColumns[] = {
    {"%10N",
     "the part of the whole that it would have at ten times the largest size if all grew on like "
     "this; rows with the largest come first"},
    {"%", "the part of the whole own time of the largest size; without times, of all calls"},
    {"CALLS~",
     "the law by which the exact calls grow with the size n; `n^0`: they do not; `?`: off the law "
     "by more than 10 %; `-`: called at one size only"},
    {"TIME~",
     "the exponent of the own time, from samples; `-`: fewer than two sizes with 10 samples"},
    {"+-", "half of its 95 % interval"},
    {"CALLS", "exact calls at the largest size"},
    {"SELF", "own time at the largest size, from samples; `<X`: too few for more than a bound"},
    {"NAME",
     "the method; behind `<` its callers if it has one context. Rows that begin with `<` are the "
     "contexts of the method above them"},
};

}  // namespace jprof::reports
