#include "reports/tree/header.h"

#include <algorithm>

#include "profile/files/printable_text.h"
#include "profile/read/losses.h"

namespace jprof::reports {
namespace {

std::string Command(const profile::Meta& meta) {
  std::string text;
  for (const std::string& word : meta.command) text += (text.empty() ? "" : " ") + word;
  constexpr size_t kShown = 200;
  return text.size() > kShown ? text.substr(0, kShown) + "..." : text;
}

// Prints what the profile was merged from.
void PrintMerged(const model::Source& source, Output& out) {
  if (!source.merged) return;
  const profile::MergedMeta& merged = *source.merged;
  out.Print(" merged    {} profiles; threads: {} (jprof info lists them)\n", merged.inputs.size(),
            merged.threads);
  for (const std::string& notice : merged.notices)
    out.Warning(fmt::format("           {}\n", notice));
}

}  // namespace

double SecondsBetween(const profile::ControlHeader& header, uint64_t from, uint64_t to) {
  if (header.ticks_per_second == 0 || to <= from) return 0;
  return static_cast<double>(to - from) / static_cast<double>(header.ticks_per_second);
}

std::string ElapsedText(const profile::ControlHeader& header) {
  if (header.finished == 0) return "not finished: still running, or killed";
  return fmt::format("{:.3f} s elapsed",
                     SecondsBetween(header, header.start_ticks, header.end_ticks));
}

void PrintRun(const model::Source& source, std::string_view report, Output& out) {
  const profile::Reader& reader = source.reader;
  const profile::Meta& meta = reader.meta();
  out.Bold(fmt::format("jprof {} of {}\n", report, profile::CleanText(reader.directory())));
  out.Print(" command   {}{}\n", Command(meta),
            meta.pid == 0 ? "" : fmt::format(" (pid {})", meta.pid));
  PrintMerged(source, out);
  out.Print(" run       {}{}, started {}, {}\n", meta.mode.empty() ? "unknown mode" : meta.mode,
            meta.options.fold_recursion ? " with folded recursion" : "",
            meta.start.empty() ? "?" : meta.start, ElapsedText(reader.header()));
  const std::string folded = profile::FoldedText(reader.header());
  if (!folded.empty()) out.Print(" detail    {}; counts are exact\n", folded);
  const char* unknown = source.merged ? "several JVMs"
                        : meta.probe.is(ProbeKind::kHooks) || meta.probe.is(ProbeKind::kSleds)
                            ? "C and C++ functions"
                            : "unknown JVM";
  out.Print(" machine   {}{}{}{}\n", meta.jvm.Title().empty() ? unknown : meta.jvm.Title(),
            meta.probe.kind.empty() ? "" : ", probe " + meta.probe.kind,
            meta.probe.note.empty() ? "" : ": ", meta.probe.note);
  const auto filtered = std::count_if(
      reader.threads().begin(), reader.threads().end(),
      [](const auto& thread) { return thread.record.flags & profile::kThreadFiltered; });
  out.Print(" threads   {}", reader.threads().size() - static_cast<size_t>(filtered));
  if (filtered > 0) out.Print(", and {} left out by --threads", filtered);
  out.Text("\n");
}

void PrintLosses(const model::Source& source, Output& out) {
  bool any = false;
  const auto line = [&](std::string_view label, const std::string& text) {
    out.Warning(fmt::format(" {:<9} {}\n", label, text));
    any = true;
  };
  for (const profile::Loss& loss : profile::Losses(source.reader)) {
    if (loss.count > 0) line("lost", fmt::format("{} {}", loss.count, loss.description));
  }
  for (const std::string& damage : source.reader.damages().Lines()) line("damaged", damage);
  if (!any) out.Text(" losses    none\n");
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

void JsonLosses(const model::Source& source, JsonWriter& json) {
  json.Key("losses");
  json.StartObject();
  for (const profile::Loss& loss : profile::Losses(source.reader))
    json.Member(loss.name, loss.count);
  json.EndObject();
  json.StringsMember("damages", source.reader.damages().Lines());
}

void JsonRun(const model::Source& source, std::string_view report, JsonWriter& json) {
  const profile::Meta& meta = source.reader.meta();
  const profile::ControlHeader& header = source.reader.header();
  json.Member("report", report);
  json.Key("profile");
  json.StartObject();
  json.Member("directory", source.reader.directory());
  json.Member("mode", meta.mode);
  json.Member("command", Command(meta));
  json.Member("pid", meta.pid);
  json.Member("start", meta.start);
  json.Member("finished", header.finished != 0);
  json.FixedMember("elapsed_s", SecondsBetween(header, header.start_ticks, header.end_ticks), 6);
  if (const auto folded = profile::FoldedFrom(header))
    json.FixedMember("folded_from_s", *folded, 6);
  if (!source.refitted.empty()) json.Member("refitted", source.refitted);
  if (source.merged) {
    json.Member("merged", source.merged->inputs.size());
    json.StringsMember("notices", source.merged->notices);
  }
  json.EndObject();
}

}  // namespace jprof::reports
