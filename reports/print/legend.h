// Explains the columns and letters of a text report.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "reports/print/columns.h"

namespace jprof::reports {

// Describes a column of a report.
struct ColumnHelp {
  std::string_view name;
  std::string_view meaning;  // in Markdown; docs/REPORTS.md is generated from it
};

// Returns "  NAME  meaning" for each column that `help` describes, in the order of the columns, and
// below them the letters of the kinds of frames. No line has more than 100 columns, or than `width`
// if that is not 0.
std::string Legend(std::span<const Column> columns, std::span<const ColumnHelp> help,
                   size_t width = 0);

}  // namespace jprof::reports
