// Prints the formats of `jprof export` as docs/EXPORTS.md has them: for tests/docs_tables.py.
#include <fmt/format.h>

#include "reports/export/export_list.h"

int main() {
  fmt::print("| format | file | holds | cannot hold |\n|---|---|---|---|\n");
  for (const jprof::reports::ExportFormat& format : jprof::reports::ExportFormats()) {
    fmt::print("| `{}` | `{}` | {} | {} |\n", format.name, format.extension, format.holds,
               format.lacks);
  }
}
