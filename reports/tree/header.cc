#include "reports/tree/header.h"

#include <algorithm>

#include "profile/files/printable_text.h"
#include "profile/read/imported.h"
#include "profile/read/limits.h"
#include "profile/read/losses.h"
#include "reports/print/units.h"

namespace jprof::reports {
namespace {

std::string Command(const profile::Meta& meta) {
  std::string text;
  for (const std::string& word : meta.command) text += (text.empty() ? "" : " ") + word;
  constexpr size_t kShown = 200;
  return text.size() > kShown ? text.substr(0, kShown) + "..." : text;
}

// Returns "4 threads, and 2 left out by --threads".
std::string ThreadsText(const profile::Reader& reader) {
  const auto filtered =
      static_cast<size_t>(std::ranges::count_if(reader.threads(), [](const auto& thread) {
        return thread.record.flags & profile::kThreadFiltered;
      }));
  std::string text = Counted(reader.threads().size() - filtered, "thread", "threads");
  return text + (filtered > 0 ? fmt::format(", and {} left out by --threads", filtered) : "");
}

void JsonFactor(const model::Estimate& factor, JsonWriter& json) {
  json.Key("refit_factor");
  json.StartObject();
  json.FixedMember("value", factor.value, 4);
  json.FixedMember("low", factor.low, 4);
  json.FixedMember("high", factor.high, 4);
  json.EndObject();
}

std::string MachineText(const model::Source& source) {
  const profile::Meta& meta = source.reader.meta();
  std::string text = meta.jvm.Title();
  if (const auto imported = profile::ReadImported(source.reader.directory()))
    return (text.empty() ? "" : text + ", ") + "imported from " + imported->Text();
  if (text.empty()) {
    text = source.merged ? "several JVMs"
           : meta.probe.is(ProbeKind::kHooks) || meta.probe.is(ProbeKind::kSleds)
               ? "C and C++ functions"
               : "unknown JVM";
  }
  return text + (meta.probe.kind.empty() ? "" : ", probe " + meta.probe.kind);
}

std::string RunText(const model::Source& source) {
  const profile::Meta& meta = source.reader.meta();
  return fmt::format(
      "{}{}, {}, {}, started {}; {}", meta.ModeText(),
      source.merged ? fmt::format(", merged from {} profiles", source.merged->inputs.size()) : "",
      ElapsedText(source.reader.header()), ThreadsText(source.reader),
      meta.start.empty() ? "?" : meta.start, MachineText(source));
}

}  // namespace

double SecondsBetween(const profile::ControlHeader& header, uint64_t from, uint64_t to) {
  if (header.ticks_per_second == 0 || to <= from) return 0;
  return static_cast<double>(to - from) / static_cast<double>(header.ticks_per_second);
}

std::string ElapsedText(const profile::ControlHeader& header) {
  if (header.finished == 0) return "not finished: still running, or killed";
  return Duration(1e9 * SecondsBetween(header, header.start_ticks, header.end_ticks)) + " elapsed";
}

Head RunHead(const model::Source& source, std::string_view report) {
  const profile::Meta& meta = source.reader.meta();
  const std::string pid = meta.pid == 0 ? "" : fmt::format(" (pid {})", meta.pid);
  Head head = {.report = report,
               .of = source.reader.shown(),
               .directory = source.reader.shown(),
               .lines = {{"command", HeadCommand(meta.command) + pid}, {"run", RunText(source)}}};
  if (const auto* window = source.reader.window()) head.lines.push_back({"window", window->Text()});
  if (meta.piece.number != 0) head.lines.push_back({"piece", meta.piece.Text()});
  const std::string limits = profile::LimitsText(meta, source.reader.header());
  if (!limits.empty()) head.lines.push_back({"limited", limits});
  if (std::string slow = profile::SlowText(source.reader); !slow.empty())
    head.lines.push_back({"slow", std::move(slow)});
  return head;
}

void RemarkLosses(const model::Source& source, Format format, Output& out) {
  if (EntryOf(format).head) return;
  out.Remark(profile::FoldedText(source.reader.header()));
  for (const profile::Loss& loss : profile::Losses(source.reader)) {
    if (loss.count > 0) out.Remark(fmt::format("lost: {} {}", loss.count, loss.description));
  }
  for (const std::string& damage : source.reader.damages().Lines())
    out.Remark("damaged: " + damage);
}

void JsonLosses(const model::Source& source, const Quality& quality, JsonWriter& json) {
  json.Key("losses");
  json.StartObject();
  for (const profile::Loss& loss : profile::Losses(source.reader))
    json.Member(loss.name, loss.count);
  json.EndObject();
  json.StringsMember("damages", source.reader.damages().Lines());
  JsonQuality(quality, json);
}

void JsonRun(const model::Source& source, std::string_view report, JsonWriter& json) {
  const profile::Meta& meta = source.reader.meta();
  const profile::ControlHeader& header = source.reader.header();
  json.Member("report", report);
  json.Key("profile");
  json.StartObject();
  json.Member("directory", source.reader.shown());
  json.Member("mode", meta.mode);
  json.Member("command", Command(meta));
  json.Member("pid", meta.pid);
  json.Member("start", meta.start);
  json.Member("finished", header.finished != 0);
  json.FixedMember("elapsed_s", SecondsBetween(header, header.start_ticks, header.end_ticks), 6);
  if (const auto folded = profile::FoldedFrom(header))
    json.FixedMember("folded_from_s", *folded, 6);
  const std::string limits = profile::LimitsText(meta, header);
  if (!limits.empty()) json.Member("limited", limits);
  if (const auto* window = source.reader.window()) {
    json.Key("window");
    json.StartObject();
    json.FixedMember("begin_s", static_cast<double>(window->begin_ns) / 1e9, 6);
    json.FixedMember("end_s", static_cast<double>(window->end_ns) / 1e9, 6);
    json.Member("first_snapshot", uint64_t{window->first});
    json.Member("last_snapshot", uint64_t{window->last});
    json.EndObject();
  }
  if (meta.piece.number != 0) {
    json.Key("piece");
    json.StartObject();
    json.Member("number", meta.piece.number);
    json.Member("of", meta.piece.of);
    json.FixedMember("begin_s", meta.piece.begin_s, 6);
    json.FixedMember("end_s", meta.piece.end_s, 6);
    json.EndObject();
  }
  if (const auto imported = profile::ReadImported(source.reader.directory()))
    json.Member("imported", imported->Text());
  if (!source.refitted.empty()) json.Member("refitted", source.refitted);
  if (source.refit) JsonFactor(*source.refit, json);
  if (source.merged) {
    json.Member("merged", source.merged->inputs.size());
    json.StringsMember("notices", source.merged->notices);
  }
  json.EndObject();
}

}  // namespace jprof::reports
