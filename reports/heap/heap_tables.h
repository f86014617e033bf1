// What the tables of heaps share.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "reports/heap/heap_report.h"
#include "reports/print/columns.h"
#include "reports/print/screen.h"
#include "reports/print/units.h"

namespace jprof::reports {

// Returns when and how the dump was taken, and its totals: pairs of a label and a text.
std::vector<std::pair<const char*, std::string>> HeapFacts(const heap::Heap& heap);
// Returns what is damaged, in words, the first ones one by one.
std::vector<std::string> HeapDamages(const heap::Heap& heap);

// Prints the dump and its totals: four lines of text, and one for each thing that is damaged.
void HeapHeadText(const heap::Heap& heap, Output& out);
// Writes the same as members of the object "heap", or of `key`.
void HeapHeadJson(const heap::Heap& heap, std::string_view key, JsonWriter& json);
Section HeapHead(const heap::Heap& heap);

// Returns a class's name in the options' form.
std::string ShownClass(const heap::Heap& heap, uint32_t type, const HeapOptions& options);
// Returns an object's class and what tells it from others.
std::string ShownObject(const heap::Heap& heap, uint32_t node, const HeapOptions& options);

// Returns a share of the bytes that can be reached, in percent.
double ShareOf(const heap::Heap& heap, uint64_t bytes);

// Adds a column of bytes, which text shows in the unit that fits. `of` returns them for a row.
template <typename Row, typename Of>
void AddBytes(Columns<Row>& columns, const char* text_name, const char* name, Of of) {
  columns.Add(kPeople, {text_name, 9}, [of, text = std::string()](const Row& row, size_t) mutable {
    text = Bytes(of(row));
    return Value::Text(text);
  });
  columns.Add(kCsv | kJson, {name}, [of](const Row& row) { return Value::Integer(of(row)); });
}

// Adds a column with the same integers in all formats.
template <typename Row, typename Of>
void AddNumber(Columns<Row>& columns, Column text, const char* name, Of of) {
  const auto value = [of](const Row& row) { return Value::Integer(of(row)); };
  columns.Add(kPeople, std::move(text), value);
  columns.Add(kCsv | kJson, {name}, value);
}

// Returns how many of `count` rows are shown.
inline size_t ShownRows(size_t count, const HeapOptions& options) {
  const bool is_screen = EntryOf(options.format).view == kPeople;
  const size_t most = options.top.value_or(is_screen ? kScreenRows : 0);
  return most == 0 ? count : std::min(count, most);
}

// Writes the rows that are shown, and how many are not, of `rows` and of `left_out` ones that it
// does not contain.
template <typename Row>
void WriteHeapRows(Columns<Row>& columns, const std::vector<Row>& rows, Layout layout,
                   const HeapOptions& options, Output& out, uint64_t left_out = 0) {
  const size_t shown = ShownRows(rows.size(), options);
  if (const uint64_t more = left_out + rows.size() - shown; more > 0) {
    layout.tail.text = [more](Output& text) { text.Print("({} more: --top 0 shows all)\n", more); };
  }
  layout.width = options.width;
  if (!options.legends) layout.legend = {};
  const auto writer = EntryOf(options.format).make(layout, out);
  writer->Begin(columns.columns());
  for (size_t i = 0; i < shown; ++i) writer->Row(columns.Of(rows[i]));
  writer->End();
}

}  // namespace jprof::reports
