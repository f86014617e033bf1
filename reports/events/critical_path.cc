#include "model/events/critical_path.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "common/nearest.h"
#include "model/events/waits.h"
#include "model/values/statistics.h"
#include "profile/files/printable_text.h"
#include "reports/events/events_head.h"
#include "reports/events/timeline.h"
#include "reports/print/formats.h"
#include "reports/print/screen.h"
#include "reports/print/units.h"

namespace jprof::reports {
namespace {

using Kind = model::PathPiece::Kind;
constexpr size_t kPathFrames = 3;

// Pieces of one thread that do the same in the same context.
struct PathRow {
  uint64_t time = 0, longest = 0, count = 0;
  double percent = 0;
  std::string what, thread, where;
};

void AddColumns(Columns<PathRow>& columns) {
  constexpr unsigned kData = kCsv | kJson;
  const auto duration = [](uint64_t ns) { return Value::Duration(static_cast<double>(ns)); };
  columns.Add(kPeople, {"TIME", 8}, [=](const PathRow& row) { return duration(row.time); });
  columns.Add(kPeople, {"%", 5}, [](const PathRow& row) { return Value::Fixed(row.percent, 1); });
  columns.Add(kPeople, {"LONGEST", 8}, [=](const PathRow& row) { return duration(row.longest); });
  columns.Add(kData, {"time_ns"}, [](const PathRow& row) { return Value::Integer(row.time); });
  columns.Add(kData, {"longest_ns"},
              [](const PathRow& row) { return Value::Integer(row.longest); });
  columns.Add(kPeople, {"COUNT", 7}, [](const PathRow& row) { return Value::Integer(row.count); });
  columns.Add(kData, {"count"}, [](const PathRow& row) { return Value::Integer(row.count); });
  columns.Add(kPeople, {"WHAT", 10}, [](const PathRow& row) { return Value::Text(row.what); });
  columns.Add(kData, {"what"}, [](const PathRow& row) { return Value::Text(row.what); });
  columns.Add(kPeople, {"THREAD: where"},
              [](const PathRow& row) { return Value::Text(row.where); });
  columns.Add(kData, {"thread"}, [](const PathRow& row) { return Value::Text(row.thread); });
  columns.Add(kData, {"where"}, [](const PathRow& row) { return Value::Text(row.where); });
}

// Returns the thread whose end is explained: of the program's process, the one named "main", else
// the first one.
uint32_t MainThread(const model::RecordedEvents& events) {
  const std::vector<bool> chosen = ProgramThreads(events);
  uint32_t first = model::kNoThread;
  for (uint32_t i = 0; i < chosen.size(); ++i) {
    if (!chosen[i] || events.stretches.threads[i].count == 0) continue;
    if (events.stretches.threads[i].name == "main") return i;
    if (first == model::kNoThread) first = i;
  }
  return first;
}

// What the path explains.
struct PathRange {
  uint32_t thread = model::kNoThread;
  uint64_t begin = 0, end = 0;
};

Result<const model::Mark*> Named(const model::RecordedEvents& events, const std::string& text,
                                 uint64_t since) {
  if (const model::Mark* mark = FindMark(events.marks, text, since)) return mark;
  if (const model::Mark* earlier = FindMark(events.marks, text, 0))
    return WrongUse("{}: the mark '{}' is not after that of --from: it is at {}", events.directory,
                    text, Duration(static_cast<double>(earlier->time)));
  std::vector<std::string_view> texts;
  for (const model::Mark& mark : events.marks) texts.push_back(mark.text);
  if (texts.empty())
    return WrongUse(
        "{} has no marks: programs write them by jprof_mark or Mark.mark "
        "(docs/EVENTS.md)",
        events.directory);
  const auto nearest = Nearest(text, texts);
  return WrongUse("{} has no mark '{}'{}", events.directory, profile::CleanText(text),
                  nearest ? fmt::format("; did you mean '{}'?", *nearest) : "");
}

// Returns the range from the first mark --from to the next mark --to, or that of the main thread.
Result<PathRange> RangeOf(const model::RecordedEvents& events, const Options& options) {
  PathRange range = {.thread = MainThread(events)};
  if (range.thread == model::kNoThread)
    return WrongUse("{} has no thread of the program", events.directory);
  range.end = events.stretches.threads[range.thread].ended;
  if (!options.from.empty()) {
    const auto mark = Named(events, options.from, 0);
    if (!mark) return std::unexpected(mark.error());
    range.begin = (*mark)->time;
  }
  if (!options.to.empty()) {
    const auto mark = Named(events, options.to, options.from.empty() ? 0 : range.begin + 1);
    if (!mark) return std::unexpected(mark.error());
    range.end = (*mark)->time;
    if ((*mark)->thread != model::kNoThread) range.thread = (*mark)->thread;
  }
  return range;
}

class PathReport {
 public:
  PathReport(model::RecordedEvents& events, const Options& options)
      : events_(events), options_(options), reasons_(events.stretches, events.names, events.jvms) {}

