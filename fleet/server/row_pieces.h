// Rows of an answer that arrives piece by piece, none of which needs to end with a row.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "fleet/server/row_binary.h"

namespace jprof::fleet {

// Takes one row from the reader. If reader.ok() is false then, the row has not arrived completely:
// the function must keep nothing of it, and is called again.
using TakeRow = std::function<void(RowReader& reader)>;

class RowPieces {
 public:
  explicit RowPieces(TakeRow take) : take_(std::move(take)) {}

  // Takes the rows that this piece completes.
  void Add(std::string_view piece) {
    if (waits_for_ > 0 && rest_.size() + piece.size() < waits_for_) {
      rest_ += piece;
      return;
    }
    if (!rest_.empty()) rest_ += piece;
    const std::string_view text = rest_.empty() ? piece : rest_;
    RowReader reader(text);
    size_t taken = 0;
    while (!reader.AtEnd()) {
      take_(reader);
      if (!reader.ok()) break;
      taken = text.size() - reader.left();
    }
    const std::string rest(text.substr(taken));
    // A row that is longer than many pieces is not read again at each of them.
    waits_for_ = taken == 0 ? 2 * rest.size() : 0;
    rest_ = rest;
  }

  // Takes what is left. Returns whether the answer ended with a row.
  bool End() {
    waits_for_ = 0;
    const bool was_empty = rest_.empty();
    Add("");
    return was_empty || rest_.empty();
  }

 private:
  TakeRow take_;
  std::string rest_;
  size_t waits_for_ = 0;
};

}  // namespace jprof::fleet
