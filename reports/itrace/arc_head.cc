// Prints the head of the report arc: what was traced, and what is missing.
#include <algorithm>
#include <set>

#include "model/values/statistics.h"
#include "reports/itrace/arc_table.h"

namespace jprof::reports {
namespace {

std::string ThreadsLine(const ArcTable& table) {
  std::set<uint32_t> processes;
  for (const model::ArcThread& thread : table.trace.threads) processes.insert(thread.pid);
  const size_t threads = table.trace.threads.size();
  return fmt::format("{} thread{} of {} process{}", threads, threads == 1 ? "" : "s",
                     processes.size(), processes.size() == 1 ? "" : "es");
}

void PrintThreads(const ArcTable& table, Output& out) {
  constexpr size_t kShownThreads = 5;
  out.Print(" threads   {}\n", ThreadsLine(table));
  std::vector<model::ArcThread> threads = table.trace.threads;
  if (threads.size() < 2) return;
  std::ranges::stable_sort(threads, std::greater(), &model::ArcThread::instructions);
  for (size_t i = 0; i < std::min(threads.size(), kShownThreads); ++i) {
    out.Print("           {:>5.1f} % {}\n",
              model::PercentOf(threads[i].instructions, table.trace.instructions),
              model::ArcThreadText(table.arcs, threads[i]));
  }
}

}  // namespace

void PrintArcHead(const ArcTable& table, Output& out) {
  const model::ArcTrace& trace = table.trace;
  const profile::RecordingMeta& meta = table.arcs.recording.meta;
  const auto line = [&out](const char* label, std::string_view text) {
    if (!text.empty()) out.Print(" {:<9} {}\n", label, text);
  };
  out.Bold(fmt::format("jprof arc of {}\n", table.arcs.directory));
  line("command", meta.command);
  line("machine", meta.platform);
  line("engine", meta.sampling);
  out.Print(" run       {:.3f} s, {} branches\n", model::ArcSeconds(table.arcs), trace.records);
  PrintThreads(table, out);
  out.Print(
      " executed  {} instructions, {} system calls, {} "
      "signals; rep instructions repeated {} times\n",
      trace.instructions, trace.system_calls, trace.signals, trace.repeats);
  if (trace.left > 0)
    out.Print(" left      {} calls ended without a return (longjmp, exceptions)\n", trace.left);
  if (trace.beyond > 0)
    out.Print(" before    {} returns from functions that were called before the trace began\n",
              trace.beyond);
  const model::ArcNotes notes = model::NotesOf(table.arcs, trace);
  for (const std::string& loss : notes.losses) out.Warning(fmt::format(" lost      {}\n", loss));
  if (notes.losses.empty()) out.Text(" lost      nothing\n");
  for (const std::string& note : notes.notes) out.Warning(fmt::format(" note      {}\n", note));
  out.Text("\n");
}

void JsonArcHead(const ArcTable& table, JsonWriter& json) {
  const model::ArcTrace& trace = table.trace;
  const profile::RecordingMeta& meta = table.arcs.recording.meta;
  const model::ArcNotes notes = model::NotesOf(table.arcs, trace);
  json.Member("report", "arc");
  json.Member("recording", table.arcs.directory);
  json.Member("command", meta.command);
  json.Member("platform", meta.platform);
  json.Member("engine", meta.sampling);
  json.FixedMember("seconds", model::ArcSeconds(table.arcs), 9);
  json.Member("records", trace.records);
  json.Member("instructions", trace.instructions);
  json.Member("repeats", trace.repeats);
  json.Member("system_calls", trace.system_calls);
  json.Member("signals", trace.signals);
  json.Member("left", trace.left);
  json.Member("before", trace.beyond);
  json.StringsMember("losses", notes.losses);
  json.StringsMember("notes", notes.notes);
  json.Key("threads");
  json.StartArray();
  for (const model::ArcThread& thread : trace.threads) {
    json.StartRow();
    json.Member("pid", thread.pid);
    json.Member("tid", thread.tid);
    json.Member("name", model::ArcThreadText(table.arcs, thread));
    json.Member("instructions", thread.instructions);
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace jprof::reports
