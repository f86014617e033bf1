#include "jprof/hotspot/walk/stack_walker.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "jprof/hotspot/walk/return_sites.h"
#include "jprof/hotspot/walk/walk.h"
#include "jprof/hotspot/walk/walk_compiled.h"

namespace jprof::hotspot {

using unwind::Registers;
using unwind::StackBounds;

// Contains the state that all walks share.
struct StackWalker::Shared {
  Shared(Fields& field, const MemoryReader& reader) : layout(field, reader), memory(reader) {}

  StackLayout layout;
  MemoryReader memory;  // copied into each walk
  mutable ReturnSites sites;
  mutable std::atomic<int64_t> environment_offset = 0;  // of the JNIEnv; 0 while unknown

  // Returns whether a JavaThread of the calling thread begins at an address.
  bool IsOwnThread(uint64_t address, uint64_t sp, MemoryReader& reader) const {
    const auto field = [&](uint64_t of, int64_t offset) {
      return reader.Get<uint64_t>(of + static_cast<uint64_t>(offset));
    };
    const uint64_t os = field(address, layout.thread_os);
    const uint64_t base = field(address, layout.thread_stack_base);
    const uint64_t size = field(address, layout.thread_stack_size);
    return sp < base && sp >= base - size &&
           reader.Get<int32_t>(os + static_cast<uint64_t>(layout.os_id)) ==
               static_cast<int32_t>(syscall(SYS_gettid));
  }
};

Result<StackWalker> StackWalker::Open(const VmStructs& structs, const unwind::Unwinder& unwinder,
                                      MemorySource* source) {
  MemoryReader::Fetch fetch = nullptr;
  if (source == nullptr) {
    if (const auto image = LibjvmImage::Open()) fetch = MemoryReader::FetchOf(*image);
  }
  Fields field(structs);
  StackWalker walker;
  walker.shared_ = std::make_shared<const Shared>(field, MemoryReader(fetch, source));
  if (auto found = field.Check(); !found) {
    return Fail("stacks cannot be walked: {}", found.error().message);
  }
  walker.unwinder_ = &unwinder;
  return walker;
}

uint64_t StackWalker::VmThreadOf(const void* jni_env) const {
  const auto environment = reinterpret_cast<uint64_t>(jni_env);
  if (environment == 0) return 0;
  if (const int64_t offset = shared_->environment_offset.load(std::memory_order_relaxed))
    return environment - static_cast<uint64_t>(offset);
  MemoryReader reader(nullptr);  // the VM's signal handler may not be installed yet
  const auto sp = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  for (int64_t offset = 8; offset < shared_->layout.thread_bytes; offset += 8) {
    const uint64_t thread = environment - static_cast<uint64_t>(offset);
    if (!shared_->IsOwnThread(thread, sp, reader)) continue;
    shared_->environment_offset.store(offset, std::memory_order_relaxed);
    return thread;
  }
  return 0;
}

StackWalk StackWalker::Walk(const Registers& registers, const StackBounds& stack,
                            uint64_t vm_thread, StackFrame* out, uint32_t room) const {
  return WalkFrom({shared_->layout, *unwinder_, shared_->memory, stack, vm_thread, out, room},
                  registers, {});
}

StackWalk StackWalker::WalkSignal(const void* ucontext, const StackBounds& stack,
                                  uint64_t vm_thread, StackFrame* out, uint32_t room) const {
  return WalkFrom({shared_->layout, *unwinder_, shared_->memory, stack, vm_thread, out, room},
                  unwind::OfSignal(ucontext), InterpreterRegistersOf(ucontext));
}

StackWalk StackWalker::WalkSignal(const void* ucontext, const StackBounds& stack,
                                  uint64_t vm_thread, FrameNames& names, LastStack& last) const {
  return WalkFrom({shared_->layout, *unwinder_, shared_->memory, stack, vm_thread, last.fresh(), 0,
                   &shared_->sites, &names, &last},
                  unwind::OfSignal(ucontext), InterpreterRegistersOf(ucontext));
}

StackWalk StackWalker::WalkJava(const StackBounds& stack, uint64_t vm_thread, StackFrame* out,
                                uint32_t room, FrameNames* names) const {
  if (vm_thread == 0) return {};
  return WalkJavaFrames({shared_->layout, *unwinder_, shared_->memory, stack, vm_thread, out, room,
                         names != nullptr ? &shared_->sites : nullptr, names});
}

uint32_t StackWalker::WalkCaller(const Registers& registers, uint64_t vm_thread, FrameNames& names,
                                 StackFrame* out, uint32_t room) const {
  const auto high = shared_->memory.At<uint64_t>(
      vm_thread + static_cast<uint64_t>(shared_->layout.thread_stack_base));
  return WalkTwoFrames({shared_->layout,
                        *unwinder_,
                        shared_->memory,
                        {registers.sp, high},
                        vm_thread,
                        out,
                        room,
                        &shared_->sites,
                        &names},
                       registers);
}

uint32_t StackWalker::OptimisedMethods(uint64_t pc, std::span<uint64_t> out) const {
  MemoryReader memory = shared_->memory;
  return hotspot::OptimisedMethods(shared_->layout, memory, pc, out);
}

}  // namespace jprof::hotspot
