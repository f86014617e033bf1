#include "cli/events/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/shared/json_output.h"
#include "profile/files/printable_text.h"

namespace jprof::cli {
namespace {

double Mean(const events::Summary& summary) {
  return static_cast<double>(summary.sum) / static_cast<double>(summary.count);
}

// Returns the part of a thread that the rows distinguish.
events::Writer GroupOf(const events::Writer& writer, EventGroups groups) {
  if (groups == EventGroups::kThread) return writer;
  return {.process = groups == EventGroups::kProcess ? writer.process : 0};
}

std::string Label(const events::Writer& group, EventGroups groups) {
  if (groups == EventGroups::kProcess) return fmt::format("{}", group.process);
  return fmt::format("{}/{} {}", group.process, group.thread, profile::CleanText(group.name));
}

}  // namespace

EventRows CountEvents(events::Trace& trace, EventGroups groups) {
  std::map<std::pair<events::Writer, uint32_t>, EventCounts> by_id;
  events::VisitRecords(trace, [&](const events::Record& record) {
    ++by_id[{GroupOf(record.writer, groups), record.event.id}].logged;
  });
  for (const auto& [of, summary] : trace.statistics)
    Add(summary, by_id[{GroupOf(of.first, groups), of.second}].statistics);
  EventRows rows;
  for (const auto& [of, counts] : by_id) {
    const auto known = trace.events.find(of.second);
    if (known != trace.events.end())
      rows[{of.first, known->second.full_name, known->second.event.version}] = counts;
  }
  return rows;
}

Result<void> PrintEventsJson(const events::Trace& trace, const EventRows& rows,
                             EventGroups groups) {
  return PrintIndentedJson([&](reports::JsonWriter& json) {
    json.StartObject();
    json.Member("discarded", trace.discarded);
    json.Member("damaged_files", trace.damages.files);
    json.Member("unread_bytes", trace.damages.bytes);
    json.Key("events");
    json.StartArray();
    for (const auto& [row, counts] : rows) {
      json.StartObject();
      if (groups != EventGroups::kNone) json.Member("process", row.group.process);
      if (groups == EventGroups::kThread) {
        json.Member("thread", row.group.thread);
        json.Member("thread_name", row.group.name);
      }
      json.Member("event", row.event);
      json.Member("version", row.version);
      json.Member("logged", counts.logged);
      if (const events::Summary& s = counts.statistics; s.count != 0) {
        json.Member("count", s.count);
        json.Member("sum", s.sum);
        json.Member("min", s.min);
        json.Member("max", s.max);
        DecimalMember("mean", Mean(s), json);
      }
      json.EndObject();
    }
    json.EndArray();
    json.EndObject();
  });
}

void PrintEventsText(const EventRows& rows, EventGroups groups) {
  const bool grouped = groups != EventGroups::kNone;
  const char* head = groups == EventGroups::kThread ? "PROCESS/THREAD" : "PROCESS";
  size_t width = 5, group_width = std::string_view(head).size();
  for (const auto& [row, counts] : rows) {
    width = std::max(width, row.event.size());
    group_width = std::max(group_width, Label(row.group, groups).size());
  }
  if (grouped) fmt::print("{:<{}}  ", head, group_width);
  fmt::print(
      "{:<{}}  VERSION      LOGGED     COUNTED           SUM          MIN          MAX"
      "         MEAN\n",
      "EVENT", width);
  for (const auto& [row, counts] : rows) {
    if (grouped) fmt::print("{:<{}}  ", Label(row.group, groups), group_width);
    fmt::print("{:<{}}  {:>7} {:>11}", row.event, width, row.version, counts.logged);
    if (const events::Summary& s = counts.statistics; s.count != 0)
      fmt::print(" {:>11} {:>13} {:>12} {:>12} {:>12.1f}", s.count, s.sum, s.min, s.max, Mean(s));
    fmt::print("\n");
  }
}

}  // namespace jprof::cli
