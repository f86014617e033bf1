#include "reports/events/events_head.h"

#include <algorithm>

#include "reports/print/units.h"
#include "reports/quality/quality_of.h"

namespace jprof::reports {
namespace {

std::string LossText(const model::RecordedEvents& events) {
  const model::Stretches& stretches = events.stretches;
  std::string text = fmt::format("{} events of the kernel", stretches.records);
  if (stretches.lost != 0) text += fmt::format("; {} MORE WERE LOST", stretches.lost);
  return text;
}

}  // namespace

void EventsHead(const model::RecordedEvents& events, std::string_view report, size_t width,
                Output& out) {
  const model::Stretches& stretches = events.stretches;
  Head head = {.report = report,
               .of = events.directory,
               .directory = events.directory,
               .lines = {},
               .width = width};
  head.lines.push_back({"command", events.meta.command});
  head.lines.push_back(
      {"time", fmt::format("{} on {}", Duration(static_cast<double>(stretches.duration)),
                           Counted(stretches.processors, "processor", "processors"))});
  head.lines.push_back({"events", LossText(events)});
  head.lines.push_back(
      {"stretches", fmt::format("{} of {}", stretches.stretches.size(),
                                Counted(stretches.threads.size(), "thread", "threads"))});
  if (!events.marks.empty()) {
    const auto& marks = events.marks;
    head.lines.push_back(
        {"marks", fmt::format("{}: {}{}", marks.size(), marks.front().text,
                              marks.size() > 1 ? " to " + marks.back().text : "")});
  }
  PrintHead(head, QualityOf(events), out);
}

void EventsJson(const model::RecordedEvents& events, std::string_view report, JsonWriter& json) {
  const model::Stretches& stretches = events.stretches;
  json.Member("report", report);
  json.Member("directory", events.directory);
  json.Member("command", events.meta.command);
  json.Member("start_unix_ns", stretches.start_unix_ns);
  json.Member("duration_ns", stretches.duration);
  json.Member("events", stretches.records);
  json.Member("lost", stretches.lost);
  JsonQuality(QualityOf(events), json);
}

std::vector<bool> ProgramThreads(const model::RecordedEvents& events) {
  if (events.meta.process == 0) return std::vector<bool>(events.stretches.threads.size(), true);
  return events.stretches.ThreadsBelow(static_cast<uint32_t>(events.meta.process));
}

}  // namespace jprof::reports
