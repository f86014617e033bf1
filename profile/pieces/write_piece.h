// Writes a piece of a recording (--rotate): what a profile has counted in a stretch of time, as a
// profile of its own.
//
// - Every context that did something then, and those that called it, each type of a method apart;
//   the threads that lived then; their losses.
// - What a profile states as a whole only, such as how long single calls took, is left out and
//   named (Piece::left_out).
// - Sums over pieces are those of the whole recording, for every context. A method that was
//   compiled after few calls is an exception for its types: the whole counts these calls as
//   compiled.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/result.h"
#include "profile/read/reader.h"
#include "profile/read/window.h"

namespace jprof::profile {

struct PieceRequest {
  std::string profile;    // the directory of the whole profile, which may be being written
  std::string directory;  // where the piece is written; exists and is empty
  uint64_t number = 0;
  std::string of;        // the name of the whole profile, for readers
  bool partial = false;  // what some contexts counted is in the last piece only
  bool finished = true;  // false if the program did not end normally in this piece
  // Moves gains to superseded records that the last snapshot has not seen (series_encoder.h).
  // Returns whether there were any. May be empty.
  std::function<bool(NodeGains&)> settle;
};

// Writes the files of the piece for the window. Counts of the window that are below 0 are read as
// 0. Fails if the profile cannot be read or a file cannot be written; the directory then has a part
// of the piece.
Result<void> WritePiece(const PieceRequest& request, const std::shared_ptr<Window>& window);

}  // namespace jprof::profile
