// Writes tables as text: numbers right-aligned in the widths that the columns give.
#include <algorithm>

#include "common/terminal_cells.h"
#include "common/wrapped_text.h"
#include "reports/print/fit.h"
#include "reports/print/formats.h"

namespace jprof::reports {
namespace {

class TextWriter : public TableWriter {
 public:
  TextWriter(const Layout& layout, Output& out) : TableWriter(out), layout_(layout) {}

  void Begin(std::span<const Column> columns) override {
    columns_ = columns;
    spared_ = Spared();
    if (layout_.head.text) layout_.head.text(out_);
    std::string line;
    for (const Column& column : columns) {
      if (IsSpared(column)) continue;
      if (&column != &columns.front()) line.append(static_cast<size_t>(layout_.gap), ' ');
      line += fmt::format("{:>{}}", column.name, column.width);
    }
    out_.Bold(line + "\n");
  }

  void Row(std::span<const Value> values) override {
    used_ = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      if (IsSpared(columns_[i])) continue;
      if (i > 0) Blanks(static_cast<size_t>(layout_.gap));
      Put(values[i], static_cast<size_t>(columns_[i].width));
    }
    out_.Text("\n");
  }

  void End() override {
    std::string tail = TailText(layout_);
    if (layout_.width > 0) tail = WrappedText(tail, 0, layout_.width);
    out_.Text(tail);
    if (!layout_.legend.empty()) out_.Text("\n" + Legend(columns_, layout_.legend, layout_.width));
  }

 private:
  bool IsSpared(const Column& column) const { return column.spare > 0 && column.spare <= spared_; }
  // Returns the largest `spare` of the columns that are left out, so that names have kRoom
  // cells.
  int Spared() const {
    constexpr size_t kRoom = 36;
    const auto used = [this](int spared) {
      size_t width = 0;
      for (const Column& column : columns_) {
        if (column.spare == 0 || column.spare > spared)
          width += static_cast<size_t>(column.width + layout_.gap);
      }
      return width;
    };
    int most = 0, spared = 0;
    for (const Column& column : columns_) most = std::max(most, column.spare);
    while (spared < most && layout_.width > 0 && used(spared) + kRoom > layout_.width) ++spared;
    return spared;
  }
  void Blanks(size_t count) {
    static constexpr std::string_view kBlanks = "                                ";
    used_ += count;
    for (; count > kBlanks.size(); count -= kBlanks.size()) out_.Text(kBlanks);
    out_.Text(kBlanks.substr(0, count));
  }
  void Right(std::string_view text, size_t width) {
    if (text.size() < width) Blanks(width - text.size());
    used_ += text.size();
    out_.Text(text);
  }
  // Prints the last value of a row, which has no width.
  void Name(std::string_view text) {
    const auto fitted = layout_.is_prose ? FittedProse : Fitted;
    if (layout_.width > 0) return out_.Text(fitted(text, RoomBehind(used_, layout_.width)));
    if (text.size() > kShownText) return out_.Text(Shortened(text));
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
      used_ += 1 + digits.size();
      out_.Text({digits.data(), digits.size()});
    } else if (value.kind == Value::Kind::kText && width == 0) {
      Name(value.text);
    } else {
      const std::string text = TextOf(value);
      const size_t more_bytes = text.size() - Cells(text);
      Right(text, width + more_bytes);
      used_ -= more_bytes;
    }
  }

  const Layout& layout_;
  std::span<const Column> columns_;
  size_t used_ = 0;  // cells of the row
  int spared_ = 0;
};

}  // namespace

std::unique_ptr<TableWriter> MakeTextWriter(const Layout& layout, Output& out) {
  return std::make_unique<TextWriter>(layout, out);
}

}  // namespace jprof::reports
