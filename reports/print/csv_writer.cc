// Writes tables as CSV: a line with the columns' names, then one line per row.
#include "profile/files/printable_text.h"
#include "reports/print/formats.h"

namespace jprof::reports {
namespace {

class CsvWriter : public TableWriter {
 public:
  CsvWriter(const Layout& layout, Output& out) : TableWriter(out), heading_(layout.heading) {}

  void Begin(std::span<const Column> columns) override {
    if (!heading_) return;
    for (const Column& column : columns) {
      if (&column != &columns.front()) out_.Text(",");
      Field(column.name);
    }
    out_.Text("\n");
  }

  void Row(std::span<const Value> values) override {
    for (size_t i = 0; i < values.size(); ++i) {
      if (i > 0) out_.Text(",");
      Put(values[i]);
    }
    out_.Text("\n");
  }

 private:
  void Put(const Value& value) {
    switch (value.kind) {
      case Value::Kind::kMissing:
        return;
      case Value::Kind::kUnsigned:
        return out_.Integer(value.integer);
      case Value::Kind::kNumber:
        return out_.Number(value.number);
      case Value::Kind::kText:
        return Field(value.text);
      default:
        return out_.Text(TextOf(value));
    }
  }

  // Writes a text, in quotes where needed. Texts come from the profiled program: one that a
  // spreadsheet would evaluate as a formula is preceded by a ', which makes it a text there. (Clean
  // text has no tab and no line break.)
  void Field(std::string_view text) {
    std::string clean = profile::CleanText(text);
    const bool formula =
        clean.size() > 1 && std::string_view("=+-@").find(clean.front()) != std::string_view::npos;
    if (formula) clean.insert(0, "'");
    if (!formula && clean.find_first_of(",\"") == std::string::npos) return out_.Text(clean);
    std::string quoted = "\"";
    for (const char c : clean) quoted.append(c == '"' ? 2 : 1, c);
    out_.Text(quoted += '"');
  }

  bool heading_;
};

}  // namespace

std::unique_ptr<TableWriter> MakeCsvWriter(const Layout& layout, Output& out) {
  return std::make_unique<CsvWriter>(layout, out);
}

}  // namespace jprof::reports
