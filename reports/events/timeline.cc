#include "reports/events/timeline.h"

#include <algorithm>
#include <numeric>

#include "model/events/stretch_sums.h"
#include "model/events/wait_groups.h"
#include "model/values/statistics.h"
#include "reports/events/events_head.h"
#include "reports/print/formats.h"
#include "reports/print/screen.h"
#include "reports/print/units.h"

namespace jprof::reports {
namespace {

constexpr size_t kThreadsShown = 12, kWaitsShown = 15;
constexpr size_t kFramesShown = 3;

Value Time(uint64_t ns) { return Value::Duration(static_cast<double>(ns)); }

// What the columns' getters see of a thread.
struct ThreadRow {
  const model::StretchThread& thread;
  const model::ThreadSums& sums;
  double percent;  // of the recorded time on a processor
  std::string_view name;
  std::string_view waits;  // what it waited for most
};

void AddThreadColumns(const std::vector<std::string>& counters, Columns<ThreadRow>& columns) {
  columns.Add(kPeople, {"RAN", 8}, [](const ThreadRow& row) { return Time(row.sums.ran); });
  columns.Add(kPeople, {"%", 5}, [](const ThreadRow& row) { return Value::Fixed(row.percent, 1); });
  columns.Add(kPeople, {"READY", 8}, [](const ThreadRow& row) { return Time(row.sums.ready); });
  columns.Add(kPeople, {"WAITED", 8}, [](const ThreadRow& row) {
    return Time(std::accumulate(row.sums.waited.begin(), row.sums.waited.end(), uint64_t{0}));
  });
  columns.Add(kPeople, {.name = "INTR", .width = 8, .spare = 2},
              [](const ThreadRow& row) { return Time(row.sums.interrupts); });
  columns.Add(kPeople, {"DISP", 7},
              [](const ThreadRow& row) { return Value::Integer(row.sums.dispatches); });
  columns.Add(kPeople, {.name = "PREEMPT", .width = 7, .spare = 1},
              [](const ThreadRow& row) { return Value::Integer(row.sums.preempted); });
  for (size_t i = 0; i < counters.size(); ++i) {
    columns.Add(kPeople, {counters[i], std::max(12, static_cast<int>(counters[i].size()))},
                [i](const ThreadRow& row) { return Value::Integer(row.sums.counted[i]); });
  }
  columns.Add(kPeople, {.name = "TID", .width = 7, .spare = 3},
              [](const ThreadRow& row) { return Value::Integer(row.thread.thread); });
  columns.Add(kPeople, {"THREAD: what it waited for most"},
              [](const ThreadRow& row) { return Value::Text(row.name); });
}

// What they see of a group of waits.
struct WaitRow {
  const model::WaitGroup& group;
  std::string_view text;
};

void AddWaitColumns(Columns<WaitRow>& columns) {
  columns.Add(kPeople, {"WAITED", 8}, [](const WaitRow& row) { return Time(row.group.waited); });
  columns.Add(kPeople, {"READY", 8}, [](const WaitRow& row) { return Time(row.group.ready); });
  columns.Add(kPeople, {"LONGEST", 8}, [](const WaitRow& row) { return Time(row.group.longest); });
  columns.Add(kPeople, {"COUNT", 8},
              [](const WaitRow& row) { return Value::Integer(row.group.count); });
  columns.Add(kPeople, {"FOR", 10},
              [](const WaitRow& row) { return Value::Text(NameOf(row.group.reason)); });
  columns.Add(kPeople, {"THREAD: where, woken by whom"},
              [](const WaitRow& row) { return Value::Text(row.text); });
}

// What they see of a stretch, in CSV and JSON.
struct StretchRow {
  const model::RecordedEvents& events;
  const model::Stretch& stretch;
  std::string_view thread, reason, detail, call, context, waker;
};

void AddStretchColumns(const model::Stretches& stretches, Columns<StretchRow>& columns) {
  constexpr unsigned kData = kCsv | kJson;
  const auto thread = [](const StretchRow& row) -> const model::StretchThread& {
    return row.events.stretches.threads[row.stretch.thread];
  };
  const auto add = [&](const char* name, auto get) { columns.Add(kData, {name}, get); };
  add("pid", [thread](const StretchRow& row) { return Value::Integer(thread(row).process); });
  add("tid", [thread](const StretchRow& row) { return Value::Integer(thread(row).thread); });
  add("thread", [](const StretchRow& row) { return Value::Text(row.thread); });
  add("processor", [](const StretchRow& row) { return Value::Integer(row.stretch.processor); });
  add("begin_ns", [](const StretchRow& row) { return Value::Integer(row.stretch.begin); });
  add("duration_ns", [](const StretchRow& row) { return Value::Integer(row.stretch.duration()); });
  add("interrupts_ns",
      [](const StretchRow& row) { return Value::Integer(row.stretch.interrupts); });
  for (size_t i = 0; i < stretches.counters.size(); ++i) {
    columns.Add(kData, {"count:" + stretches.counters[i]}, [i, &stretches](const StretchRow& row) {
      const auto index = static_cast<size_t>(&row.stretch - stretches.stretches.data());
      return Value::Integer(stretches.counted[index * stretches.counters.size() + i]);
    });
  }
  add("ready_at_ns", [](const StretchRow& row) { return Value::Integer(row.stretch.ready); });
  add("woken_by", [](const StretchRow& row) { return Value::Text(row.waker); });
  add("then", [](const StretchRow& row) { return Value::Text(row.reason); });
  add("for", [](const StretchRow& row) { return Value::Text(row.detail); });
  add("call", [](const StretchRow& row) { return Value::Text(row.call); });
  add("context", [](const StretchRow& row) { return Value::Text(row.context); });
}

class TimelineReport {
 public:
  TimelineReport(model::RecordedEvents& events, const Options& options, Output& out)
      : events_(events),
        options_(options),
        out_(out),
        reasons_(events.stretches, events.names, events.jvms),
        sums_(model::SumThreads(events.stretches, reasons_)),
        chosen_(ProgramThreads(events)) {
    if (options.all) chosen_.assign(chosen_.size(), true);
  }

