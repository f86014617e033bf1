#include "profile/pieces/piece_list.h"

#include <algorithm>
#include <system_error>

namespace jprof::profile {

namespace fs = std::filesystem;

std::vector<fs::path> PiecesOf(const fs::path& profile) {
  const auto number_of = [](const fs::path& piece) {
    return kPieceNames.NumberIn(piece.filename().string());
  };
  std::vector<fs::path> pieces;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(profile / kPiecesFolder, failed))
    if (number_of(entry.path()) != 0) pieces.push_back(entry.path());
  std::ranges::sort(pieces, {}, number_of);
  return pieces;
}

}  // namespace jprof::profile
