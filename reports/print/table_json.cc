// Writes tables as JSON: one document, in which a row is an object and a group is one with its rows
// as "nodes".
#include "reports/print/formats.h"

namespace jprof::reports {
namespace {

class JsonTable : public TableWriter {
 public:
  JsonTable(const Layout& layout, Output& out) : TableWriter(out), layout_(layout), json_(out) {}

  void Begin(std::span<const Column> columns) override {
    columns_ = columns;
    json_.StartObject();
    if (layout_.head.json) layout_.head.json(json_);
    json_.Key(layout_.rows);
    json_.StartArray();
  }

  void BeginGroup(uint32_t tid, std::string_view name) override {
    json_.StartRow();
    json_.Member("tid", tid);
    json_.Member("name", name);
    json_.Key("nodes");
    json_.StartArray();
  }

  void Row(std::span<const Value> values) override {
    if (layout_.lines) {
      json_.StartRow();
    } else {
      json_.StartObject();
    }
    const Value* value = values.data();
    for (const Column& column : columns_) {
      json_.Key(column.name);
      PutColumn(column, value);
      value += column.cells;
    }
    json_.EndObject();
  }

  void EndGroup() override {
    json_.EndArray();
    json_.EndObject();
  }

  void End() override {
    if (layout_.end_line) json_.NewLine();
    json_.EndArray();
    if (layout_.tail.json) layout_.tail.json(json_);
    json_.EndObject();
    json_.Finish();
  }

 private:
  void PutColumn(const Column& column, const Value* values) {
    switch (column.shape) {
      case Column::Shape::kOne:
        return Put(*values);
      case Column::Shape::kList:
        json_.StartArray();
        for (size_t i = 0; i < column.cells; ++i) Put(values[i]);
        json_.EndArray();
        return;
      case Column::Shape::kObject:
        json_.StartObject();
        for (size_t i = 0; i < column.cells; ++i) {
          json_.Key(column.members[i]);
          Put(values[i]);
        }
        json_.EndObject();
        return;
    }
  }

  void Put(const Value& value) {
    switch (value.kind) {
      case Value::Kind::kMissing:
        json_.Null();
        return;
      case Value::Kind::kUnsigned:
        return json_.Value(value.integer);
      case Value::Kind::kSigned:
      case Value::Kind::kBelow:
        return json_.Value(static_cast<int64_t>(value.integer));
      case Value::Kind::kNumber:
      case Value::Kind::kDuration:
      case Value::Kind::kDurationBelow:
        return json_.Number(value.number);
      case Value::Kind::kFixed:
        return json_.Fixed(value.number, value.digits);
      case Value::Kind::kBool:
        return json_.Value(value.integer != 0);
      case Value::Kind::kText:
        return json_.String(value.text);
    }
  }

  const Layout& layout_;
  std::span<const Column> columns_;
  JsonWriter json_;
};

}  // namespace

std::unique_ptr<TableWriter> MakeJsonWriter(const Layout& layout, Output& out) {
  return std::make_unique<JsonTable>(layout, out);
}

}  // namespace jprof::reports
