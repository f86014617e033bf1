#include "jprof/hotspot/probe/caller_sites.h"

namespace jprof::hotspot {
namespace {

// Has no names: only the bytecodes of the frames are used.
class NoNames final : public FrameNames {
 public:
  profile::MethodRef RefOf(const StackFrame&) override { return profile::kNoMethodRef; }
};
constinit NoNames no_names;

bool IsJava(FrameKind kind) {
  return kind == FrameKind::kInterpreted || kind == FrameKind::kJitted ||
         kind == FrameKind::kRejitted || kind == FrameKind::kInlined;
}

}  // namespace

Result<std::unique_ptr<CallerSites>> CallerSites::Open(const VmStructs& structs) {
  std::unique_ptr<CallerSites> sites(new CallerSites);
  auto walker = StackWalker::Open(structs, sites->unwinder_);
  if (!walker) return std::unexpected(walker.error());
  sites->walker_ = std::make_unique<StackWalker>(*walker);
  return sites;
}

uint64_t CallerSites::Of(const engine::Event& entry, uint64_t fp) const {
  constexpr uint32_t kRoom = 40;  // for the methods that are inlined into each other at one place
  StackFrame frames[kRoom];
  const unwind::Registers at = {.pc = entry.return_address, .sp = entry.sp, .fp = fp};
  const uint32_t depth = walker_->WalkCaller(at, entry.vm_thread, no_names, frames, kRoom);
  if (depth < 2 || frames[0].method != entry.method) return 0;
  const StackFrame& caller = frames[1];
  if (!IsJava(caller.type) || caller.bci < 0) return 0;
  return Sites::KeyOf(caller.method, static_cast<uint32_t>(caller.bci));
}

}  // namespace jprof::hotspot