  std::vector<PathRow> Rows(const std::vector<model::PathPiece>& path) {
    std::map<std::tuple<Kind, std::string, std::string, std::string>, PathRow> rows;
    uint64_t all = 0;
    for (const model::PathPiece& piece : path) {
      const std::string thread = events_.ThreadName(piece.thread);
      const std::string what = What(piece), where = Where(piece);
      PathRow& row = rows[{piece.kind, thread, what, where}];
      const uint64_t time = piece.end - piece.begin;
      row.time += time;
      row.longest = std::max(row.longest, time);
      ++row.count;
      row.what = what;
      row.thread = thread;
      row.where = !options_.for_people() ? where : where.empty() ? thread : thread + ": " + where;
      all += time;
    }
    std::vector<PathRow> sorted;
    for (auto& [key, row] : rows) {
      row.percent = model::PercentOf(row.time, all);
      sorted.push_back(std::move(row));
    }
    std::ranges::stable_sort(sorted, std::ranges::greater(), &PathRow::time);
    return sorted;
  }

 private:
  std::string What(const model::PathPiece& piece) {
    if (piece.kind == Kind::kRuns) return "runs";
    if (piece.kind == Kind::kReady) return "ready";
    return std::string(NameOf(reasons_.Of(events_.stretches.stretches[piece.stretch])));
  }
  std::string Where(const model::PathPiece& piece) {
    if (piece.kind == Kind::kReady) return "";
    const model::Stretch& stretch = events_.stretches.stretches[piece.stretch];
    const bool people = options_.for_people();
    const std::string path = events_.names.PathOf(
        events_.stretches.threads[piece.thread].process, stretch.context,
        people ? ShortOf(options_.names) : model::NameForm::kJvm, people ? kPathFrames : SIZE_MAX);
    if (!path.empty() || stretch.call < 0 || piece.kind == Kind::kRuns) return path;
    return "system call " + model::SystemCallName(stretch.call);
  }

  model::RecordedEvents& events_;
  const Options& options_;
  model::WaitReasons reasons_;
};

}  // namespace

Result<void> PrintCriticalPath(model::RecordedEvents& events, const Options& options, Output& out) {
  if (events.meta.process == 0) {
    return WrongUse(
        "{} is of the whole machine: the critical path is that of a program; record one "
        "with: jprof timeline -- CMD...",
        events.directory);
  }
  const auto range = RangeOf(events, options);
  if (!range) return std::unexpected(range.error());
  const auto [thread, from, end] = *range;
  const auto path = model::CriticalPath(events.stretches, thread, from, end);
  const std::vector<PathRow> rows = PathReport(events, options).Rows(path);
  const size_t shown = options.fits_screen() ? std::min(kScreenRows, rows.size()) : rows.size();
  const uint64_t begin = path.empty() ? end : path.front().begin;
  const bool has_ended = end < events.stretches.duration;
  const std::string until = !options.to.empty() ? fmt::format("the mark '{}'", options.to)
                            : has_ended         ? "its end"
                                                : "the end of the recording";
  const std::string text =
      fmt::format("the {} of thread {} before {}", Duration(static_cast<double>(end - begin)),
                  events.ThreadName(thread), until);
  const Layout layout = {
      .head = {.text =
                   [&](Output& to) {
                     EventsHead(events, "critical-path", options.width, to);
                     to.Print(" path      {}\n\n", text);
                   },
               .json =
                   [&](JsonWriter& json) {
                     EventsJson(events, "critical-path", json);
                     json.Member("thread", events.ThreadName(thread));
                     json.Member("begin_ns", begin);
                     json.Member("end_ns", end);
                   }},
      .tail = {.text = [&](Output& to) { to.Text(MoreText(rows.size() - shown, "row")); },
               .json = {}},
      .width = options.width,
      .is_prose = true,
      .legend = options.legend};
  const auto writer = EntryOf(options.format).make(layout, out);
  Columns<PathRow> columns(EntryOf(options.format).view);
  AddColumns(columns);
  writer->Begin(columns.columns());
  for (const PathRow& row : std::span(rows).first(shown)) writer->Row(columns.Of(row));
  writer->End();
  return {};
}

}  // namespace jprof::reports
