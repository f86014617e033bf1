// Adds up the snapshots of a live profile since the last piece that was written (--rotate). What a
// piece cannot have, the next one gets, so that nothing is lost between them.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "profile/read/window.h"

namespace jprof::profile {

class PieceGains {
 public:
  // Adds the content of the packet of a snapshot (profile/series/series_format.h), of a profile
  // with so many nodes, bytes of control, and metrics beyond the first. Returns false if it is
  // damaged.
  bool Add(std::string_view content, uint64_t nodes, uint64_t control_bytes, size_t extras);

  // Returns whether there was no memory to compare all nodes, so that the last piece has what some
  // counted in others.
  bool is_partial() const { return is_partial_; }

  // Returns what was counted from the end of the last piece to `end_ns` after the beginning of the
  // recording, without counts below 0: these are kept for the next piece.
  const std::shared_ptr<Window>& Take(uint64_t end_ns);
  // Begins the next piece, when the last one was written. If it was not, Take returns its counts
  // again, with those of later snapshots.
  void Next();

 private:
  std::shared_ptr<Window> window_;
  NodeGains below_0_;
  std::vector<uint64_t> words_;  // of the control file
  bool is_partial_ = false;
};

}  // namespace jprof::profile
