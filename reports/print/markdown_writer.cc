// Writes tables in GitHub's Markdown: the columns of text and what is below them, without the head.
#include <algorithm>

#include "reports/print/formats.h"
#include "reports/print/markdown.h"

namespace jprof::reports {
namespace {

class MarkdownWriter : public TableWriter {
 public:
  MarkdownWriter(const Layout& layout, Output& out) : TableWriter(out), layout_(layout) {}

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

  // What text says below the table is a paragraph.
  void End() override {
    if (const std::string tail = TailText(layout_); !tail.empty()) out_.Text("\n" + tail);
  }

 private:
  void Cell(std::string_view text) { out_.Print("| {} ", EscapedMarkdown(text)); }

  const Layout& layout_;
};

}  // namespace

std::string EscapedMarkdown(std::string_view text) {
  const size_t indent = std::min(text.find_first_not_of(' '), text.size());
  std::string escaped;
  for (size_t i = 0; i < indent; ++i) escaped += "&nbsp;";
  for (const char c : text.substr(indent)) {
    if (std::string_view("\\|`*_<>[]&~").contains(c)) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::unique_ptr<TableWriter> MakeMarkdownWriter(const Layout& layout, Output& out) {
  return std::make_unique<MarkdownWriter>(layout, out);
}

}  // namespace jprof::reports
