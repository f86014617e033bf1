#include "jprof/hotspot/objects/object_counts.h"

#include <new>

#include "common/mapped_memory.h"
#include "jprof/engine/tree.h"
#include "jprof/engine/woven.h"
#include "profile/files/object_metrics.h"

namespace jprof::hotspot {
namespace {

// Describes the row of what the VM counts and the probe does not report.
class UnseenRow final : public engine::MethodSource {
 public:
  bool Describe(uint64_t, engine::MethodText* text) override {
    text->name = profile::kUnseenRow;
    text->flags = profile::kMethodStub;
    return true;
  }
  FrameKind Classify(uint64_t) override { return FrameKind::kOther; }
};

}  // namespace

ObjectCounts* ObjectCounts::Make(engine::Thread& thread, bool woven) {
  void* const memory = MapBytes(sizeof(ObjectCounts));
  if (memory == nullptr) return nullptr;
  auto* const counts = new (memory) ObjectCounts(woven, thread.random | 1);
  UnseenRow row;
  const profile::MethodId id = thread.session->methods().Find(row, 0).id;
  const profile::MethodRef ref = profile::PackMethod(FrameKind::kOther, id);
  counts->unseen = engine::AddRow(thread, thread.record->root, ref);
  thread.extension = counts;
  return counts;
}

// A class that is loaded where another one of its name was may have objects of another size.
ObjectCounts::ObjectCounts(bool woven, uint64_t seed) : random(seed), woven_(woven) {
  found = &known_;
  found_bytes = sizeof known_;
}

void ObjectCounts::Release() {
  this->~ObjectCounts();
  munmap(this, sizeof *this);
}

AllocationSite& ObjectCounts::AddSite(engine::Thread& thread, ObjectLayout& layout, uint64_t place,
                                      profile::Node* context, uint64_t klass) {
  const KnownClass& known = ClassOf(*thread.session, layout, klass);
  profile::Node* const node = ChildOf(thread, context, FrameKind::kClass, known.id);
  const auto index = static_cast<size_t>(node - thread.nodes);
  const size_t extras = thread.session->writer().metric_count() - 1;
  AllocationSite& site = SiteFor(place, klass);
  site = {klass,
          known.name,
          place,
          &node->self,
          thread.extra + index * extras,
          known.size,
          static_cast<uint32_t>(index)};
  return site;
}

const KnownClass& ObjectCounts::ClassOf(engine::Session& session, ObjectLayout& layout,
                                        uint64_t klass) {
  const uint64_t name = layout.NameOf(klass);
  KnownClass& known = known_.classes[(klass * kHash) >> (64 - kClassBits)];
  if (known.klass != klass || known.name != name)
    known = {klass, name, session.methods().Find(layout, klass).id, layout.SizeOf(klass)};
  return known;
}

profile::Node* ObjectCounts::ChildOf(engine::Thread& thread, profile::Node* parent, FrameKind kind,
                                     profile::MethodId id) const {
  if (woven_) return engine::WovenChild(thread, parent, id, kind);
  return engine::FindOrAddChild(thread, parent, profile::PackMethod(kind, id)).node;
}

}  // namespace jprof::hotspot
