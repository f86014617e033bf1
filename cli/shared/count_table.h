// Prints a table of counts as text, CSV or JSON.
#pragma once

#include "record/count/count_table.h"
#include "reports/print/formats.h"
#include "reports/print/output.h"

namespace jprof::cli {

using record::CountRow;
using record::CountTable;

// Prints the table. If it is the `first` one, CSV begins with a header line.
void PrintCounts(const CountTable& table, reports::Format format, bool first, reports::Output& out);

}  // namespace jprof::cli
