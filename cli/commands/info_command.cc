// `jprof info DIR`: prints what a profile contains, on one screen.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>

#include "cli/commands/profile_info.h"
#include "cli/commands/trace_report.h"
#include "cli/shared/commands.h"
#include "cli/shared/profile_source.h"
#include "cli/shared/usage_error.h"
#include "profile/files/printable_text.h"
#include "profile/read/combined.h"
#include "reports/print/json_writer.h"
#include "reports/print/output.h"

namespace jprof::cli {
namespace {

// Prints text: a line for each value that is not empty.
class InfoText {
 public:
  explicit InfoText(reports::Output& out) : out_(out) {}

  void Print(const ProfileInfo& info) {
    const profile::Meta& meta = info.meta;
    Line("profile", fmt::format("{} ({}, {:.1f} MiB)", info.directory, meta.mode,
                                static_cast<double>(info.bytes) / (1 << 20)));
    Line("command", fmt::format("{}", fmt::join(meta.command, " ")));
    Line("run",
         fmt::format("{}{}, {}", meta.pid == 0 ? "" : fmt::format("pid {}, ", meta.pid), meta.start,
                     info.finished ? fmt::format("{:.3f} s", info.seconds)
                                   : "it is still running or ended abnormally"));
    if (info.merged) Merged(*info.merged);
    Line("jvm", meta.jvm.Title());
    if (info.calls)
      Line("probe", meta.probe.kind + (meta.probe.note.empty() ? "" : ": " + meta.probe.note));
    Line("options", meta.options.text);
    if (info.calls) Calls(meta, *info.calls);
    if (info.jitted) Jitted(*info.jitted);
    if (info.calls) Losses(*info.calls);
    for (const std::string& damage : info.damages) Line("damage", damage);
    if (info.calls) Threads(info.calls->threads);
  }

 private:
  void Line(std::string_view name, std::string_view value) {
    if (!value.empty())
      out_.Print("{:<12} {}\n", profile::CleanText(name), profile::CleanText(value));
  }

  void Merged(const profile::MergedMeta& merged) {
    constexpr size_t kShown = 12;
    Line("merged", fmt::format("{} profiles; threads: {}", merged.inputs.size(), merged.threads));
    for (size_t i = 0; i < std::min(merged.inputs.size(), kShown); ++i) {
      const profile::MergedInput& input = merged.inputs[i];
      Line(fmt::format("  {:>3}", i + 1),
           fmt::format("{}: {} calls, {:.3f} s CPU{}{}", input.path, input.calls, input.cpu_seconds,
                       input.finished ? "" : ", not finished",
                       input.damages.empty() ? "" : ", damaged"));
    }
    if (merged.inputs.size() > kShown)
      out_.Print("             and {} more (--format json has all)\n",
                 merged.inputs.size() - kShown);
    for (const std::string& notice : merged.notices) Line("notice", notice);
  }

  void Calls(const profile::Meta& meta, const CallInfo& calls) {
    Metrics(meta.metrics);
    Line("calibrated", calls.calibrated ? "yes: the profile has its table" : "no");
    for (const auto& [part, value] : meta.fingerprint) Line("  " + part, value);
    Line("methods", fmt::format("{}", calls.methods));
    Focus(calls.focus);
    Line("contexts", fmt::format("{}", calls.contexts));
    Line("detail", calls.folded_text);
    Line("calls", fmt::format("{} ({} exits)", calls.calls, calls.exits));
    if (meta.is(Mode::kTrace)) Line("events", fmt::format("{}", calls.trace_events));
  }

  void Metrics(const std::vector<profile::Metric>& metrics) {
    std::string text;
    for (const profile::Metric& metric : metrics)
      text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", metric.name, metric.unit);
    Line("metrics", text.empty() ? "none: counts only" : text);
  }

  void Focus(const FocusInfo& focus) {
    if (focus.probed + focus.unprobed + focus.undecided != 0) {
      const std::string undecided =
          focus.undecided == 0
              ? ""
              : fmt::format(", {} with probes because they could not be read", focus.undecided);
      Line("focus", fmt::format("{} methods were compiled with probes, {} without{}", focus.probed,
                                focus.unprobed, undecided));
    }
    constexpr size_t kShown = 12;
    const size_t count = focus.intrinsics.size();
    if (count > 0)
      Line("partial",
           fmt::format("calls of methods that have intrinsics may be missing ({}):", count));
    for (size_t i = 0; i < std::min(count, kShown); ++i)
      out_.Print("             {}\n", profile::CleanText(focus.intrinsics[i]));
    if (count > kShown)
      out_.Print("             and {} more (--format json has all)\n", count - kShown);
  }

  void Jitted(const JittedInfo& jitted) {
    Line("jitted code:", fmt::format("{} methods loaded, {} unloaded, {} stubs", jitted.methods,
                                     jitted.unloaded, jitted.stubs));
  }

