#include "jprof/agent/sampling/virtual_names.h"

namespace jprof::agent {

void VirtualNames::Started(uint64_t id, std::string_view name) {
  if (name.empty() || id == 0) return;
  std::lock_guard guard(lock_);
  auto kept = names_.find(name);
  if (kept == names_.end()) {
    if (names_.size() == kMostNames) return;
    kept = names_.emplace(name).first;
  }
  for (size_t probe = 0; probe < kProbes; ++probe) {
    Slot& slot = slots_[Place(id, probe)];
    if (slot.id.load(std::memory_order_relaxed) != 0) continue;
    slot.name.store(kept->c_str(), std::memory_order_relaxed);
    slot.id.store(id, std::memory_order_release);
    return;
  }
}

void VirtualNames::Ended(uint64_t id) {
  std::lock_guard guard(lock_);
  for (size_t probe = 0; probe < kProbes; ++probe) {
    Slot& slot = slots_[Place(id, probe)];
    if (slot.id.load(std::memory_order_relaxed) == id) slot.id.store(0, std::memory_order_release);
  }
}

const char* VirtualNames::NameOf(uint64_t id) const {
  for (size_t probe = 0; id != 0 && probe < kProbes; ++probe) {
    const Slot& slot = slots_[Place(id, probe)];
    if (slot.id.load(std::memory_order_acquire) == id)
      return slot.name.load(std::memory_order_relaxed);
  }
  return nullptr;
}

}  // namespace jprof::agent
