// Writes tables in GitHub's Markdown: the columns of text, without the head. Characters that
// Markdown or HTML would read as markup are escaped.
#include "reports/print/formats.h"

namespace jprof::reports {
namespace {

class MarkdownWriter : public TableWriter {
 public:
  using TableWriter::TableWriter;

  void Begin(std::span<const Column> columns) override {
    for (const Column& column : columns) Cell(column.name);
    out_.Text("|\n");
    for (const Column& column : columns) out_.Text(column.width > 0 ? "| ---: " : "| :--- ");
    out_.Text("|\n");
  }

  void Row(std::span<const Value> values) override {
    for (const Value& value : values) Cell(Shortened(TextOf(value)));
    out_.Text("|\n");
  }

 private:
  void Cell(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
      if (std::string_view("\\|`*_<>[]&~").contains(c)) escaped += '\\';
      escaped += c;
    }
    out_.Print("| {} ", escaped);
  }
};

}  // namespace

std::unique_ptr<TableWriter> MakeMarkdownWriter(const Layout&, Output& out) {
  return std::make_unique<MarkdownWriter>(out);
}

}  // namespace jprof::reports
