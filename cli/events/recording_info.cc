#include "cli/events/recording_info.h"

#include <algorithm>
#include <filesystem>

#include "cli/shared/output_file.h"
#include "model/events/recorded_events.h"
#include "profile/files/layout.h"
#include "profile/files/printable_text.h"
#include "reports/print/json_writer.h"
#include "reports/print/output.h"
#include "reports/print/units.h"
#include "reports/quality/quality_of.h"

namespace jprof::cli {
namespace {

namespace fs = std::filesystem;

struct EventsInfo {
  const model::RecordedEvents& events;
  const reports::Quality quality;
  uint64_t bytes = 0;
  size_t program_threads = 0;         // 0 if there is no program
  std::vector<std::string> profiles;  // paths
};

EventsInfo InfoOf(const model::EventRecording& recording, const model::RecordedEvents& events) {
  EventsInfo info = {.events = events, .quality = reports::QualityOf(events), .profiles = {}};
  std::error_code failed;
  info.bytes = SizeOf(fs::path(recording.directory) / profile::kEventsFolder, failed);
  if (events.meta.process != 0) {
    const auto below = events.stretches.ThreadsBelow(static_cast<uint32_t>(events.meta.process));
    info.program_threads = static_cast<size_t>(std::ranges::count(below, true));
  }
  for (const model::Source& source : recording.profiles)
    info.profiles.emplace_back(source.reader.shown());
  return info;
}

void PrintText(const EventsInfo& info, reports::Output& out) {
  const model::Stretches& stretches = info.events.stretches;
  const profile::RecordingMeta& meta = info.events.meta;
  const auto line = [&out](std::string_view name, std::string_view value) {
    if (!value.empty()) out.Print("{:<12} {}\n", name, profile::CleanText(value));
  };
  line("recording", fmt::format("{} (events of the kernel, {:.1f} MiB)", info.events.directory,
                                static_cast<double>(info.bytes) / (1 << 20)));
  line("command", meta.command);
  line("run",
       fmt::format("{}{} on {}", meta.process == 0 ? "" : fmt::format("pid {}, ", meta.process),
                   reports::Duration(static_cast<double>(stretches.duration)),
                   reports::Counted(stretches.processors, "processor", "processors")));
  line("threads",
       fmt::format(
           "{}{}", stretches.threads.size(),
           meta.process == 0 ? "" : fmt::format(", of the program: {}", info.program_threads)));
  line("events",
       fmt::format("{} ({} stretches of threads)", stretches.records, stretches.stretches.size()));
  line("lost", stretches.lost == 0 ? "nothing" : fmt::format("{} events", stretches.lost));
  line("quality", reports::QualityText(info.quality, info.quality.facts.size()));
  for (const std::string& path : info.profiles) line("profile", path);
  out.Print("Its report: jprof report timeline; its page: jprof view{}.\n",
            info.profiles.empty() ? "" : "; jprof info describes each profile");
}

void PrintJson(const EventsInfo& info, reports::Output& out) {
  const model::Stretches& stretches = info.events.stretches;
  const profile::RecordingMeta& meta = info.events.meta;
  reports::JsonWriter json(out);
  json.StartObject();
  json.Member("profile", info.events.directory);
  json.Member("mode", "timeline");
  json.Member("command", meta.command);
  json.Member("pid", meta.process);
  json.Member("start_unix_ns", stretches.start_unix_ns);
  json.FixedMember("seconds", static_cast<double>(stretches.duration) / 1e9, 9);
  json.Member("bytes", info.bytes);
  json.Member("processors", stretches.processors);
  json.Member("threads", stretches.threads.size());
  json.Member("program_threads", info.program_threads);
  json.Member("events", stretches.records);
  json.Member("stretches", stretches.stretches.size());
  json.Member("lost", stretches.lost);
  json.StringsMember("notes", meta.notes);
  json.StringsMember("profiles", info.profiles);
  reports::JsonQuality(info.quality, json);
  json.EndObject();
  json.Finish();
}

}  // namespace

void AddPathOptions(CommandLine line, reports::Options& options) {
  line.Group("Of timelines");
  line.Option("--from", options.from, "TEXT",
              "The critical path from the first mark with this text (docs/EVENTS.md, Marks)");
  line.Option("--to", options.to, "TEXT", "The critical path to the next mark with this text");
  line.Group(CommandLine::kOptions);
}

Result<void> DescribeEvents(const std::string& directory, bool json) {
  auto recording = model::OpenEventRecording(directory);
  if (!recording) return std::unexpected(recording.error());
  const auto events = model::LoadEvents(*recording);
  if (!events) return std::unexpected(events.error());
  const EventsInfo info = InfoOf(*recording, *events);
  reports::Output out(stdout);
  json ? PrintJson(info, out) : PrintText(info, out);
  return out.Finish();
}

}  // namespace jprof::cli
