// Prints how the live objects of each calling context grow from snapshot to snapshot
// (docs/REPORTS.md). The contexts that certainly grow come first.
#include <fmt/format.h>

#include <algorithm>

#include "model/tree/live_history.h"
#include "reports/print/formats.h"
#include "reports/print/units.h"
#include "reports/quality/quality_of.h"
#include "reports/report_list.h"
#include "reports/tree/header.h"
#include "reports/tree/outline.h"

namespace jprof::reports {
namespace {

using model::LiveHistory;

constexpr size_t kFramesInText = 4;

struct GrowthRow {
  size_t context;
  model::Growth bytes, objects;
  std::vector<model::LiveSum> bytes_at, objects_at;  // by snapshot

  double last_bytes() const { return bytes_at.back().Get().value; }
};

// A row as the columns' getters see it.
struct ShownGrowth {
  const GrowthRow& row;
  std::string_view type, path;  // the class, and the methods
};
using GrowthColumns = Columns<ShownGrowth>;

std::vector<model::LiveSum> SumsAt(size_t snapshots, const std::vector<model::Followed>& objects) {
  std::vector<model::LiveSum> sums;
  for (uint32_t i = 1; i <= snapshots; ++i) {
    model::LiveSum& sum = sums.emplace_back(i);
    for (const model::Followed& object : objects) sum.Add(object);
  }
  return sums;
}

std::vector<GrowthRow> RowsOf(const LiveHistory& history) {
  std::vector<GrowthRow> rows;
  for (size_t i = 0; i < history.contexts.size(); ++i) {
    const model::LiveContext& context = history.contexts[i];
    rows.push_back({.context = i,
                    .bytes = GrowthOf(history.times, context.bytes),
                    .objects = GrowthOf(history.times, context.objects),
                    .bytes_at = SumsAt(history.times.size(), context.bytes),
                    .objects_at = SumsAt(history.times.size(), context.objects)});
  }
  std::ranges::stable_sort(rows, std::greater(), [](const GrowthRow& row) {
    return std::pair(row.bytes.IsCertain(), row.bytes.per_second);
  });
  return rows;
}

std::string PathOf(LiveHistory& history, size_t context, model::NameForm form, size_t frames) {
  std::string text;
  for (const profile::MethodId method : history.contexts[context].path) {
    if (frames-- == 0) return text + " < ...";
    text += text.empty() ? "" : " < ";
    text += history.names.In(form, method);
  }
  return text.empty() ? "(outside any method)" : text;
}

Value Whole(double value) { return Value::Signed(model::Rounded(value)); }

GrowthColumns ColumnsOf(const LiveHistory& history, const Options& options) {
  GrowthColumns columns(EntryOf(options.format).view);
  constexpr unsigned kData = kCsv | kJson;
  columns.Add(kPeople, {"LB/S", 12},
              [](const ShownGrowth& shown) { return Whole(shown.row.bytes.per_second); });
  columns.Add(kPeople, {"+-", 12},
              [](const ShownGrowth& shown) { return Whole(shown.row.bytes.arm); });
  columns.Add(kPeople, {"SURE", 4}, [](const ShownGrowth& shown) {
    return Value::Text(shown.row.bytes.IsCertain() ? "yes" : "no");
  });
  columns.Add(kPeople, {"LB", 14},
              [](const ShownGrowth& shown) { return Whole(shown.row.last_bytes()); });
  columns.Add(kPeople, {.name = "LO", .width = 12, .spare = 1}, [](const ShownGrowth& shown) {
    return Whole(shown.row.objects_at.back().Get().value);
  });
  columns.Add(kPeople, {"NAME"}, [](const ShownGrowth& shown) { return Value::Text(shown.type); });
  const auto number = [&](const char* name, auto get) {
    columns.Add(kData, {name},
                [get](const ShownGrowth& shown) { return Value::Number(get(shown.row)); });
  };
  number("bytes_per_second", [](const GrowthRow& row) { return row.bytes.per_second; });
  number("bytes_arm", [](const GrowthRow& row) { return row.bytes.arm; });
  columns.Add(kData, {"certain"},
              [](const ShownGrowth& shown) { return Value::Bool(shown.row.bytes.IsCertain()); });
  number("objects_per_second", [](const GrowthRow& row) { return row.objects.per_second; });
  number("objects_arm", [](const GrowthRow& row) { return row.objects.arm; });
  const auto list = [&](const char* name, auto sums) {
    const auto value = [sums](const ShownGrowth& shown, size_t snapshot) {
      return Value::Number(sums(shown.row)[snapshot].Get().value);
    };
    const size_t count = history.times.size();
    columns.Add(kJson, {.name = name, .shape = Column::Shape::kList, .cells = count}, value);
    for (size_t i = 0; i < count; ++i) {
      columns.Add(kCsv, {fmt::format("{}_{}", name, i + 1)},
                  [value, i](const ShownGrowth& shown) { return value(shown, i); });
    }
  };
  list(
      "live_bytes", [](const GrowthRow& row) -> auto& { return row.bytes_at; });
  list(
      "live_objects", [](const GrowthRow& row) -> auto& { return row.objects_at; });
  columns.Add(kData, {"class"}, [](const ShownGrowth& shown) { return Value::Text(shown.type); });
  columns.Add(kData, {"context"}, [](const ShownGrowth& shown) { return Value::Text(shown.path); });
  return columns;
}

void TextHead(const model::Source& source, LiveHistory& history, Output& out) {
  Head head = RunHead(source, "growth");
  head.lines.push_back(
      {"snapshots",
       fmt::format("{}, the last one {} after the start, each after a full collection; "
                   "{} of them in LB/S",
                   history.times.size(), Duration(history.times.back() * 1e9),
                   history.times.size() - model::WarmUpOf(history.times.size()))});
  if (history.interval != 0) {
    head.lines.push_back(
        {"sample", fmt::format("one object in {} bytes on average: estimates", history.interval)});
  }
  PrintHead(head, QualityOf(source, history.names), out);
  out.Text("\n");
}

void JsonHead(const model::Source& source, const LiveHistory& history, JsonWriter& json) {
  JsonRun(source, "growth", json);
  json.Member("interval", history.interval);
  json.Member("left_out", static_cast<uint64_t>(model::WarmUpOf(history.times.size())));
  json.Key("times_s");
  json.StartArray();
  for (const double time : history.times) json.Shortest(time);
  json.EndArray();
  JsonLosses(source, QualityOf(source, history.names), json);
}

void WriteRow(LiveHistory& history, const GrowthRow& row, const Options& options,
              GrowthColumns& columns, TableWriter& writer) {
  const bool text = options.for_people();
  const model::NameForm form = text ? options.names : model::NameForm::kJvm;
  std::string type(history.names.In(form, history.contexts[row.context].type));
  const std::string path =
      PathOf(history, row.context, text ? ShortOf(form) : form, text ? kFramesInText : SIZE_MAX);
  if (text) type += " < " + path;
  writer.Row(columns.Of({row, type, path}));
}

}  // namespace

Result<void> PrintGrowth(model::Source& source, const Options& options, Output& out) {
  auto history = model::LoadLive(source);
  if (!history) return std::unexpected(history.error());
  if (history->times.size() < model::kLeastSnapshots) {
    return WrongUse(
        "{} has {} snapshots of its live objects; growth needs {}: record them with: "
        "jprof objects --live sampled --snapshots 30s -- java ...",
        source.reader.shown(), history->times.size(), model::kLeastSnapshots);
  }
  const std::vector<GrowthRow> rows = RowsOf(*history);
  const size_t shown = options.fits_screen() ? std::min(rows.size(), kScreenRows) : rows.size();
  const Layout layout = {
      .head = {.text = [&](Output& text) { TextHead(source, *history, text); },
               .json = [&](JsonWriter& json) { JsonHead(source, *history, json); }},
      .tail = {.text = [&](Output& text) { text.Text(MoreText(rows.size() - shown, "context")); }},
      .rows = "contexts",
      .width = options.width,
      .legend = options.legend};
  GrowthColumns columns = ColumnsOf(*history, options);
  const auto writer = EntryOf(options.format).make(layout, out);
  writer->Begin(columns.columns());
  for (const GrowthRow& row : std::span(rows).first(shown))
    WriteRow(*history, row, options, columns, *writer);
  writer->End();
  return {};
}

}  // namespace jprof::reports
