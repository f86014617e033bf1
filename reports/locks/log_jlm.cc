#include "reports/locks/log_jlm.h"

#include <algorithm>

#include "model/locks/lock_table.h"
#include "reports/locks/lock_text.h"
#include "reports/print/formats.h"
#include "reports/quality/quality_of.h"
#include "reports/tree/header.h"
#include "reports/tree/outline.h"

namespace jprof::reports {
namespace {

constexpr size_t kFramesInText = 4;
constexpr size_t kContextsInText = 5;  // of each kind below a lock

// A row as the columns' getters see it.
struct JlmRow {
  enum class Kind { kLock, kContext, kWait };
  Kind kind;
  const model::LockTable& table;
  model::LockCounts counts;
  const LockKindEntry& of;   // the kind of lock
  std::string_view lock;     // name of its class
  std::string_view context;  // where it is taken or waited for
  std::string_view owner;    // where the owner has taken it
  std::string_view name;     // in text, all of these
};
using JlmColumns = Columns<JlmRow>;

bool IsWait(const JlmRow& row) { return row.kind == JlmRow::Kind::kWait; }
bool HasHold(const JlmRow& row) { return row.table.timed && row.of.is_held && !IsWait(row); }

std::string_view KindName(const JlmRow& row) {
  constexpr std::string_view kNames[] = {"lock", "context", "wait"};
  return kNames[static_cast<size_t>(row.kind)];
}

Value Miss(const JlmRow& row) {
  if (IsWait(row) || row.counts.nonrec == 0) return Value::Missing();
  return Value::Fixed(
      100 * static_cast<double>(row.counts.slow) / static_cast<double>(row.counts.nonrec), 1);
}

Value Utilisation(const JlmRow& row) {
  if (!HasHold(row) || row.table.elapsed_ns == 0) return Value::Missing();
  return Value::Fixed(row.table.Utilisation(row.counts), 1);
}

Value MeanHold(const JlmRow& row) {
  if (!HasHold(row) || row.counts.nonrec == 0) return Value::Missing();
  return Value::Duration(static_cast<double>(row.counts.hold_ns) /
                         static_cast<double>(row.counts.nonrec));
}

// Returns a number that a wait does not have.
template <auto kNumber>
Value Taken(const JlmRow& row) {
  return IsWait(row) ? Value::Missing() : Value::Integer(kNumber(row.counts));
}
constexpr auto kGets = [](const model::LockCounts& counts) { return counts.gets; };
constexpr auto kFirst = [](const model::LockCounts& counts) { return counts.nonrec; };
constexpr auto kRec = [](const model::LockCounts& counts) { return counts.rec(); };

Value Slow(const JlmRow& row) { return Value::Integer(row.counts.slow); }
Value Hold(const JlmRow& row) {
  return HasHold(row) ? Value::Integer(row.counts.hold_ns) : Value::Missing();
}
Value Unknown(const JlmRow&) { return Value::Missing(); }

void AddText(JlmColumns& columns) {
  columns.Add(kPeople, {"%MISS", 6}, Miss);
  columns.Add(kPeople, {"GETS", 11}, Taken<kGets>);
  columns.Add(kPeople, {"NONREC", 11}, Taken<kFirst>);
  columns.Add(kPeople, {"SLOW", 8}, Slow);
  columns.Add(kPeople, {"REC", 9}, Taken<kRec>);
  columns.Add(kPeople, {.name = "TIER2", .width = 5, .spare = 1}, Unknown);
  columns.Add(kPeople, {.name = "TIER3", .width = 5, .spare = 1}, Unknown);
  columns.Add(kPeople, {"%UTIL", 6}, Utilisation);
  columns.Add(kPeople, {"AVER_HTM", 8}, MeanHold);
  columns.Add(kPeople, {"WAIT", 8}, [](const JlmRow& row) {
    return Value::Duration(static_cast<double>(row.counts.wait_ns));
  });
  columns.Add(kPeople, {"NAME"}, [](const JlmRow& row) { return Value::Text(row.name); });
}

void AddData(JlmColumns& columns) {
  constexpr unsigned kData = kCsv | kJson;
  columns.Add(kData, {"kind"}, [](const JlmRow& row) { return Value::Text(KindName(row)); });
  columns.Add(kData, {"miss_percent"}, Miss);
  columns.Add(kData, {"gets"}, Taken<kGets>);
  columns.Add(kData, {"nonrec"}, Taken<kFirst>);
  columns.Add(kData, {"slow"}, Slow);
  columns.Add(kData, {"rec"}, Taken<kRec>);
  columns.Add(kData, {"tier2"}, Unknown);
  columns.Add(kData, {"tier3"}, Unknown);
  columns.Add(kData, {"util_percent"}, Utilisation);
  columns.Add(kData, {"hold_ns"}, Hold);
  columns.Add(kData, {"wait_ns"},
              [](const JlmRow& row) { return Value::Integer(row.counts.wait_ns); });
  columns.Add(kData, {"lock"}, [](const JlmRow& row) { return Value::Text(row.lock); });
  columns.Add(kData, {"context"}, [](const JlmRow& row) { return Value::Text(row.context); });
  columns.Add(kData, {"owner"}, [](const JlmRow& row) { return Value::Text(row.owner); });
  columns.Add(kData, {"type"}, [](const JlmRow& row) { return Value::Text(row.of.name); });
}

// Writes the rows of the table.
class JlmTable {
 public:
  JlmTable(model::LockTable& table, const Options& options, TableWriter& writer)
      : table_(table), options_(options), writer_(writer), columns_(EntryOf(options.format).view) {
    AddText(columns_);
    AddData(columns_);
    writer.Begin(columns_.columns());
  }

