// A recording of `jprof itrace`, read: its branches (profile/branch_log.h), the code that they are
// in, and what the walk over them finds (reports/arc_model.h).
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profile/branch_log.h"
#include "reports/arc_code.h"
#include "reports/arc_sums.h"
#include "reports/recording.h"

namespace jprof::reports {

struct ArcRecording {
  std::string directory;
  Recording recording;
  profile::BranchLog branches;
  std::unique_ptr<ArcCode> code;
  std::map<uint32_t, std::string> thread_names;  // by thread id
};

// Whether the directory has branches.
bool IsArcRecording(const std::filesystem::path& directory);

// Error: not a recording of `jprof itrace`, or a file of it cannot be read.
Result<ArcRecording> OpenArcRecording(const std::filesystem::path& directory);

// Walks over the branches, of one thread if `tid` is given.
ArcTrace WalkArcs(ArcRecording& arcs, std::optional<uint32_t> tid = {},
                  const ArcWalk::OnRun& on_run = {});

// "name (tid 77)"
std::string ArcThreadText(const ArcRecording& arcs, const ArcThread& thread);

// Lines for people: what was lost or is damaged, and what is uncertain. Call it after the walk:
// modules that cannot be read are found then.
struct ArcNotes {
  std::vector<std::string> losses, notes;
};
ArcNotes NotesOf(const ArcRecording& arcs, const ArcTrace& trace);

double ArcSeconds(const ArcRecording& arcs);

}  // namespace jprof::reports
