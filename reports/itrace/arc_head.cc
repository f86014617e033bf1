// Prints the head of the report arc: what was traced, and what is missing.
#include <set>

#include "reports/itrace/arc_table.h"
#include "reports/print/units.h"
#include "reports/quality/head.h"
#include "reports/quality/quality_of.h"

namespace jprof::reports {
namespace {

std::string ThreadsLine(const ArcTable& table) {
  std::set<uint32_t> processes;
  for (const model::ArcThread& thread : table.trace.threads) processes.insert(thread.pid);
  const size_t threads = table.trace.threads.size();
  return fmt::format("{} thread{} of {} process{}", threads, threads == 1 ? "" : "s",
                     processes.size(), processes.size() == 1 ? "" : "es");
}

}  // namespace

void PrintArcHead(const ArcTable& table, Output& out) {
  const model::ArcTrace& trace = table.trace;
  const profile::RecordingMeta& meta = table.arcs.recording.meta;
  const Head head = {
      .report = "arc",
      .of = table.arcs.directory,
      .directory = table.arcs.directory,
      .lines = {{"command", meta.command},
                {"run", Joined({Duration(1e9 * model::ArcSeconds(table.arcs)), ThreadsLine(table),
                                meta.sampling, meta.platform},
                               ", ")},
                {"executed", fmt::format("{} instructions, {} branches, {} system calls, {} "
                                         "signals; rep instructions repeated {} times",
                                         trace.instructions, trace.records, trace.system_calls,
                                         trace.signals, trace.repeats)}},
      .width = table.options.width};
  PrintHead(head, QualityOf(table.arcs, trace), out);
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
  JsonQuality(QualityOf(table.arcs, trace), json);
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