  void Losses(const CallInfo& calls) {
    bool lost = false;
    for (const profile::Loss& loss : calls.losses) {
      if (loss.count == 0) continue;
      Line(lost ? "" : "lost", fmt::format("{} {}", loss.count, loss.says));
      lost = true;
    }
    if (!lost) Line("lost", "nothing");
  }

  void Threads(const std::vector<ThreadInfo>& threads) {
    constexpr size_t kShown = 12;
    out_.Print("threads      {}\n", threads.size());
    for (size_t i = 0; i < std::min(threads.size(), kShown); ++i) {
      const ThreadInfo& thread = threads[i];
      out_.Print("  {:>8}   {}{} ({:.3f} s CPU)\n", thread.tid, thread.name,
                 thread.ended ? "" : " (not ended)", static_cast<double>(thread.cpu_ns) / 1e9);
    }
    if (threads.size() > kShown)
      out_.Print("             and {} more (--format json has all)\n", threads.size() - kShown);
  }

  reports::Output& out_;
};

// Prints JSON: one object. Profiles without calls lack the members that describe calls.
class InfoJson {
 public:
  explicit InfoJson(reports::Output& out) : json_(out) {}

  void Print(const ProfileInfo& info) {
    const profile::Meta& meta = info.meta;
    json_.StartObject();
    json_.Member("profile", info.directory);
    json_.Member("mode", meta.mode);
    json_.Member("jprof", meta.jprof);
    json_.StringsMember("command", meta.command);
    json_.Member("pid", meta.pid);
    json_.Member("start", meta.start);
    if (info.calls) {
      Number("seconds", info.seconds);
      json_.Member("finished", info.finished);
    }
    json_.Member("jvm", meta.jvm.Title());
    if (info.calls) Probe(meta.probe);
    json_.Member("options", meta.options.text);
    if (info.calls) Calls(meta, *info.calls);
    Jitted(info.jitted);
    if (info.merged) Merged(*info.merged);
    json_.Member("bytes", info.bytes);
    if (info.calls) Losses(info.calls->losses);
    json_.StringsMember("damages", info.damages);
    if (info.calls) Threads(info.calls->threads);
    json_.EndObject();
    json_.Finish();
  }

 private:
  void Number(std::string_view key, double value) {
    json_.Key(key);
    json_.Shortest(value);
  }

  void Merged(const profile::MergedMeta& merged) {
    json_.Key("merged");
    json_.StartObject();
    json_.Member("threads", merged.threads);
    json_.StringsMember("notices", merged.notices);
    json_.Key("profiles");
    json_.StartArray();
    for (const profile::MergedInput& input : merged.inputs) {
      json_.StartRow();
      json_.Member("path", input.path);
      json_.StringsMember("command", input.command);
      json_.Member("pid", input.pid);
      json_.Member("start", input.start);
      json_.Member("finished", input.finished);
      Number("cpu_seconds", input.cpu_seconds);
      json_.Member("calls", input.calls);
      json_.StringsMember("damages", input.damages);
      json_.EndObject();
    }
    json_.EndArray();
    json_.EndObject();
  }

  void Probe(const profile::Probe& probe) {
    json_.Key("probe");
    json_.StartObject();
    json_.Member("kind", probe.kind);
    json_.Member("note", probe.note);
    json_.EndObject();
  }

  void Calls(const profile::Meta& meta, const CallInfo& calls) {
    Metrics(meta.metrics);
    json_.Member("calibrated", calls.calibrated);
    json_.Key("fingerprint");
    json_.StartObject();
    for (const auto& [part, value] : meta.fingerprint) json_.Member(part, value);
    json_.EndObject();
    json_.Member("contexts", calls.contexts);
    // JSON has only finite numbers, so NaN is printed as null.
    Number("folded_from_s", calls.folded_from_s.value_or(std::nan("")));
    json_.Member("calls", calls.calls);
    json_.Member("exits", calls.exits);
    json_.Member("trace_events", calls.trace_events);
    json_.Member("methods", calls.methods);
    Focus(calls.focus);
  }

  void Metrics(const std::vector<profile::Metric>& metrics) {
    json_.Key("metrics");
    json_.StartArray();
    for (const profile::Metric& metric : metrics) {
      json_.StartObject();
      json_.Member("name", metric.name);
      json_.Member("unit", metric.unit);
      json_.EndObject();
    }
    json_.EndArray();
  }

  void Focus(const FocusInfo& focus) {
    json_.Key("focus");
    json_.StartObject();
    json_.Member("probed", focus.probed);
    json_.Member("unprobed", focus.unprobed);
    json_.Member("undecided", focus.undecided);
    json_.StringsMember("intrinsics", focus.intrinsics);
    json_.EndObject();
  }

