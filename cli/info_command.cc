// `jprof info DIR`: describes a profile on one screen.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/commands.h"
#include "cli/usage_error.h"
#include "profile/jit_log.h"
#include "profile/reader.h"
#include "profile/reader_text.h"
#include "reports/losses.h"

namespace jprof::cli {
namespace {

using nlohmann::ordered_json;

// The bytes of the files on disk. The length does not help: files of a live profile are
// preallocated and sparse.
uint64_t BytesOf(const std::string& directory) {
  uint64_t bytes = 0;
  std::error_code failed;
  for (const auto& file : std::filesystem::directory_iterator(directory, failed)) {
    const uint64_t size = file.file_size(failed);
    struct stat status;
    if (!failed && stat(file.path().c_str(), &status) == 0) {
      bytes += std::min<uint64_t>(size, static_cast<uint64_t>(status.st_blocks) * 512);
    }
  }
  return bytes;
}

double Seconds(const profile::ControlHeader& header) {
  if (header.ticks_per_second == 0 || header.end_ticks < header.start_ticks) return 0;
  return static_cast<double>(header.end_ticks - header.start_ticks) /
         static_cast<double>(header.ticks_per_second);
}

// A summary of the log of jitted code. Null: the profile has none, or it cannot be read, which is
// reported as damage.
ordered_json JittedCode(const std::string& directory, ordered_json& damages) {
  std::error_code failed;
  if (!std::filesystem::exists(directory + "/" + profile::kJitLogFile, failed)) return nullptr;
  const auto log = profile::ReadJitLog(directory);
  if (!log) {
    damages.push_back(log.error().message);
    return nullptr;
  }
  for (const std::string& damage : log->damages) damages.push_back(damage);
  const auto stubs = std::ranges::count_if(log->code, &profile::JitCode::stub);
  const auto unloaded = std::ranges::count_if(log->code, [](const auto& code) {
    return !code.stub && code.unloaded != profile::kJitForever;
  });
  return {{"methods", log->code.size() - stubs},
          {"unloaded", unloaded},
          {"stubs", stubs},
          {"lost", log->lost},
          {"finished", log->ended},
          {"seconds",
           static_cast<double>(std::max(log->end_ns, log->header.start_ns) - log->header.start_ns) /
               1e9}};
}

std::string JittedText(const ordered_json& jitted) {
  if (!jitted.is_object()) return "";
  return fmt::format("{} methods loaded, {} unloaded, {} stubs", jitted["methods"].get<uint64_t>(),
                     jitted["unloaded"].get<uint64_t>(), jitted["stubs"].get<uint64_t>());
}

ordered_json MethodsWith(profile::Reader& reader, uint16_t flag) {
  ordered_json names = ordered_json::array();
  const profile::Methods methods = reader.ReadMethods();
  for (uint32_t id = 2; id < methods.size(); ++id) {
    const profile::MethodName method = methods[id];
    if ((method.flags & flag) == 0) continue;
    names.push_back(profile::CleanText(
        fmt::format("{}.{}{}", method.class_name, method.name, method.signature)));
  }
  return names;
}

ordered_json FoldedFrom(const profile::ControlHeader& header) {
  const auto seconds = reports::FoldedFrom(header);
  return seconds ? ordered_json(*seconds) : ordered_json(nullptr);
}

// All values, in the order of printing. Reads the tree to count calls and contexts.
Result<ordered_json> Describe(profile::Reader& reader) {
  const auto read = reader.ReadTree();
  if (!read) return std::unexpected(read.error());
  const profile::CallTree& tree = *read;
  const profile::Meta& meta = reader.meta();
  const profile::ControlHeader& header = reader.header();
  uint64_t calls = 0, exits = 0, trace_events = 0;
  for (const profile::Counts& counts : tree.counts) {
    calls += uint64_t{counts.entries[0]} + counts.entries[1];
    exits += uint64_t{counts.exits[0]} + counts.exits[1];
  }
  ordered_json threads = ordered_json::array();
  for (const profile::Thread& thread : reader.threads()) {
    trace_events += thread.record.trace_events;
    threads.push_back({{"tid", thread.record.tid},
                       {"name", thread.name},
                       {"ended", thread.record.state == profile::kThreadEnded},
                       {"cpu_ns", thread.record.cpu_ns_end - std::min(thread.record.cpu_ns_start,
                                                                      thread.record.cpu_ns_end)},
                       {"dispatches", thread.record.dispatches}});
  }
  ordered_json metrics = ordered_json::array();
  for (const profile::Metric& metric : meta.metrics)
    metrics.push_back({{"name", metric.name}, {"unit", metric.unit}});
  ordered_json losses = ordered_json::object();
  for (const reports::Loss& loss : reports::Losses(reader))
    losses[std::string(loss.name)] = loss.count;
  ordered_json damages = reader.damages().Lines();
  ordered_json jitted = JittedCode(reader.directory(), damages);
  return ordered_json{{"profile", reader.directory()},
                      {"mode", meta.mode},
                      {"jprof", meta.jprof},
                      {"command", meta.command},
                      {"pid", meta.pid},
                      {"start", meta.start},
                      {"seconds", Seconds(header)},
                      {"finished", header.finished != 0},
                      {"jvm", meta.jvm.Title()},
                      {"probe", {{"kind", meta.probe.kind}, {"note", meta.probe.note}}},
                      {"options", meta.options.text},
                      {"metrics", std::move(metrics)},
                      {"calibrated", !reader.ReadCalibration().empty()},
                      {"fingerprint", meta.fingerprint},
                      {"contexts", std::ranges::count(tree.former, 0)},
                      {"folded_from_s", FoldedFrom(header)},
                      {"calls", calls},
                      {"exits", exits},
                      {"trace_events", trace_events},
                      {"methods", reader.RecordedMethods()},
                      {"focus",
                       {{"probed", header.focus_probed},
                        {"unprobed", header.focus_unprobed},
                        {"undecided", header.focus_undecided},
                        {"intrinsics", MethodsWith(reader, profile::kMethodIntrinsic)}}},
                      {"jitted", std::move(jitted)},
                      {"bytes", BytesOf(reader.directory())},
                      {"losses", std::move(losses)},
                      {"damages", std::move(damages)},
                      {"threads", std::move(threads)}};
}

std::string Joined(const ordered_json& items, const char* between) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : between) + item.get<std::string>();
  return text;
}

