#include "jprof/hotspot/probe/late_probe.h"

#include <cerrno>

#include "common/errno_text.h"
#include "jprof/hotspot/probe/handlers.h"
#include "jprof/hotspot/vm/code_patch.h"

namespace jprof::hotspot {
namespace {

void Redirect(uint64_t function, Handler handler) {
  hotspot::Redirect(function, reinterpret_cast<uint64_t>(handler));
}

}  // namespace

Result<LateProbe> LateProbe::Find(const LibjvmImage& image, const VmStructs& structs,
                                  const ProbeTargets& targets) {
  const auto code = CompiledCode::Find(image, structs);
  if (!code) return std::unexpected(code.error());
  LateProbe probe(*code);
  probe.targets_ = targets;
  probe.structs_ = structs;
  if (!CanSetJumpTarget(targets.entry) || !CanSetJumpTarget(targets.exit))
    return Fail("the method probes of {} are not aligned", image.path());
  probe.flag_ = Vm::Flag(structs, "DTraceMethodProbes");
  if (probe.flag_ == nullptr || Vm::Flag(structs, "Inline") == nullptr)
    return Fail("this JVM has no flag DTraceMethodProbes or Inline");
  if (*probe.flag_ != 0) return Fail("the JVM was started with DTraceMethodProbes");
  return probe;
}

void LateProbe::Set(const char* name, uint8_t value) {
  uint8_t* const flag = Vm::Flag(structs_, name);
  if (flag == nullptr) return;
  saved_.push_back({flag, *flag});
  __atomic_store_n(flag, value, __ATOMIC_SEQ_CST);
}

Result<void> LateProbe::Install(const Vm& vm, engine::RecordingKind kind, Probing probing,
                                void* jni) {
  const WritableCode entry(targets_.entry, kJumpBytes), exit(targets_.exit, kJumpBytes);
  if (!entry || !exit) return Fail("cannot write to libjvm.so's code: {}", ErrnoText());
  Redirect(targets_.entry, InertHandlers().entry);
  Redirect(targets_.exit, InertHandlers().exit);
  for (const char* name : kFlagsToClear) Set(name, 0);
  Set("DTraceMethodProbes", 1);
  code_.Discard(jni);
  // All code has probes now. The exits are redirected first: an entry that is recorded has a
  // recorded exit.
  const Handlers handlers = HandlersFor(kind, probing, vm.thread_marks());
  Redirect(targets_.exit, handlers.exit);
  Redirect(targets_.entry, handlers.entry);
  return {};
}

Result<bool> LateProbe::Remove(void* jni) {
  {
    const WritableCode entry(targets_.entry, kJumpBytes), exit(targets_.exit, kJumpBytes);
    if (!entry || !exit) return Fail("cannot write to libjvm.so's code: {}", ErrnoText());
    Redirect(targets_.entry, InertHandlers().entry);
    Redirect(targets_.exit, InertHandlers().exit);
  }
  for (; !saved_.empty(); saved_.pop_back())
    __atomic_store_n(saved_.back().flag, saved_.back().before, __ATOMIC_SEQ_CST);
  const bool ended = code_.AwaitCompilations();
  code_.Discard(jni);
  return ended;
}

}  // namespace jprof::hotspot
