#include "cli/events/files.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cli/events/record_line.h"
#include "cli/events/table.h"
#include "cli/shared/choices.h"
#include "cli/shared/usage_error.h"
#include "events/generate/generate.h"
#include "events/read/follow.h"
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

Result<EventGroups> ChooseGroups(const std::string& by) {
  if (by.empty()) return EventGroups::kNone;
  const auto chosen = Choose("--by", by, {"process", "thread", "processor"});
  if (!chosen) return std::unexpected(chosen.error());
  constexpr EventGroups kGroups[] = {EventGroups::kProcess, EventGroups::kThread,
                                     EventGroups::kProcessor};
  return kGroups[*chosen];
}

void PrintLosses(uint64_t discarded, const events::Damages& damages) {
  if (discarded != 0)
    PrintError(
        fmt::format("{} events were discarded: there was no room for them, or they "
                    "interrupted others",
                    discarded));
  for (const std::string& one : damages.what) PrintError(one);
  if (damages.files > damages.what.size())
    PrintError(fmt::format("{} more files are damaged", damages.files - damages.what.size()));
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
  const auto groups = ChooseGroups(arguments.by);
  if (!groups) return std::unexpected(groups.error());
  auto opened = events::OpenTrace(trace);
  if (!opened) return std::unexpected(opened.error());
  const EventRows rows = CountEvents(*opened, *groups);
  if (*format == 1) {
    if (auto printed = PrintEventsJson(*opened, rows, *groups); !printed)
      return std::unexpected(printed.error());
  } else {
    PrintEventsText(rows, *groups);
  }
  PrintLosses(opened->discarded, opened->damages);
  return 0;
}

Result<int> FollowEvents(const std::string& trace, const EventFilesArguments& arguments) {
  const auto format = Choose("--format", arguments.format, {"text", "json"});
  if (!format) return std::unexpected(format.error());
  auto opened = events::Follower::Open(trace);
  if (!opened) return std::unexpected(opened.error());
  for (bool ended = false; !ended;) {
    ended = opened->HasEnded();
    opened->Read([&](const events::Record& record, events::UnixTime time) {
      if (!arguments.event.empty() &&
          fnmatch(arguments.event.c_str(), record.event.full_name.c_str(), FNM_NOESCAPE) != 0)
        return;
      fmt::print("{}\n", *format == 1 ? JsonLine(record, time) : TextLine(record, time));
    });
    if (fflush(stdout) != 0) return Fail("standard output: {}", strerror(errno));
    if (!ended) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  PrintLosses(opened->discarded(), opened->damages());
  if (opened->overwritten() != 0)
    PrintError(fmt::format("{} packets or more were overwritten before they were read",
                           opened->overwritten()));
  return 0;
}

}  // namespace jprof::cli
