// Describes the columns of the report `combined`.
#pragma once

#include <string>

#include "model/combined/combined.h"
#include "reports/combined/combined_rows.h"
#include "reports/print/columns.h"

namespace jprof::reports {

using CombinedColumns = Columns<CombinedRow>;

// The texts of a row. They live until the row is written.
struct CombinedTexts {
  std::string time, all, half, per_call, per_call_half, name;
};

// Adds the columns of text, of CSV and of JSON. Requires that `texts` lives as long as the columns.
void AddCombinedColumns(const model::CombinedView& view, CombinedTexts& texts,
                        CombinedColumns& columns);

}  // namespace jprof::reports
