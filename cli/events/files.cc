#include "cli/events/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

#include "cli/shared/choices.h"
#include "cli/shared/json_output.h"
#include "cli/shared/usage_error.h"
#include "events/generate/generate.h"
#include "events/read/trace.h"
#include "events/spec/identity.h"
#include "events/spec/read_specification.h"

namespace jprof::cli {
namespace {

Result<void> WriteFiles(const events::GeneratedFiles& files, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Fail("{}: {}", folder.string(), error.message());
  for (const events::GeneratedFile& file : files) {
    const std::filesystem::path path = folder / file.name;
    std::ofstream out(path, std::ios::binary);
    out << file.text;
    out.close();
    if (!out) return Fail("{} cannot be written; choose another directory", path.string());
    fmt::print("{}\n", path.string());
  }
  return {};
}

Result<std::string> ReadKept(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file.is_open() || file.bad())
    return Fail("{} cannot be read; make it of what `jprof events check SPEC` prints", path);
  return text;
}

struct Shown {
  uint64_t logged = 0;
  const events::Summary* statistics = nullptr;
};

// By name; two versions of an event are two rows.
using Rows = std::map<std::pair<std::string, uint32_t>, Shown>;

Rows RowsOf(events::Trace& trace) {
  Rows rows;
  std::map<uint32_t, Shown> by_id;
  events::VisitRecords(trace,
                       [&](const events::Record& record) { ++by_id[record.event.id].logged; });
  for (const auto& [id, summary] : trace.statistics) by_id[id].statistics = &summary;
  for (const auto& [id, shown] : by_id) {
    const auto known = trace.events.find(id);
    if (known != trace.events.end())
      rows[{known->second.full_name, known->second.event.version}] = shown;
  }
  return rows;
}

double Mean(const events::Summary& summary) {
  return static_cast<double>(summary.sum) / static_cast<double>(summary.count);
}

Result<void> PrintJson(const events::Trace& trace, const Rows& rows) {
  return PrintIndentedJson([&](reports::JsonWriter& json) {
    json.StartObject();
    json.Member("discarded", trace.discarded);
    json.Member("damaged_files", trace.damages.packets);
    json.Key("events");
    json.StartArray();
    for (const auto& [event, shown] : rows) {
      json.StartObject();
      json.Member("event", event.first);
      json.Member("version", event.second);
      json.Member("logged", shown.logged);
      if (shown.statistics != nullptr) {
        json.Member("count", shown.statistics->count);
        json.Member("sum", shown.statistics->sum);
        json.Member("min", shown.statistics->min);
        json.Member("max", shown.statistics->max);
        DecimalMember("mean", Mean(*shown.statistics), json);
      }
      json.EndObject();
    }
    json.EndArray();
    json.EndObject();
  });
}

void PrintText(const Rows& rows) {
  size_t width = 5;
  for (const auto& [event, shown] : rows) width = std::max(width, event.first.size());
  fmt::print(
      "{:<{}}  VERSION      LOGGED     COUNTED           SUM          MIN          MAX"
      "         MEAN\n",
      "EVENT", width);
  for (const auto& [event, shown] : rows) {
    fmt::print("{:<{}}  {:>7} {:>11}", event.first, width, event.second, shown.logged);
    if (const events::Summary* s = shown.statistics)
      fmt::print(" {:>11} {:>13} {:>12} {:>12} {:>12.1f}", s->count, s->sum, s->min, s->max,
                 Mean(*s));
    fmt::print("\n");
  }
}

}  // namespace

Result<int> GenerateEvents(const std::string& specification, const EventFilesArguments& arguments) {
  std::vector<std::string_view> names;
  for (const events::Language& one : events::kLanguages) names.push_back(one.name);
  if (arguments.language.empty() || arguments.out.empty())
    return WrongUse("`jprof events generate {}` requires --language {} and --out DIR",
                    specification, fmt::join(names, "|"));
  const auto language = Choose("--language", arguments.language, names);
  if (!language) return std::unexpected(language.error());
  const auto read = events::ReadSpecification(specification);
  if (!read) return std::unexpected(read.error());
  return StatusOf(WriteFiles(events::kLanguages[*language].generate(*read), arguments.out));
}

Result<int> CheckEvents(const std::string& specification, const EventFilesArguments& arguments) {
  const auto read = events::ReadSpecification(specification);
  if (!read) return std::unexpected(read.error());
  if (arguments.identities.empty()) {
    fmt::print("{}", events::IdentityLines(*read));
    return 0;
  }
  const auto kept = ReadKept(arguments.identities);
  if (!kept) return std::unexpected(kept.error());
  return StatusOf(events::CheckIdentities(*read, *kept));
}

Result<int> ShowEvents(const std::string& trace, const EventFilesArguments& arguments) {
  const auto format = Choose("--format", arguments.format, {"text", "json"});
  if (!format) return std::unexpected(format.error());
  auto opened = events::OpenTrace(trace);
  if (!opened) return std::unexpected(opened.error());
  const Rows rows = RowsOf(*opened);
  if (*format == 1) {
    if (auto printed = PrintJson(*opened, rows); !printed) return std::unexpected(printed.error());
  } else {
    PrintText(rows);
  }
  if (opened->discarded != 0)
    PrintError(
        fmt::format("{} events were discarded: there was no room for them, or they "
                    "interrupted others",
                    opened->discarded));
  for (const std::string& one : opened->damages.what) PrintError(one);
  return 0;
}

}  // namespace jprof::cli