std::string MetricsText(const ordered_json& metrics) {
  std::string text;
  for (const auto& metric : metrics) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", metric["name"].get<std::string>(),
                        metric["unit"].get<std::string>());
  }
  return text.empty() ? "none: counts only" : text;
}

std::string FocusText(const ordered_json& focus) {
  const auto count = [&](const char* name) { return focus[name].get<uint32_t>(); };
  if (count("probed") + count("unprobed") + count("undecided") == 0) return "";
  const std::string undecided =
      count("undecided") == 0
          ? ""
          : fmt::format(", {} with probes because they could not be read", count("undecided"));
  return fmt::format("{} methods were compiled with probes, {} without{}", count("probed"),
                     count("unprobed"), undecided);
}

void PrintThreads(const ordered_json& threads) {
  constexpr size_t kShown = 12;
  fmt::print("threads      {}\n", threads.size());
  for (size_t i = 0; i < std::min(threads.size(), kShown); ++i) {
    const auto& thread = threads[i];
    fmt::print("  {:>8}   {}{} ({:.3f} s CPU)\n", thread["tid"].get<uint32_t>(),
               thread["name"].get<std::string>(), thread["ended"].get<bool>() ? "" : " (not ended)",
               thread["cpu_ns"].get<double>() / 1e9);
  }
  if (threads.size() > kShown)
    fmt::print("             and {} more (--format json has all)\n", threads.size() - kShown);
}

void PrintLine(const char* name, const std::string& value) {
  if (!value.empty())
    fmt::print("{:<12} {}\n", profile::CleanText(name), profile::CleanText(value));
}

