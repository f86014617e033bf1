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

void ObjectCounts::Release() {
  this->~ObjectCounts();
  munmap(this, sizeof *this);
}

AllocationSite& ObjectCounts::AddSite(engine::Thread& thread, ObjectLayout& layout, uint64_t place,
                                      profile::Node* context, uint64_t klass) {
  const uint64_t name = layout.NameOf(klass);
  profile::Node* const node =
      ChildOf(thread, context, FrameKind::kClass, IdOf(*thread.session, layout, klass, name));
  const auto index = static_cast<size_t>(node - thread.nodes);
  const size_t extras = thread.session->writer().metric_count() - 1;
  AllocationSite& site = SiteFor(place, klass);
  site = {klass,
          name,
          place,
          &node->self,
          thread.extra + index * extras,
          layout.SizeOf(klass),
          static_cast<uint32_t>(index)};
  return site;
}

profile::MethodId ObjectCounts::IdOf(engine::Session& session, ObjectLayout& layout, uint64_t klass,
                                     uint64_t name) {
  KnownClass& known = classes_[(klass >> 3) % kClasses];
  if (known.klass != klass || known.name != name)
    known = {klass, name, session.methods().Find(layout, klass).id};
  return known.id;
}

profile::Node* ObjectCounts::ChildOf(engine::Thread& thread, profile::Node* parent, FrameKind kind,
                                     profile::MethodId id) const {
  if (woven_) return engine::WovenChild(thread, parent, id, kind);
  return engine::FindOrAddChild(thread, parent, profile::PackMethod(kind, id)).node;
}

}  // namespace jprof::hotspot
