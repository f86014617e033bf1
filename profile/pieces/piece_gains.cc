#include "profile/pieces/piece_gains.h"

#include <algorithm>
#include <utility>

#include "profile/series/series_packet.h"

namespace jprof::profile {

bool PieceGains::Add(std::string_view content, uint64_t nodes, uint64_t control_bytes,
                     size_t extras) {
  if (!window_) {
    window_ = std::make_shared<Window>();
    window_->nodes = NodeGains(extras);
    below_0_ = NodeGains(extras);
  }
  words_.resize(std::max(words_.size(), static_cast<size_t>(control_bytes / sizeof(uint64_t))));
  const auto frames = SeriesFrames::Of(content);
  if (!frames || frames->block.extras != extras) return false;
  is_partial_ |= frames->block.is_partial != 0;
  const auto control = frames->Control(kAnyMemory);
  const auto changes = frames->Nodes(kAnyMemory);
  if (!control || !changes) return false;
  std::vector<SeriesTakeover> takeovers;
  ByteCursor in(*control);
  const bool good = DecodeTakeovers(in, nodes, [&](uint32_t record, uint32_t node) {
    takeovers.push_back({.record = record, .node = node});
    return true;
  });
  if (!good || !DecodeWords(in, words_)) return false;
  // The encoder continues what it has encoded: gains that this piece lacks stay with their nodes.
  window_->nodes.Add(std::exchange(below_0_, NodeGains(extras)));
  return DecodeNodes(*changes, nodes, takeovers, kAnyMemory, window_->nodes);
}

const std::shared_ptr<Window>& PieceGains::Take(uint64_t end_ns) {
  TakeControl(words_, window_->end, window_->end_threads);
  window_->end_ns = end_ns;
  below_0_ = window_->nodes.TakeNegative();
  return window_;
}

void PieceGains::Next() {
  auto next = std::make_shared<Window>();
  next->nodes = NodeGains(window_->nodes.extras());
  next->begin = window_->end;
  next->begin_threads = std::move(window_->end_threads);
  next->begin_ns = window_->end_ns;
  window_ = std::move(next);
}

}  // namespace jprof::profile
