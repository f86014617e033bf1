#include "model/itrace/arc_recording.h"

#include "model/values/statistics.h"
#include "profile/files/printable_text.h"

namespace jprof::model {

namespace fs = std::filesystem;

bool IsArcRecording(const fs::path& directory) {
  std::error_code error;
  return fs::exists(directory / profile::kBranchesFile, error);
}

Result<ArcRecording> OpenArcRecording(const fs::path& directory) {
  std::error_code error;
  if (fs::is_directory(directory, error) && !IsArcRecording(directory)) {
    return WrongUse("{} has no branches: make a recording with jprof itrace",
                    profile::CleanText(directory.string()));
  }
  auto recording = OpenRecording(directory);
  if (!recording) return std::unexpected(recording.error());
  auto branches = profile::BranchLog::Read((directory / profile::kBranchesFile).string());
  if (!branches) return std::unexpected(branches.error());
  ArcRecording arcs = {.directory = profile::CleanText(directory.string()),
                       .recording = *std::move(recording),
                       .branches = *std::move(branches),
                       .code = nullptr,
                       .thread_names = {}};
  arcs.code = std::make_unique<ArcCode>(*arcs.recording.resolver, arcs.recording.changes);
  arcs.thread_names = LastThreadNames(arcs.recording);
  return arcs;
}

ArcTrace WalkArcs(ArcRecording& arcs, std::optional<uint32_t> tid, const ArcWalk::OnRun& on_run) {
  ArcCode& code = *arcs.code;
  ArcWalk walk([&code](uint32_t pid, uint64_t address,
                       uint64_t time) { return code.At(pid, address, time); },
               on_run);
  arcs.branches.ForEach([&](const profile::Branch& branch) {
    if (!tid || branch.tid == *tid) walk.Add(branch);
  });
  return walk.Take();
}

std::string ThreadName(const ArcRecording& arcs, uint32_t tid) {
  const auto name = arcs.thread_names.find(tid);
  const bool known = name != arcs.thread_names.end() && !name->second.empty();
  return known ? name->second : "(unnamed)";
}

std::string ArcThreadText(const ArcRecording& arcs, const ArcThread& thread) {
  const auto name = arcs.thread_names.find(thread.tid);
  if (name == arcs.thread_names.end()) return fmt::format("tid {}", thread.tid);
  return fmt::format("{} (tid {})", name->second, thread.tid);
}

ArcNotes NotesOf(const ArcRecording& arcs, const ArcTrace& trace) {
  ArcNotes notes;
  const auto damaged = [&notes](const std::vector<std::string>& damages) {
    for (const std::string& damage : damages)
      notes.losses.push_back("damaged: " + profile::CleanText(damage));
  };
  damaged(arcs.branches.damages());
  damaged(arcs.recording.log.damages());
  for (const std::string& note : arcs.recording.notes)
    (note.starts_with("damaged") ? notes.losses : notes.notes).push_back(note);
  uint64_t unnamed = 0;
  for (const ArcNode& node : trace.nodes) {
    if (arcs.code->IsUnnamed(node.function)) unnamed += node.self;
  }
  if (unnamed > 0) {
    notes.notes.push_back(fmt::format("{} instructions ({:.2f} %) are in code without symbols",
                                      unnamed, PercentOf(unnamed, trace.instructions)));
  }
  for (const a2n::Complaint& complaint : arcs.recording.resolver->Complaints())
    notes.notes.push_back(profile::CleanText(complaint.text));
  return notes;
}

double ArcSeconds(const ArcRecording& arcs) {
  const uint64_t start = arcs.branches.header().start_ns;
  const uint64_t end = arcs.branches.end_ns();
  return end <= start ? 0 : static_cast<double>(end - start) / 1e9;
}

}  // namespace jprof::model
