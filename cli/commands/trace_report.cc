#include "cli/commands/trace_report.h"

#include <array>
#include <map>

#include "cli/commands/profile_info.h"
#include "model/itrace/memory_use.h"
#include "profile/files/printable_text.h"
#include "reports/print/json_writer.h"

namespace jprof::cli {
namespace {

using profile::Branch;
using profile::BranchKind;

// The names of BranchKind, by its values.
constexpr const char* kKindNames[] = {"begin",  "jump",        "taken",  "not_taken",     "call",
                                      "return", "system_call", "signal", "signal_return", "end"};

struct TracedThread {
  uint32_t pid = 0;
  uint64_t instructions = 0;
};

// Sums over the branches alone, without looking up code.
struct TraceInfo {
  std::array<uint64_t, std::size(kKindNames)> branches = {};
  uint64_t instructions = 0, repeats = 0;
  std::map<uint32_t, TracedThread> threads;

  void Add(const Branch& branch) {
    ++branches[static_cast<size_t>(branch.kind)];
    instructions += branch.instructions;
    repeats += branch.repeats;
    TracedThread& thread = threads[branch.tid];
    thread.pid = branch.pid;
    thread.instructions += branch.instructions;
  }
  uint64_t Of(BranchKind kind) const { return branches[static_cast<size_t>(kind)]; }
};

std::string NameOfThread(const model::ArcRecording& arcs, uint32_t tid) {
  const auto name = arcs.thread_names.find(tid);
  return name == arcs.thread_names.end() ? "" : name->second;
}

void PrintTraceText(const model::ArcRecording& arcs, const TraceInfo& info,
                    const model::ArcNotes& notes, uint64_t bytes, reports::Output& out) {
  const auto line = [&out](std::string_view name, std::string_view value) {
    if (!value.empty()) out.Print("{:<12} {}\n", name, profile::CleanText(value));
  };
  const profile::RecordingMeta& meta = arcs.recording.meta;
  line("trace", fmt::format("{} (itrace, {:.1f} MiB)", arcs.directory,
                            static_cast<double>(bytes) / (1 << 20)));
  line("command", meta.command);
  line("engine", meta.sampling);
  line("machine", meta.platform);
  line("run", fmt::format("{:.3f} s", model::ArcSeconds(arcs)));
  line("instructions", fmt::format("{}, repeats of rep instructions not counted: {}",
                                   info.instructions, info.repeats));
  line("branches",
       fmt::format("{}: {} calls, {} returns, {} system calls, {} signals", arcs.branches.records(),
                   info.Of(BranchKind::kCall), info.Of(BranchKind::kReturn),
                   info.Of(BranchKind::kSystemCall), info.Of(BranchKind::kSignal)));
  if (arcs.recording.jitted > 0)
    line("jitted code", fmt::format("{} methods and stubs", arcs.recording.jitted));
  for (const std::string& loss : notes.losses) line("lost", loss);
  if (notes.losses.empty()) line("lost", "nothing");
  for (const std::string& note : notes.notes) line("note", note);
  constexpr size_t kShown = 12;
  out.Print("threads      {}\n", info.threads.size());
  size_t shown = 0;
  for (const auto& [tid, thread] : info.threads) {
    if (++shown > kShown) continue;
    out.Print("  {:>8}   {} ({} instructions)\n", tid, NameOfThread(arcs, tid),
              thread.instructions);
  }
  if (info.threads.size() > kShown)
    out.Print("             and {} more (--format json has all)\n", info.threads.size() - kShown);
  const bool has_branches = arcs.branches.records() != 0;
  if (has_branches) out.Print("Its report: jprof report arc; its page: jprof view.\n");
  if (model::HasReferences(arcs))
    out.Print("{}: jprof report memory.\n", has_branches ? "Its memory" : "Its report");
}

void PrintTraceJson(const model::ArcRecording& arcs, const TraceInfo& info,
                    const model::ArcNotes& notes, uint64_t bytes, reports::Output& out) {
  const profile::RecordingMeta& meta = arcs.recording.meta;
  reports::JsonWriter json(out);
  json.StartObject();
  json.Member("profile", arcs.directory);
  json.Member("mode", "itrace");
  json.Member("command", meta.command);
  json.Member("engine", meta.sampling);
  json.Member("platform", meta.platform);
  json.FixedMember("seconds", model::ArcSeconds(arcs), 9);
  json.Member("bytes", bytes);
  json.Member("instructions", info.instructions);
  json.Member("repeats", info.repeats);
  json.Key("branches");
  json.StartObject();
  for (size_t i = 0; i < info.branches.size(); ++i) json.Member(kKindNames[i], info.branches[i]);
  json.EndObject();
  json.StringsMember("losses", notes.losses);
  json.StringsMember("notes", notes.notes);
  json.Key("threads");
  json.StartArray();
  for (const auto& [tid, thread] : info.threads) {
    json.StartRow();
    json.Member("pid", thread.pid);
    json.Member("tid", tid);
    json.Member("name", NameOfThread(arcs, tid));
    json.Member("instructions", thread.instructions);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  json.Finish();
}

}  // namespace

Result<void> DescribeTrace(const std::string& directory, bool json) {
  const auto arcs = model::OpenArcRecording(directory);
  if (!arcs) return std::unexpected(arcs.error());
  TraceInfo info;
  arcs->branches.ForEach([&info](const Branch& branch) { info.Add(branch); });
  model::ArcNotes notes = model::NotesOf(*arcs, {});
  const uint64_t bytes = BytesOf(directory, notes.losses);
  reports::Output out(stdout);
  json ? PrintTraceJson(*arcs, info, notes, bytes, out)
       : PrintTraceText(*arcs, info, notes, bytes, out);
  return out.Finish();
}

}  // namespace jprof::cli