  void PrintText() {
    EventsHead(events_, "timeline", options_.width, out_);
    PrintThreads();
    PrintWaits();
  }

  void PrintData() {
    const Layout layout = {.head = {.text = {}, .json = [&](JsonWriter& json) { JsonHead(json); }},
                           .rows = "stretches"};
    const auto writer = EntryOf(options_.format).make(layout, out_);
    Columns<StretchRow> columns(EntryOf(options_.format).view);
    AddStretchColumns(events_.stretches, columns);
    writer->Begin(columns.columns());
    for (const model::Stretch& stretch : events_.stretches.stretches) {
      if (!chosen_[stretch.thread]) continue;
      const std::string thread = events_.ThreadName(stretch.thread), then = Then(stretch);
      const std::string detail = reasons_.DetailOf(stretch);
      const std::string call = stretch.call >= 0 ? model::SystemCallName(stretch.call) : "";
      const std::string context = Path(stretch.thread, stretch.context, SIZE_MAX);
      const std::string waker = events_.ThreadName(stretch.waker);
      writer->Row(columns.Of({events_, stretch, thread, then, detail, call, context, waker}));
    }
    writer->End();
  }

 private:
  model::NameForm Form() const {
    return options_.for_people() ? ShortOf(options_.names) : model::NameForm::kJvm;
  }
  std::string Path(uint32_t thread, uint64_t context, size_t frames) {
    return events_.names.PathOf(events_.stretches.threads[thread].process, context, Form(), frames);
  }
  std::string Then(const model::Stretch& stretch) {
    if (stretch.state == model::StopState::kRuns) return "runs";
    if (stretch.state == model::StopState::kDead) return "ended";
    return std::string(NameOf(reasons_.Of(stretch)));
  }

  // Returns the layout of a table of text below another one. `more` says what it leaves out.
  Layout TableLayout(std::string more, bool is_prose) const {
    return {.head = {.text = [](Output& out) { out.Text("\n"); }, .json = {}},
            .tail = {.text = [more = std::move(more)](Output& out) { out.Text(more); }, .json = {}},
            .width = options_.width,
            .is_prose = is_prose,
            .legend = options_.legend};
  }

  // Returns "park 80 %, sleep 20 %".
  static std::string WaitsText(const model::ThreadSums& sums) {
    std::vector<std::pair<uint64_t, std::string_view>> parts;
    uint64_t all = 0;
    for (const model::WaitReasonRow& row : model::kWaitReasons) {
      const uint64_t waited = sums.waited[static_cast<size_t>(row.reason)];
      all += waited;
      if (waited != 0) parts.emplace_back(waited, row.name);
    }
    std::ranges::sort(parts, std::ranges::greater());
    std::string text;
    for (size_t i = 0; i < std::min<size_t>(2, parts.size()); ++i)
      text += fmt::format("{}{} {:.0f} %", i == 0 ? "" : ", ", parts[i].second,
                          model::PercentOf(parts[i].first, all));
    return text;
  }

  std::vector<uint32_t> ThreadsByTime() const {
    std::vector<uint32_t> order;
    for (uint32_t i = 0; i < sums_.size(); ++i) {
      if (chosen_[i] && events_.stretches.threads[i].count != 0) order.push_back(i);
    }
    std::ranges::stable_sort(order, std::ranges::greater(),
                             [&](uint32_t i) { return sums_[i].on_processor(); });
    return order;
  }

