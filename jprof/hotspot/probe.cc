#include "jprof/hotspot/probe.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "jprof/hotspot/handlers.h"

namespace jprof::hotspot {
namespace {

#if defined(__x86_64__)
// jmp [rip+0]; address
constexpr uint8_t kJump[] = {0xff, 0x25, 0, 0, 0, 0};
#elif defined(__aarch64__)
// ldr x16, #8; br x16; address
constexpr uint8_t kJump[] = {0x50, 0x00, 0x00, 0x58, 0x00, 0x02, 0x1f, 0xd6};
#else
#error "no jump known for this architecture"
#endif
constexpr size_t kJumpBytes = sizeof kJump + sizeof(uint64_t);

bool Protect(uint64_t address, int protection) {
  const uint64_t page = sysconf(_SC_PAGESIZE);
  const uint64_t begin = address / page * page;
  const uint64_t end = (address + kJumpBytes + page - 1) / page * page;
  return mprotect(reinterpret_cast<void*>(begin), end - begin, protection) == 0;
}

// The whole function is replaced, so no instruction has to be relocated.
void WriteJump(uint64_t from, uint64_t to) {
  auto* code = reinterpret_cast<char*>(from);
  std::memcpy(code, kJump, sizeof kJump);
  std::memcpy(code + sizeof kJump, &to, sizeof to);
  __builtin___clear_cache(code, code + kJumpBytes);
}

}  // namespace

Result<ProbeTargets> FindTargets(const LibjvmImage& image) {
  ProbeTargets targets = {image.Symbol("_ZN13SharedRuntime19dtrace_method_entryE"),
                          image.Symbol("_ZN13SharedRuntime18dtrace_method_exitE")};
  if (targets.entry == 0) targets.entry = image.FunctionWithProbe("method__entry");
  if (targets.exit == 0) targets.exit = image.FunctionWithProbe("method__return");
  if (targets.entry == 0 || targets.exit == 0) {
    return Fail("{} has neither symbols nor USDT notes for its method probes", image.path());
  }
  const uint64_t distance =
      targets.entry > targets.exit ? targets.entry - targets.exit : targets.exit - targets.entry;
  if (distance < kJumpBytes) {
    return Fail("the method probes of {} were folded into one function", image.path());
  }
  return targets;
}

Result<void> InstallProbe(const VmStructs& structs, const Vm& vm, const ProbeTargets& targets,
                          Recording recording, bool train) {
  uint8_t* probes = Vm::Flag(structs, "DTraceMethodProbes");
  uint8_t* inlining = Vm::Flag(structs, "Inline");
  if (probes == nullptr || inlining == nullptr) {
    return Fail("this JVM has no flag {}", probes == nullptr ? "DTraceMethodProbes" : "Inline");
  }
  constexpr int kWritable = PROT_READ | PROT_WRITE | PROT_EXEC;
  if (!Protect(targets.entry, kWritable) || !Protect(targets.exit, kWritable)) {
    return Fail("cannot write to libjvm.so's code: {}", std::strerror(errno));
  }
  const Handlers handlers = HandlersFor(recording, train, vm.continuation_offset());
  WriteJump(targets.entry, reinterpret_cast<uint64_t>(handlers.entry));
  WriteJump(targets.exit, reinterpret_cast<uint64_t>(handlers.exit));
  Protect(targets.entry, PROT_READ | PROT_EXEC);
  Protect(targets.exit, PROT_READ | PROT_EXEC);
  *probes = 1;
  *inlining = 0;
  return {};
}

}  // namespace jprof::hotspot
