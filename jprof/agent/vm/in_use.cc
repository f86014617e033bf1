#include "jprof/agent/vm/in_use.h"

#include <time.h>

#include <cstdint>
#include <utility>

namespace jprof::agent {
namespace {

std::atomic<uint32_t> uses = 0;
PartSlot* slots = nullptr;

}  // namespace

UseCount::UseCount() { uses.fetch_add(1); }
UseCount::~UseCount() { uses.fetch_sub(1, std::memory_order_release); }

void BeginFork() { uses.fetch_add(1); }
void EndFork() { uses.fetch_sub(1, std::memory_order_release); }

void PartSlot::Publish(void* part) {
  if (!std::exchange(listed_, true)) next_ = std::exchange(slots, this);
  part_.store(part);
}

void UnpublishAll() {
  for (PartSlot* slot = slots; slot != nullptr; slot = slot->next_) slot->part_.store(nullptr);
  constexpr timespec kPause = {0, 1'000'000};
  while (uses.load() != 0) nanosleep(&kPause, nullptr);
}

}  // namespace jprof::agent