  void PrintThreads() {
    const auto order = ThreadsByTime();
    const size_t shown =
        options_.fits_screen() ? std::min(kThreadsShown, order.size()) : order.size();
    const Layout layout = TableLayout(MoreText(order.size() - shown, "thread"), false);
    const auto writer = EntryOf(options_.format).make(layout, out_);
    Columns<ThreadRow> columns(kPeople);
    AddThreadColumns(events_.stretches.counters, columns);
    writer->Begin(columns.columns());
    for (const uint32_t i : std::span(order).first(shown)) {
      const std::string waits = WaitsText(sums_[i]);
      const std::string name = events_.ThreadName(i) + (waits.empty() ? "" : ": " + waits);
      writer->Row(
          columns.Of({events_.stretches.threads[i], sums_[i],
                      model::PercentOf(sums_[i].ran, events_.stretches.duration), name, waits}));
    }
    writer->End();
  }

  std::string WaitText(const model::WaitGroup& group) {
    std::string text = events_.ThreadName(group.thread);
    if (group.threads > 1) text += fmt::format(" and {} more", group.threads - 1);
    if (!group.detail.empty()) text += fmt::format(" for {}", group.detail);
    const std::string path = Path(group.thread, group.context, kFramesShown);
    if (!path.empty())
      text += ": " + path;
    else if (group.call >= 0)
      text += ": system call " + model::SystemCallName(group.call);
    if (group.waker_count != 0 && group.waker != model::kNoThread)
      text += "; woken by " + events_.ThreadName(group.waker);
    return text;
  }

  // Returns the waits: where calls are counted, those of the program's code before all others.
  std::vector<model::WaitGroup> Waits() {
    auto groups = model::GroupWaits(events_.stretches, reasons_, chosen_);
    std::ranges::stable_partition(groups,
                                  [](const model::WaitGroup& group) { return group.context != 0; });
    return groups;
  }

  void PrintWaits() {
    const auto groups = Waits();
    const size_t shown =
        options_.fits_screen() ? std::min(kWaitsShown, groups.size()) : groups.size();
    const Layout layout = TableLayout(MoreText(groups.size() - shown, "wait"), true);
    const auto writer = EntryOf(options_.format).make(layout, out_);
    Columns<WaitRow> columns(kPeople);
    AddWaitColumns(columns);
    writer->Begin(columns.columns());
    for (const model::WaitGroup& group : std::span(groups).first(shown)) {
      const std::string text = WaitText(group);
      writer->Row(columns.Of({group, text}));
    }
    writer->End();
  }

  void JsonHead(JsonWriter& json) {
    EventsJson(events_, "timeline", json);
    json.Key("threads");
    json.StartArray();
    for (const uint32_t i : ThreadsByTime()) {
      const model::StretchThread& thread = events_.stretches.threads[i];
      json.StartRow();
      json.Member("pid", thread.process);
      json.Member("tid", thread.thread);
      json.Member("name", events_.ThreadName(i));
      json.Member("began_ns", thread.began);
      json.Member("ran_ns", sums_[i].ran);
      json.Member("interrupts_ns", sums_[i].interrupts);
      json.Member("interrupts", sums_[i].interrupt_count);
      json.Member("ready_ns", sums_[i].ready);
      json.Member("dispatches", sums_[i].dispatches);
      json.Member("preempted", sums_[i].preempted);
      json.Key("waited_ns");
      json.StartObject();
      for (const model::WaitReasonRow& row : model::kWaitReasons)
        json.Member(row.name, sums_[i].waited[static_cast<size_t>(row.reason)]);
      json.EndObject();
      if (!sums_[i].counted.empty()) {
        json.Key("counts");
        json.StartObject();
        for (size_t c = 0; c < sums_[i].counted.size(); ++c)
          json.Member(events_.stretches.counters[c], sums_[i].counted[c]);
        json.EndObject();
      }
      json.EndObject();
    }
    json.EndArray();
    JsonMarks(json);
  }

  void JsonMarks(JsonWriter& json) {
    json.Key("marks");
    json.StartArray();
    for (const model::Mark& mark : events_.marks) {
      json.StartRow();
      json.Member("time_ns", mark.time);
      json.Member("thread", events_.ThreadName(mark.thread));
      json.Member("text", mark.text);
      json.EndObject();
    }
    json.EndArray();
  }

  model::RecordedEvents& events_;
  const Options& options_;
  Output& out_;
  model::WaitReasons reasons_;
  std::vector<model::ThreadSums> sums_;
  std::vector<bool> chosen_;
};

}  // namespace

Result<void> PrintTimeline(model::RecordedEvents& events, const Options& options, Output& out) {
  TimelineReport report(events, options, out);
  if (options.for_people())
    report.PrintText();
  else
    report.PrintData();
  return {};
}

}  // namespace jprof::reports