void PrintText(const ordered_json& info, const profile::Reader& reader) {
  const auto line = PrintLine;
  const auto text = [&](const char* name) { return info[name].get<std::string>(); };
  line("profile", fmt::format("{} ({}, {:.1f} MiB)", text("profile"), text("mode"),
                              info["bytes"].get<double>() / (1 << 20)));
  line("command", Joined(info["command"], " "));
  line("run", fmt::format("pid {}, {}, {}", info["pid"].get<uint64_t>(), text("start"),
                          info["finished"].get<bool>()
                              ? fmt::format("{:.3f} s", info["seconds"].get<double>())
                              : "it is still running or ended abnormally"));
  line("jvm", text("jvm"));
  const std::string note = info["probe"]["note"];
  line("probe", info["probe"]["kind"].get<std::string>() + (note.empty() ? "" : ": " + note));
  line("options", text("options"));
  line("metrics", MetricsText(info["metrics"]));
  line("calibrated", info["calibrated"].get<bool>() ? "yes: the profile has a table" : "no");
  for (const auto& [part, value] : info["fingerprint"].items()) line(("  " + part).c_str(), value);
  line("methods", fmt::format("{}", info["methods"].get<uint64_t>()));
  line("focus", FocusText(info["focus"]));
  for (const auto& name : info["focus"]["intrinsics"]) {
    line("", fmt::format("calls may be missing: {} is an intrinsic", name.get<std::string>()));
  }
  line("contexts", fmt::format("{}", info["contexts"].get<uint64_t>()));
  line("detail", reports::FoldedText(reader.header()));
  line("calls",
       fmt::format("{} ({} exits)", info["calls"].get<uint64_t>(), info["exits"].get<uint64_t>()));
  if (text("mode") == "trace")
    line("events", fmt::format("{}", info["trace_events"].get<uint64_t>()));
  line("jitted code:", JittedText(info["jitted"]));
  bool lost = false;
  for (const reports::Loss& loss : reports::Losses(reader)) {
    if (loss.count == 0) continue;
    line(lost ? "" : "lost", fmt::format("{} {}", loss.count, loss.says));
    lost = true;
  }
  if (!lost) line("lost", "nothing");
  for (const auto& damage : info["damages"]) line("damage", damage);
  PrintThreads(info["threads"]);
}

// With the option TPROF alone, the agent creates a directory with meta.json and the log of jitted
// code, without calls.
bool IsLogOnly(const std::string& directory) {
  std::error_code failed;
  return std::filesystem::exists(directory + "/" + profile::kJitLogFile, failed) &&
         !std::filesystem::exists(directory + "/" + profile::kControlFile, failed);
}

int InfoOfLogOnly(const std::string& directory, bool json) {
  if (const auto log = profile::ReadJitLog(directory); !log) {
    PrintError(log.error().message);
    return ExitCodeOf(log.error());
  }
  const int fd = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const profile::ReaderFile file(fd, profile::kMetaFile);
  if (fd >= 0) close(fd);
  profile::Damages damages;
  const profile::Meta meta = profile::ParseMeta(file.ReadAll(16 << 20), damages);
  ordered_json info = {{"profile", directory},    {"mode", meta.mode},
                       {"jprof", meta.jprof},     {"command", meta.command},
                       {"pid", meta.pid},         {"start", meta.start},
                       {"jvm", meta.jvm.Title()}, {"options", meta.options.text}};
  ordered_json lines = damages.Lines();
  info["jitted"] = JittedCode(directory, lines);
  info["bytes"] = BytesOf(directory);
  info["damages"] = std::move(lines);
  if (json) {
    fmt::print("{}\n", info.dump(2, ' ', false, ordered_json::error_handler_t::replace));
    return 0;
  }
  const bool ended = info["jitted"].is_object() && info["jitted"]["finished"].get<bool>();
  PrintLine("profile", fmt::format("{} ({}, {:.1f} MiB)", directory, meta.mode,
                                   info["bytes"].get<double>() / (1 << 20)));
  PrintLine("command", Joined(info["command"], " "));
  PrintLine("run",
            fmt::format("pid {}, {}, {}", meta.pid, meta.start,
                        ended ? fmt::format("{:.3f} s", info["jitted"]["seconds"].get<double>())
                              : "it is still running or ended abnormally"));
  PrintLine("jvm", meta.jvm.Title());
  PrintLine("options", meta.options.text);
  PrintLine("jitted code:", JittedText(info["jitted"]));
  for (const auto& damage : info["damages"]) PrintLine("damage", damage);
  return 0;
}

int Info(const std::string& directory, bool json) {
  if (IsLogOnly(directory)) return InfoOfLogOnly(directory, json);
  auto reader = profile::Reader::Open(directory);
  if (!reader) {
    PrintError(reader.error().message);
    return ExitCodeOf(reader.error());
  }
  const auto info = Describe(*reader);
  if (!info) {
    PrintError(info.error().message);
    return ExitCodeOf(info.error());
  }
  if (json) {
    fmt::print("{}\n", info->dump(2, ' ', false, ordered_json::error_handler_t::replace));
  } else {
    PrintText(*info, *reader);
  }
  return 0;
}

}  // namespace

Action InfoCommand(CLI::App& sub, const Command&) {
  struct Typed {
    std::string directory;
    std::string format = "text";
  };
  auto typed = std::make_shared<Typed>();
  sub.add_option("DIR", typed->directory, "a profile")->required();
  sub.add_option("--format", typed->format, "text or json (default text)")
      ->type_name("F")
      ->check(CLI::IsMember({"text", "json"}));
  return [typed] { return Info(typed->directory, typed->format == "json"); };
}

}  // namespace jprof::cli
