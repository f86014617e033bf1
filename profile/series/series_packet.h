// Decodes the content of the packets of a series (profile/series/series_format.h), which is
// untrusted.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/bytes.h"
#include "profile/read/reader.h"
#include "profile/read/window.h"
#include "profile/series/series_format.h"

namespace jprof::profile {

inline constexpr uint64_t kAnyMemory = std::numeric_limits<uint64_t>::max();

// The content of a packet.
struct SeriesFrames {
  SeriesBlock block;
  std::string_view control, nodes;  // compressed

  // Returns nothing if the content is no block with two frames.
  static std::optional<SeriesFrames> Of(std::string_view content);

  // Return the expanded frames. They return nothing if the frame is damaged, or longer than
  // `memory`.
  std::optional<std::string> Control(uint64_t memory) const;
  std::optional<std::string> Nodes(uint64_t memory) const;
};

struct SeriesTakeover {
  uint32_t record = 0, node = 0;
  uint32_t snapshot = 0;  // if the caller sets it
};

// Decodes the takeovers of frame 1: calls `use` with each record and its node. `nodes` limits their
// indexes. Returns false if they are damaged, or if `use` does.
bool DecodeTakeovers(ByteCursor& in, uint64_t nodes,
                     const std::function<bool(uint32_t record, uint32_t node)>& use);

// Decodes the rest of frame 1: adds the changes to the words of the control file. Returns false if
// it is damaged.
bool DecodeWords(ByteCursor& in, std::vector<uint64_t>& words);

// Decodes frame 2: adds what nodes have gained. Returns false if it is damaged, or if the gains
// need more than `memory` bytes.
bool DecodeNodes(std::string_view raw, uint64_t nodes, std::span<const SeriesTakeover> takeovers,
                 uint64_t memory, NodeGains& gains);

// Takes the header and the threads from the words of a control file.
void TakeControl(const std::vector<uint64_t>& words, ControlHeader& header,
                 std::vector<ThreadRecord>& threads);

}  // namespace jprof::profile
