// The pieces of a recording (--rotate) lie in the folder `pieces` of the whole profile, each in a
// directory NUMBER.jprof.
#pragma once

#include <filesystem>
#include <vector>

#include "profile/files/numbered_name.h"

namespace jprof::profile {

inline constexpr char kPiecesFolder[] = "pieces";
// Names in that folder of a piece that is being written, and of one that is being removed.
inline constexpr char kNewPiece[] = ".new", kOldPiece[] = ".old";

// The names of pieces: 000042.jprof.
inline constexpr NumberedNames kPieceNames = {.prefix = "", .suffix = ".jprof"};

// Returns the directories of the pieces that the profile has, the oldest first.
std::vector<std::filesystem::path> PiecesOf(const std::filesystem::path& profile);

}  // namespace jprof::profile