  void Jitted(const std::optional<JittedInfo>& jitted) {
    json_.Key("jitted");
    if (!jitted) {
      json_.Null();
      return;
    }
    json_.StartObject();
    json_.Member("methods", jitted->methods);
    json_.Member("unloaded", jitted->unloaded);
    json_.Member("stubs", jitted->stubs);
    json_.Member("lost", jitted->lost);
    json_.Member("finished", jitted->finished);
    Number("seconds", jitted->seconds);
    json_.EndObject();
  }

  void Losses(const std::vector<profile::Loss>& losses) {
    json_.Key("losses");
    json_.StartObject();
    for (const profile::Loss& loss : losses) json_.Member(loss.name, loss.count);
    json_.EndObject();
  }

  void Threads(const std::vector<ThreadInfo>& threads) {
    json_.Key("threads");
    json_.StartArray();
    for (const ThreadInfo& thread : threads) {
      json_.StartRow();
      json_.Member("tid", thread.tid);
      json_.Member("name", thread.name);
      json_.Member("ended", thread.ended);
      json_.Member("cpu_ns", thread.cpu_ns);
      json_.Member("dispatches", thread.dispatches);
      json_.EndObject();
    }
    json_.EndArray();
  }

  reports::JsonWriter json_;
};

// Prints a combined profile: its runs, each with a profile to look at.
void PrintRuns(const std::string& directory, const profile::CombinedMeta& meta,
               reports::Output& out) {
  const auto line = [&](std::string_view name, std::string_view value) {
    out.Print("{:<12} {}\n", name, profile::CleanText(value));
  };
  line("profile", directory + " (combined)");
  line("command", fmt::format("{}", fmt::join(meta.command, " ")));
  line("made", fmt::format("{} by jprof {}", meta.start, meta.from));
  for (const std::string& note : meta.notes) line("note", note);
  for (const profile::Run& run : meta.runs) {
    std::string text = fmt::format("{}/{}", directory, run.profile);
    if (run.wall_seconds) text += fmt::format(", {:.3f} s", *run.wall_seconds);
    if (run.cpu_seconds) text += fmt::format(", {:.3f} s CPU", *run.cpu_seconds);
    if (run.exit_status) text += fmt::format(", exit status {}", *run.exit_status);
    line(run.role == profile::Run::Role::kCounted ? "counted" : "sampled", text);
  }
  out.Print("Its report: jprof report combined; jprof info describes each of these profiles.\n");
}

void PrintRunsJson(const std::string& directory, const profile::CombinedMeta& meta,
                   reports::Output& out) {
  reports::JsonWriter json(out);
  json.StartObject();
  json.Member("profile", directory);
  json.Member("mode", "combined");
  json.Member("jprof", meta.jprof);
  json.StringsMember("command", meta.command);
  json.Member("start", meta.start);
  json.Member("from", meta.from);
  json.StringsMember("notes", meta.notes);
  json.Key("runs");
  json.StartArray();
  for (const profile::Run& run : meta.runs) {
    json.StartRow();
    json.Member("role", run.role == profile::Run::Role::kCounted ? "counted" : "sampled");
    json.Member("profile", fmt::format("{}/{}", directory, run.profile));
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  json.Finish();
}

Result<void> DescribeCombined(const std::string& directory, bool json) {
  const auto meta = profile::ReadCombined(directory);
  if (!meta) return std::unexpected(meta.error());
  reports::Output out(stdout);
  json ? PrintRunsJson(directory, *meta, out) : PrintRuns(directory, *meta, out);
  return out.Finish();
}

Result<void> Run(const std::string& directory, bool json) {
  if (profile::IsCombined(directory)) return DescribeCombined(directory, json);
  if (reports::IsArcRecording(directory)) return DescribeTrace(directory, json);
  const auto info = ReadProfileInfo(BusiestIn(directory));
  if (!info) return std::unexpected(info.error());
  reports::Output out(stdout);
  if (json) {
    InfoJson(out).Print(*info);
  } else {
    InfoText(out).Print(*info);
  }
  return out.Finish();
}

}  // namespace

Action InfoCommand(CLI::App& sub, const Command&) {
  struct Arguments {
    std::string directory;
    std::string format = "text";
  };
  auto arguments = std::make_shared<Arguments>();
  sub.add_option("DIR", arguments->directory,
                 "a profile, a combined one, or a trace of jprof itrace")
      ->required()
      ->type_name("PROFILE");
  sub.add_option("--format", arguments->format, "text or json (default text)")
      ->type_name("F")
      ->check(CLI::IsMember({"text", "json"}));
  return [arguments] { return StatusOf(Run(arguments->directory, arguments->format == "json")); };
}

}  // namespace jprof::cli
