// Describes a table that is printed row by row in any format: its columns, and how the values of a
// row are computed. The writers (table_writer.h) use only columns and values. Text, CSV and JSON
// have different columns in different orders, so a column names the views that it is part of.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace jprof::reports {

// Groups of formats with the same columns; bits of a set.
enum View : unsigned { kPeople = 1, kCsv = 2, kJson = 4 };

struct Value {
  enum class Kind : uint8_t {
    kMissing,
    kUnsigned,
    kSigned,
    kBelow,
    kNumber,
    kFixed,
    kBool,
    kText,
    kDuration,
    kDurationBelow
  };

  static Value Missing() { return {}; }  // "-", an empty field or null
  static Value Integer(uint64_t value) { return {.kind = Kind::kUnsigned, .integer = value}; }
  static Value Signed(int64_t value) {
    return {.kind = Kind::kSigned, .integer = static_cast<uint64_t>(value)};
  }
  // Makes a value like "<7", for one that was not measured well enough for a number.
  static Value Below(int64_t value) {
    return {.kind = Kind::kBelow, .integer = static_cast<uint64_t>(value)};
  }
  static Value Number(double value) { return {.kind = Kind::kNumber, .number = value}; }
  static Value Fixed(double value, uint8_t digits) {
    return {.kind = Kind::kFixed, .digits = digits, .number = value};
  }
  // Makes a duration in ns, which text shows in the unit that fits; and an upper end of one.
  static Value Duration(double ns) { return {.kind = Kind::kDuration, .number = ns}; }
  static Value DurationBelow(double ns) { return {.kind = Kind::kDurationBelow, .number = ns}; }
  static Value Bool(bool value) { return {.kind = Kind::kBool, .integer = value ? 1u : 0u}; }
  // The text must live until the row is written.
  static Value Text(std::string_view text) { return {.kind = Kind::kText, .text = text}; }

  Kind kind = Kind::kMissing;
  uint8_t digits = 0;
  uint64_t integer = 0;
  double number = 0;
  std::string_view text = {};
};

// Returns the value as text. Cleans any bytes (CleanText); a missing value is "-".
std::string TextOf(const Value& value);

struct Column {
  enum class Shape : uint8_t {
    kOne,     // one value
    kList,    // in JSON, an array of `cells` values
    kObject,  // in JSON, an object of `cells` values, named `members`
  };

  std::string name;  // heading, or key
  int width = 0;     // characters of right-aligned text; 0 if it is not aligned
  int spare = 0;     // above 0: narrow text leaves out the columns with the least number first
  Shape shape = Shape::kOne;
  size_t cells = 1;
  std::vector<std::string> members = {};
};

template <typename Row>
class Columns {
 public:
  using Getter = std::function<Value(const Row&, size_t cell)>;

  explicit Columns(View view) : view_(view) {}

  // Adds the column if it is part of this table's view.
  template <typename Get>
  void Add(unsigned views, Column column, Get get) {
    if ((views & view_) == 0) return;
    column.cells = column.shape == Column::Shape::kObject ? column.members.size() : column.cells;
    if constexpr (std::is_invocable_v<Get, const Row&, size_t>) {
      getters_.push_back(std::move(get));
    } else {
      getters_.push_back([get](const Row& row, size_t) { return get(row); });
    }
    columns_.push_back(std::move(column));
  }

  std::span<Column> columns() { return columns_; }

  // Returns the row's values, column by column. They are valid until the next call.
  std::span<const Value> Of(const Row& row) {
    values_.clear();
    for (size_t i = 0; i < columns_.size(); ++i) {
      for (size_t cell = 0; cell < columns_[i].cells; ++cell)
        values_.push_back(getters_[i](row, cell));
    }
    return values_;
  }

  // Makes each column as wide in text as its name and its widest value. Requires one cell a column.
  void FitWidths(const std::vector<Row>& rows) {
    for (Column& column : columns_) column.width = static_cast<int>(column.name.size());
    for (const Row& row : rows) {
      const auto values = Of(row);
      for (size_t i = 0; i < values.size(); ++i)
        columns_[i].width = std::max(columns_[i].width, static_cast<int>(TextOf(values[i]).size()));
    }
  }

 private:
  View view_;
  std::vector<Column> columns_;
  std::vector<Getter> getters_;
  std::vector<Value> values_;
};

}  // namespace jprof::reports
