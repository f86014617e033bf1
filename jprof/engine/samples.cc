#include "jprof/engine/samples.h"

#include <ranges>
#include <utility>

#include "jprof/engine/session.h"
#include "jprof/engine/tree.h"

namespace jprof::engine {

profile::MethodId SampledMethod(Thread& thread, MethodSource& source, uint64_t key) {
  if (const CachedMethod* cached = FindCached(thread, key)) return profile::MethodOf(cached->ref);
  return profile::MethodOf(thread.session->method_cache().Add(thread, source, key)->ref);
}

Path::Path(Thread& thread, Timeline& timeline, uint32_t from)
    : thread_(thread), foreign_(&timeline != &thread.timeline ? &timeline : nullptr) {
  if (foreign_ != nullptr) std::swap(thread.timeline, timeline);
  if (from == 0) FoldIfDue(thread);  // a path from another node stays in that node's tree
  node_ = thread.nodes + (from != 0 ? from : thread.timeline.record->root);
}

bool MayReuseNodes(const Thread& thread, const Timeline& timeline) {
  const profile::ControlHeader& header = *thread.session->writer().header();
  return header.folded_ticks == 0 || timeline.folded || header.tree_full || header.disk_full;
}

Path::~Path() {
  if (foreign_ != nullptr) std::swap(thread_.timeline, *foreign_);
}

void Path::Step(profile::MethodRef ref) {
  node_ = FindOrAddChild(thread_, node_, ref, std::to_underlying(ref)).node;
}

void Path::StepToSite(profile::MethodRef site) { node_ = FindOrAddSite(thread_, node_, site); }

profile::Node* ContextOf(Thread& thread, Timeline& timeline,
                         std::span<const profile::MethodRef> innermost_first) {
  Path path(thread, timeline, 0);
  for (const profile::MethodRef ref : innermost_first | std::views::reverse) path.Step(ref);
  return path.node();
}

}  // namespace jprof::engine
