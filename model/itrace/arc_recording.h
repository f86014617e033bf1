// Reads a recording of `jprof itrace`: its branches (profile/log/branch_log.h), the code that they
// are in, and the tree of their calls (model/itrace/arc_model.h).
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/itrace/arc_code.h"
#include "model/itrace/arc_sums.h"
#include "model/ticks/recording.h"
#include "profile/log/branch_log.h"

namespace jprof::model {

struct ArcRecording {
  std::string directory;
  Recording recording;
  profile::BranchLog branches;
  std::unique_ptr<ArcCode> code;
  std::map<uint32_t, std::string> thread_names;  // by thread id
};

// Returns whether the directory has branches.
bool IsArcRecording(const std::filesystem::path& directory);

// Fails if the directory is no recording of `jprof itrace`, or if one of its files cannot be read.
Result<ArcRecording> OpenArcRecording(const std::filesystem::path& directory);

// Returns the tree of the branches, or of those of one thread if `tid` is given.
ArcTrace WalkArcs(ArcRecording& arcs, std::optional<uint32_t> tid = {},
                  const ArcWalk::OnRun& on_run = {});

// Returns the name that the thread had at the end, or "(unnamed)".
std::string ThreadName(const ArcRecording& arcs, uint32_t tid);
// Returns "name (tid 77)".
std::string ArcThreadText(const ArcRecording& arcs, const ArcThread& thread);

// Lines for people about what was lost or is damaged, and about what is uncertain. They are
// complete only after WalkArcs, which finds modules that cannot be read.
struct ArcNotes {
  std::vector<std::string> losses, notes;
};
ArcNotes NotesOf(const ArcRecording& arcs, const ArcTrace& trace);

double ArcSeconds(const ArcRecording& arcs);

}  // namespace jprof::model
