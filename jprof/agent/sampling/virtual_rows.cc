#include "jprof/agent/sampling/virtual_rows.h"

#include <sys/prctl.h>

#include <cstring>

namespace jprof::agent {
namespace {

constexpr char kOtherNames[] = "other names";

}  // namespace

uint64_t VirtualRows::CurrentId() const {
  const engine::Thread* thread = engine::current_thread;
  if (thread == nullptr || thread->vm_thread == 0) return 0;
  return session_.sources().vm->VirtualThreadId(thread->vm_thread);
}

void VirtualRows::Started(std::string_view name) { names_.Started(CurrentId(), name); }

void VirtualRows::Ended() {
  if (const uint64_t id = CurrentId(); id != 0) names_.Ended(id);
}

engine::Timeline& VirtualRows::RowFor(engine::Thread& thread, const char* name, const char* shown,
                                      uint32_t flags) {
  SampledThread& sampled = *SampledThreadOf(thread);
  size_t at = 0;
  while (at + 1 < kMostVirtualRows && sampled.virtual_rows[at].used &&
         sampled.virtual_rows[at].name != name) {
    ++at;
  }
  VirtualRow& row = sampled.virtual_rows[at];
  if (!row.used) {
    row.used = true;
    row.name = at + 1 < kMostVirtualRows ? name : nullptr;
    if (!session_.timelines().OpenRow(row.name != nullptr ? row.name : shown, flags, row.timeline))
      row.timeline.record = nullptr;
  }
  return row.timeline.record != nullptr ? row.timeline : thread.timeline;
}

engine::Timeline& VirtualRows::TimelineFor(engine::Thread& thread) {
  const char* name = names_.NameOf(session_.sources().vm->VirtualThreadId(thread.vm_thread));
  return RowFor(thread, name, "virtual threads", profile::kThreadVirtual);
}

engine::Timeline& VirtualRows::TimelineOfName(engine::Thread& thread) {
  char now[sizeof SampledThread::own_names[0]] = {};
  prctl(PR_GET_NAME, now);
  if (now[0] == 0) return thread.timeline;
  for (auto& name : SampledThreadOf(thread)->own_names) {
    if (name[0] == 0) std::memcpy(name, now, sizeof now);
    if (std::strcmp(name, now) == 0) return RowFor(thread, name, kOtherNames, 0);
  }
  return RowFor(thread, kOtherNames, kOtherNames, 0);
}

void VirtualRows::End(SampledThread& sampled) {
  for (const VirtualRow& row : sampled.virtual_rows) {
    if (row.timeline.record != nullptr) row.timeline.record->state = profile::kThreadEnded;
  }
}

}  // namespace jprof::agent
