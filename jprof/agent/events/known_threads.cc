#include "jprof/agent/events/known_threads.h"

#include <algorithm>

#include "jprof/agent/vm/native_threads.h"

namespace jprof::agent {

using hotspot::MonitorThread;

KnownThreads::KnownThreads(const std::optional<hotspot::VmStructs>& structs) {
  if (!structs) return;
  owners_.emplace(*structs);
  if (auto natives = hotspot::NativeThreads::Open(*structs)) natives_ = *std::move(natives);
}

bool KnownThreads::AddCurrent(uint64_t vm_thread) {
  MonitorThread thread = {.vm_thread = vm_thread, .tid = CurrentTid()};
  if (natives_) thread.stack = natives_->Of(vm_thread).stack;
  return Add(thread);
}

bool KnownThreads::Add(const MonitorThread& thread) {
  const std::lock_guard guard(lock_);
  if (std::ranges::count(threads_, thread.tid, &MonitorThread::tid) != 0) return false;
  threads_.push_back(thread);
  return true;
}

bool KnownThreads::RemoveCurrent() {
  const std::lock_guard guard(lock_);
  return std::erase_if(threads_, [tid = CurrentTid()](const MonitorThread& thread) {
           return thread.tid == tid;
         }) != 0;
}

// A local reference is the address of a word with that of the object. The object may be moved
// meanwhile; then the owner may not be found.
uint32_t KnownThreads::OwnerOf(jobject object) const {
  if (!owners_) return 0;
  constexpr uintptr_t kTag = 7;
  const auto reference = reinterpret_cast<uintptr_t>(object);
  const uint64_t address =
      (reference & kTag) == 0 ? *reinterpret_cast<const volatile uint64_t*>(reference) : 0;
  const std::lock_guard guard(lock_);
  const auto waiting = std::ranges::find(threads_, CurrentTid(), &MonitorThread::tid);
  if (waiting == threads_.end()) return 0;
  return owners_->OwnerOf(waiting->vm_thread, address, threads_);
}

}  // namespace jprof::agent
