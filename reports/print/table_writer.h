// Writes a table in one format as its rows come; nothing is collected. Order of calls: Begin,
// then Row for each row, End. Where rows are grouped by thread (Layout::groups), BeginGroup and
// EndGroup enclose a group's rows.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "reports/print/columns.h"
#include "reports/print/json_writer.h"
#include "reports/print/legend.h"
#include "reports/print/output.h"

namespace jprof::reports {

// The output before or after the rows: in text, lines; in JSON, members of the document. Other
// formats have none.
struct Section {
  std::function<void(Output&)> text;
  std::function<void(JsonWriter&)> json;
};

struct Layout {
  Section head = {}, tail = {};
  std::string_view rows = "rows";           // in JSON, the key of the array of rows or of groups
  bool lines = true;                        // in JSON, each row begins on its own line
  bool end_line = false;                    // in JSON, so does the end of the array
  bool heading = true;                      // in CSV, the first line has the names of the columns
  int gap = 1;                              // in text, blanks between columns
  size_t width = 0;                         // in text, cells of a line; 0 for any
  bool is_prose = false;                    // in text, the last column is not a name (fit.h)
  std::span<const ColumnHelp> legend = {};  // in text, what explains the columns after the rows
};

// Returns the text after the rows, or an empty text.
inline std::string TailText(const Layout& layout) {
  const auto print = [&layout](Output& out) -> Result<void> {
    if (layout.tail.text) layout.tail.text(out);
    return {};
  };
  return PrintedText(print).value_or("");
}

class TableWriter {
 public:
  explicit TableWriter(Output& out) : out_(out) {}
  virtual ~TableWriter() = default;

  virtual void Begin(std::span<const Column> columns) = 0;
  virtual void BeginGroup(uint32_t /*tid*/, std::string_view /*name*/) {}
  // Writes a row with the values of all columns, in their order.
  virtual void Row(std::span<const Value> values) = 0;
  virtual void EndGroup() {}
  virtual void End() {}

 protected:
  Output& out_;
};

}  // namespace jprof::reports
