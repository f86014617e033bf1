// Writes tables as text: numbers right-aligned in the widths that the columns give.
#include "reports/print/formats.h"

namespace jprof::reports {
namespace {

class TextWriter : public TableWriter {
 public:
  TextWriter(const Layout& layout, Output& out) : TableWriter(out), layout_(layout) {}

  void Begin(std::span<const Column> columns) override {
    columns_ = columns;
    if (layout_.head.text) layout_.head.text(out_);
    std::string line;
    for (const Column& column : columns) {
      if (&column != &columns.front()) line.append(static_cast<size_t>(layout_.gap), ' ');
      line += fmt::format("{:>{}}", column.name, column.width);
    }
    out_.Bold(line + "\n");
  }

  void Row(std::span<const Value> values) override {
    for (size_t i = 0; i < values.size(); ++i) {
      if (i > 0) Blanks(static_cast<size_t>(layout_.gap));
      Put(values[i], static_cast<size_t>(columns_[i].width));
    }
    out_.Text("\n");
  }

  void End() override {
    if (layout_.tail.text) layout_.tail.text(out_);
  }

 private:
  void Blanks(size_t count) {
    static constexpr std::string_view kBlanks = "                                ";
    for (; count > kBlanks.size(); count -= kBlanks.size()) out_.Text(kBlanks);
    out_.Text(kBlanks.substr(0, count));
  }
  void Right(std::string_view text, size_t width) {
    if (text.size() < width) Blanks(width - text.size());
    out_.Text(text);
  }
  // Formats integers without fmt's padding, which takes twice as long: a big tree has 60 million of
  // them.
  void Put(const Value& value, size_t width) {
    if (value.kind == Value::Kind::kUnsigned) {
      const fmt::format_int digits(value.integer);
      Right({digits.data(), digits.size()}, width);
    } else if (value.kind == Value::Kind::kSigned) {
      const fmt::format_int digits(static_cast<int64_t>(value.integer));
      Right({digits.data(), digits.size()}, width);
    } else if (value.kind == Value::Kind::kBelow) {
      const fmt::format_int digits(static_cast<int64_t>(value.integer));
      if (digits.size() + 1 < width) Blanks(width - digits.size() - 1);
      out_.Text("<");
      out_.Text({digits.data(), digits.size()});
    } else if (value.kind == Value::Kind::kText && width == 0) {
      if (value.text.size() > kShownText) return out_.Text(Shortened(value.text));
      out_.Text(value.text);
    } else {
      Right(TextOf(value), width);
    }
  }

  const Layout& layout_;
  std::span<const Column> columns_;
};

}  // namespace

std::unique_ptr<TableWriter> MakeTextWriter(const Layout& layout, Output& out) {
  return std::make_unique<TextWriter>(layout, out);
}

}  // namespace jprof::reports
