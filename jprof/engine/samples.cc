#include "jprof/engine/samples.h"

#include <ranges>
#include <utility>

#include "jprof/engine/session.h"
#include "jprof/engine/tree.h"

namespace jprof::engine {

uint32_t SampledMethod(Thread& thread, MethodSource& source, uint64_t key) {
  if (const CachedMethod* cached = FindCached(thread, key)) return profile::MethodOf(cached->word);
  return profile::MethodOf(thread.session->Remember(thread, source, key)->word);
}

profile::Node* ContextOf(Thread& thread, Strand& strand,
                         std::span<const uint32_t> innermost_first) {
  const bool foreign = &strand != &thread.strand;
  if (foreign)
    std::swap(thread.strand, strand);  // nodes come from the chunk of the strand that is on
  profile::Node* node = thread.nodes + thread.strand.record->root;
  for (const uint32_t word : innermost_first | std::views::reverse) {
    node = FindOrAddChild(thread, node, word, word).node;
  }
  if (foreign) std::swap(thread.strand, strand);
  return node;
}

}  // namespace jprof::engine
