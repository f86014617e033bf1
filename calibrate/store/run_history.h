// Stores how much the runs of earlier profiles of this machine differed, and computes from it what
// is usual for a program before its runs are known (docs/decisions/0040).
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "common/result.h"
#include "profile/read/run_spreads.h"

namespace jprof::calibrate {

// What the sampled runs of one combined profile showed alone. A spread without freedom is unknown.
struct RunRecord {
  uint64_t program = 0;  // ProgramId()
  profile::RunSpread total, share, own_share;
};

// Returns a number for the command, typed or as profiles have it, with printable words. The history
// does not contain the command itself.
uint64_t ProgramId(const std::vector<std::string>& command);

// Returns ${XDG_DATA_HOME:-$HOME/.local/share}/jprof/runs.jsonl, which has one line of JSON for
// each profile.
std::filesystem::path HistoryPath();

inline constexpr uint64_t kNoProgram = 0;  // has no profiles of its own

// Reads the newest records, oldest first. What cannot be read is skipped.
std::vector<RunRecord> ReadHistory();

// Appends a record. Several processes may do so at a time. Fails if the file cannot be written.
Result<void> AddToHistory(const RunRecord& record);

// Returns what is usual for this program: the spread of all programs, and with it, as if they were
// runs of the new profile, what the program's own earlier profiles showed. Pure.
profile::RunSpreads UsualSpreads(std::span<const RunRecord> history, uint64_t program);

}  // namespace jprof::calibrate
