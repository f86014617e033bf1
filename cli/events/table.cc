#include "cli/events/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

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

std::string_view Head(EventGroups groups) {
  if (groups == EventGroups::kProcessor) return "PROCESSOR";
  return groups == EventGroups::kThread ? "PROCESS/THREAD" : "PROCESS";
}

std::string Label(const EventRow& row, EventGroups groups) {
  const events::Writer& group = row.group;
  if (groups == EventGroups::kProcessor)
    return row.processor ? fmt::format("{}", *row.processor) : "-";
  if (groups == EventGroups::kProcess) return fmt::format("{}", group.process);
  return fmt::format("{}/{} {}", group.process, group.thread, profile::CleanText(group.name));
}

std::optional<uint32_t> ProcessorOf(const events::Record& record) {
  const auto& written = record.event.event.written;
  if (std::ranges::find(written, events::Context::kProcessor) == written.end()) return std::nullopt;
  const events::FieldValue* value = ValueOf(record, "processor");
  return value == nullptr ? std::nullopt
                          : std::optional(static_cast<uint32_t>(std::get<uint64_t>(*value)));
}

// Returns what the level statistics would have added, but for the histogram.
events::Summary StatisticsOf(const events::Record& record) {
  const events::FieldValue* value = ValueOf(record, record.event.event.statistics);
  int64_t number = 0;
  if (value != nullptr && std::holds_alternative<int64_t>(*value))
    number = std::get<int64_t>(*value);
  if (value != nullptr && std::holds_alternative<uint64_t>(*value))
    number = static_cast<int64_t>(std::min<uint64_t>(std::get<uint64_t>(*value), INT64_MAX));
  return {.count = 1, .sum = number, .min = number, .max = number};
}

using ById = std::map<std::tuple<events::Writer, std::optional<uint32_t>, uint32_t>, EventCounts>;

void AddRecord(const events::Record& record, EventGroups groups, ById& by_id) {
  const auto processor = groups == EventGroups::kProcessor ? ProcessorOf(record) : std::nullopt;
  EventCounts& counts = by_id[{GroupOf(record.writer, groups), processor, record.event.id}];
  ++counts.logged;
  if (processor) Add(StatisticsOf(record), counts.statistics);
}

}  // namespace

EventRows CountEvents(events::Trace& trace, EventGroups groups) {
  ById by_id;
  events::VisitRecords(trace,
                       [&](const events::Record& record) { AddRecord(record, groups, by_id); });
  for (const auto& [of, summary] : trace.statistics)
    Add(summary, by_id[{GroupOf(of.first, groups), std::nullopt, of.second}].statistics);
  EventRows rows;
  for (const auto& [of, counts] : by_id) {
    const auto& [group, processor, id] = of;
    const auto known = trace.events.find(id);
    if (known != trace.events.end())
      rows[{group, processor, known->second.full_name, known->second.event.version}] = counts;
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
      if (groups == EventGroups::kProcessor) OptionalMember("processor", row.processor, json);
      if (groups == EventGroups::kProcess || groups == EventGroups::kThread)
        json.Member("process", row.group.process);
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
  size_t width = 5, group_width = Head(groups).size();
  for (const auto& [row, counts] : rows) {
    width = std::max(width, row.event.size());
    group_width = std::max(group_width, Label(row, groups).size());
  }
  if (grouped) fmt::print("{:<{}}  ", Head(groups), group_width);
  fmt::print(
      "{:<{}}  VERSION      LOGGED     COUNTED           SUM          MIN          MAX"
      "         MEAN\n",
      "EVENT", width);
  for (const auto& [row, counts] : rows) {
    if (grouped) fmt::print("{:<{}}  ", Label(row, groups), group_width);
    fmt::print("{:<{}}  {:>7} {:>11}", row.event, width, row.version, counts.logged);
    if (const events::Summary& s = counts.statistics; s.count != 0)
      fmt::print(" {:>11} {:>13} {:>12} {:>12} {:>12.1f}", s.count, s.sum, s.min, s.max, Mean(s));
    fmt::print("\n");
  }
}

}  // namespace jprof::cli