  void Add(size_t lock) {
    const model::Lock& row = table_.locks[lock];
    const std::string name = LockName(table_, lock, Form());
    Write({.kind = JlmRow::Kind::kLock,
           .table = table_,
           .counts = row.counts,
           .of = EntryOf(row.kind),
           .lock = name,
           .name = name});
    if (!options_.contexts) return;
    for (const size_t context : Shown(row.contexts)) AddContext(row, name, context);
    for (const model::LockWait& wait : Shown(row.waits)) AddWait(row, name, wait);
  }

 private:
  // Data has the names of the JVM, text those that the options ask for.
  model::NameForm Form() const {
    return options_.for_people() ? options_.names : model::NameForm::kJvm;
  }
  template <typename T>
  std::span<const T> Shown(const std::vector<T>& all) const {
    const bool some = options_.for_people() && !options_.all;
    return std::span(all).first(some ? std::min(kContextsInText, all.size()) : all.size());
  }
  std::string Path(size_t context) {
    if (context == model::kNoContext) return "";
    return options_.for_people() ? PathText(table_, context, ShortOf(Form()), kFramesInText)
                                 : PathText(table_, context, Form(), SIZE_MAX);
  }
  void AddContext(const model::Lock& of, std::string_view lock, size_t context) {
    const std::string path = Path(context), name = "  in " + path;
    Write({.kind = JlmRow::Kind::kContext,
           .table = table_,
           .counts = table_.contexts[context].counts,
           .of = EntryOf(of.kind),
           .lock = lock,
           .context = path,
           .name = name});
  }
  void AddWait(const model::Lock& of, std::string_view lock, const model::LockWait& wait) {
    const std::string waiter = Path(wait.waiter), owner = Path(wait.owner);
    const std::string name =
        fmt::format("  waits in {} for {}", waiter, owner.empty() ? "an unknown owner" : owner);
    Write({.kind = JlmRow::Kind::kWait,
           .table = table_,
           .counts = {.slow = wait.count, .wait_ns = wait.time_ns},
           .of = EntryOf(of.kind),
           .lock = lock,
           .context = waiter,
           .owner = owner,
           .name = name});
  }
  void Write(const JlmRow& row) { writer_.Row(columns_.Of(row)); }

  model::LockTable& table_;
  const Options& options_;
  TableWriter& writer_;
  JlmColumns columns_;
};

void TextHead(const model::Source& source, const model::LockTable& table, Output& out) {
  Head head = RunHead(source, "log-jlm");
  head.lines.push_back(
      {"locks", table.timed ? "by class and kind" : "by class and kind; no hold times (--lite)"});
  PrintHead(head, QualityOf(source, table.names), out);
  out.Text("\n");
}

void JsonOrder(model::LockTable& table, const model::LockOrder& order, JsonWriter& json) {
  const auto side = [&](const char* key, size_t context, uint32_t object) {
    json.Key(key);
    json.StartObject();
    json.Member("lock", LockName(table, table.contexts[context].lock, model::NameForm::kJvm));
    json.Member("object", object);
    json.Member("context", PathText(table, context, model::NameForm::kJvm, SIZE_MAX));
    json.EndObject();
  };
  json.StartObject();
  side("has", order.from, order.from_object);
  side("asks_for", order.to, order.to_object);
  json.EndObject();
}

void JsonCycles(model::LockTable& table, JsonWriter& json) {
  json.Key("cycles");
  json.StartArray();
  for (const model::LockCycle& cycle : table.cycles) {
    json.StartObject();
    json.Member("same_objects", cycle.same_objects);
    json.Key("orders");
    json.StartArray();
    for (const model::LockOrder& order : cycle.orders) JsonOrder(table, order, json);
    json.EndArray();
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace

Result<void> PrintLogJlm(model::Source& source, const Options& options, Output& out) {
  auto table = model::LoadLocks(source);
  if (!table) return std::unexpected(table.error());
  const size_t all = table->locks.size();
  const size_t shown = options.fits_screen() ? std::min(all, kScreenRows) : all;
  const Layout layout = {.head = {.text = [&](Output& text) { TextHead(source, *table, text); },
                                  .json =
                                      [&](JsonWriter& json) {
                                        JsonRun(source, "log-jlm", json);
                                        json.Member("elapsed_ns",
                                                    static_cast<uint64_t>(table->elapsed_ns));
                                        JsonCycles(*table, json);
                                        JsonLosses(source, QualityOf(source, table->names), json);
                                      }},
                         .tail = {.text =
                                      [&](Output& text) {
                                        text.Text(MoreText(all - shown, "lock"));
                                        text.Text(CyclesText(*table, options.names));
                                      }},
                         .rows = "locks",
                         .width = options.width,
                         .legend = options.legend};
  const auto writer = EntryOf(options.format).make(layout, out);
  JlmTable rows(*table, options, *writer);
  for (size_t lock = 0; lock < shown; ++lock) rows.Add(lock);
  writer->End();
  return {};
}

}  // namespace jprof::reports
