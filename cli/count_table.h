// Prints a table of counts in each format.
#pragma once

#include "record/count_table.h"
#include "reports/output.h"
#include "reports/source.h"

namespace jprof::cli {

using record::CountRow;
using record::CountTable;

// CSV: a header line where `first`, and the rows.
void PrintCounts(const CountTable& table, reports::Format format, bool first, reports::Output& out);

}  // namespace jprof::cli
