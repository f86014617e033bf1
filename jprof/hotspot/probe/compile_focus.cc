#include "jprof/hotspot/probe/compile_focus.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>

#include "common/errno_text.h"
#include "jprof/hotspot/probe/probe_globals.h"
#include "jprof/hotspot/vm/load.h"
#include "jprof/hotspot/vm/struct_lookup.h"

namespace jprof::hotspot {
namespace {

constexpr uint64_t kJumpAlignment = 16;

enum Which { kCacheFlags, kStateChanged, kShouldNotInline, kParse, kCallGenerator };
struct Names {
  const char* caller;
  const char* callee;
};
constexpr Names kNames[] = {
    {"_ZN13CompileBroker25invoke_compiler_on_methodE", "_ZN5ciEnv18cache_dtrace_flagsE"},
    {"_ZN5ciEnv15register_methodE", "_ZNK5ciEnv19jvmti_state_changedE"},
    {"_ZN12DirectiveSet17should_not_inlineE", "_ZN14CompilerOracle17should_not_inlineE"},
    {"_ZN14ParseGenerator8generateE", "_ZN5ParseC1EP8JVMStateP8ciMethodf"},
    {"_ZN5Parse7do_callEv", "_ZN7Compile14call_generatorEP8ciMethodibP8JVMStatebfP7ciKlassb"},
};

// Describes the current compilation of the calling compiler thread.
struct Compilation {
  char* probes = nullptr;      // the byte in its ciEnv
  const void* root = nullptr;  // the ciMethod that is compiled, once C2 parses it
  bool inline_nothing = false;
  bool parse_probes = false;  // for C2, the byte is set for the root's parser
};
__thread Compilation current __attribute__((tls_model("initial-exec")));

// Sets the byte of the current compilation until the end of the scope.
class ProbesByte {
 public:
  explicit ProbesByte(char value) : before_(*current.probes) { *current.probes = value; }
  ~ProbesByte() { *current.probes = before_; }

 private:
  const char before_;
};

CompileFocus& Focus() { return *probe_globals.compile_focus; }

template <typename F>
F* Original(uint64_t callee) {
  return reinterpret_cast<F*>(callee);
}

// Returns whether the method runs on the carrier after a virtual thread has been unmounted, and
// before another carrier can continue it. The engine learns of the unmounting from its event, so it
// is always probed.
bool SignalsUnmount(const engine::MethodText& text) {
  return text.name == "afterYield" && text.class_name == "java/lang/VirtualThread";
}

uint64_t RoundUp(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

}  // namespace

Result<CompileFocus*> CompileFocus::Find(const LibjvmImage& image, const VmStructs& structs) {
  auto found = std::make_unique<CompileFocus>();
  Fields field(structs);
  found->task_ = field("ciEnv", "_task");
  found->method_ = field("CompileTask", "_method");
  found->level_ = field("CompileTask", "_comp_level");
  const auto env_bytes = static_cast<uint64_t>(field.Size("ciEnv"));
  if (auto known = field.Check(); !known) return std::unexpected(known.error());
  if (const uint8_t* jvmci = Vm::Flag(structs, "UseJVMCICompiler");
      jvmci != nullptr && *jvmci != 0) {
    return Fail("a JVMCI compiler is in use");
  }
  const uint64_t hooks[] = {
      reinterpret_cast<uint64_t>(&OnCacheFlags), reinterpret_cast<uint64_t>(&OnStateChanged),
      reinterpret_cast<uint64_t>(&OnShouldNotInline), reinterpret_cast<uint64_t>(&OnParse),
      reinterpret_cast<uint64_t>(&OnCallGenerator)};
  for (int i = 0; i < kCalls; ++i) {
    const Function caller = image.Symbol(kNames[i].caller), callee = image.Symbol(kNames[i].callee);
    if (i < kAlways && (caller.begin == 0 || callee.begin == 0)) {
      return Fail("{} has no symbol {}", image.path(),
                  caller.begin == 0 ? kNames[i].caller : kNames[i].callee);
    }
    found->calls_[i] = {CallsOf(caller, callee.begin), callee.begin, hooks[i]};
    if (i < kAlways && found->calls_[i].sites.empty()) {
      return Fail("{} does not call {}", kNames[i].caller, kNames[i].callee);
    }
  }
  uint8_t* flag = Vm::Flag(structs, "DTraceMethodProbes");
  if (flag == nullptr || !found->FindProbesByte(flag, env_bytes)) {
    return Fail("the compilers' copy of DTraceMethodProbes was not found");
  }
  return found.release();
}

// Lets the VM copy the flag into a dummy environment, once off and once on, and finds the byte that
// differs.
bool CompileFocus::FindProbesByte(uint8_t* flag, uint64_t env_bytes) {
  constexpr uint64_t kMargin = 4096;
  const auto copy = Original<void(char*)>(calls_[kCacheFlags].callee);
  std::vector<char> off(env_bytes + kMargin), on(env_bytes + kMargin);
  const uint8_t before = *flag;
  *flag = 0;
  copy(off.data());
  *flag = 1;
  copy(on.data());
  *flag = before;
  int followers = 0;
  for (size_t i = 0; i < on.size(); ++i) {
    if (on[i] == off[i]) continue;
    ++followers;
    probes_byte_ = on[i] == 1 && off[i] == 0 && i < env_bytes ? static_cast<int64_t>(i) : -1;
  }
  return followers == 1 && probes_byte_ >= 0;
}

Result<void> CompileFocus::Install(const ProbeTargets& targets, Vm* vm, Predicate in_focus,
                                   bool keep_intrinsics, profile::ControlHeader* header) {
  const std::span calls(calls_, keep_intrinsics ? kCalls : kAlways);
  for (const Call& call : calls) {
    if (call.sites.empty()) return Fail("its C2 is not supported with kept intrinsics");
  }
  uint64_t jump = RoundUp(targets.entry + kJumpBytes, kJumpAlignment);
  if (jump + kCalls * kJumpAlignment > targets.entry + targets.entry_bytes)
    return Fail("no space for its jumps");
  void* seen = mmap(nullptr, kSeenSlots * sizeof *seen_, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (seen == MAP_FAILED) return Fail("no memory: {}", ErrnoText());
  seen_ = static_cast<uint64_t*>(seen);
  vm_ = vm;
  keep_intrinsics_ = keep_intrinsics;
  predicate_ = std::move(in_focus);
  header_ = header;

  std::vector<std::unique_ptr<WritableCode>> writable;
  writable.push_back(std::make_unique<WritableCode>(targets.entry, targets.entry_bytes));
  for (const Call& call : calls) {
    for (const uint64_t site : call.sites) {
      if (!Reaches(site, jump + kCalls * kJumpAlignment)) return Fail("its code is too far apart");
      writable.push_back(std::make_unique<WritableCode>(site, kJumpBytes));
    }
  }
  for (const auto& code : writable) {
    if (!*code) return Fail("cannot write to libjvm.so's code: {}", ErrnoText());
  }
  probe_globals.compile_focus = this;
  for (const Call& call : calls) {
    WriteJump(jump, call.hook);
    for (const uint64_t site : call.sites) RedirectCall(site, jump);
    jump += kJumpAlignment;
  }
  return {};
}

// Returns whether the task's method is compiled with probes. Without a task the compiler is
// initialising itself.
bool CompileFocus::Decide(uint64_t task) {
  if (!predicate_) return true;
  const auto method = task != 0 ? LoadAt<uint64_t>(task + method_) : 0;
  engine::MethodText text;
  if (method == 0 || !vm_->Describe(method, &text)) {
    if (task != 0) __atomic_fetch_add(&header_->focus_undecided, 1, __ATOMIC_RELAXED);
    return true;
  }
  if (SignalsUnmount(text)) return true;
  const bool chosen = predicate_(text.class_name, text.name);
  Count(text, chosen ? &header_->focus_probed : &header_->focus_unprobed);
  return chosen;
}

// Counts each method once, because a method may be compiled repeatedly.
void CompileFocus::Count(const engine::MethodText& text, uint32_t* counter) {
  const std::hash<std::string_view> hash;
  const uint64_t key =
      ((hash(text.class_name) * 31 + hash(text.name)) * 31 + hash(text.signature)) | 1;
  std::lock_guard guard(lock_);
  uint32_t at = key % kSeenSlots;
  for (uint32_t tries = 0; tries < kSeenSlots / 2; ++tries, at = (at + 1) % kSeenSlots) {
    if (seen_[at] == key) return;
    if (seen_[at] != 0) continue;
    seen_[at] = key;
    ++*counter;
    return;
  }
}

bool CompileFocus::InFocus(uint64_t method) {
  if (!predicate_) return true;
  engine::MethodText text;
  return vm_->Describe(method, &text) &&
         (SignalsUnmount(text) || predicate_(text.class_name, text.name));
}

void CompileFocus::OnCacheFlags(char* env) {
  Original<void(char*)>(Focus().calls_[kCacheFlags].callee)(env);
  const auto task = LoadAt<uint64_t>(reinterpret_cast<uint64_t>(env) + Focus().task_);
  const bool in_focus = Focus().Decide(task);
  const bool c2 = task != 0 && LoadAt<uint8_t>(task + Focus().level_) >= CompilerLevel::kFirstOfC2;
  const bool keep = in_focus && c2 && Focus().keep_intrinsics_;
  current = {.probes = env + Focus().probes_byte_,
             .inline_nothing = in_focus && !keep,
             .parse_probes = keep};
  *current.probes = in_focus && !keep;
}

// Sets the byte while a method is parsed. The first one that is parsed is the one being compiled;
// methods in focus are never inlined.
void CompileFocus::OnParse(void* parse, void* caller, const void* method, float expected_uses) {
  if (current.root == nullptr) current.root = method;
  const ProbesByte probes(current.parse_probes ? method == current.root : *current.probes);
  Original<void(void*, void*, const void*, float)>(Focus().calls_[kParse].callee)(
      parse, caller, method, expected_uses);
}

// Clears the byte while C2 decides about a call. With the byte set, it would inline nothing.
void* CompileFocus::OnCallGenerator(void* compile, void* callee, int vtable_index, bool dispatches,
                                    void* caller, bool allow_inline, float factor, void* receiver,
                                    bool allow_intrinsics) {
  const ProbesByte probes(current.parse_probes ? 0 : *current.probes);
  return Original<void*(void*, void*, int, bool, void*, bool, float, void*, bool)>(
      Focus().calls_[kCallGenerator].callee)(compile, callee, vtable_index, dispatches, caller,
                                             allow_inline, factor, receiver, allow_intrinsics);
}

bool CompileFocus::OnStateChanged(char* env) {
  env[Focus().probes_byte_] = 1;
  return Original<bool(char*)>(Focus().calls_[kStateChanged].callee)(env);
}

bool CompileFocus::OnShouldNotInline(const uint64_t* method_handle) {
  return current.inline_nothing || Focus().InFocus(method_handle[0]) ||
         Original<bool(const uint64_t*)>(Focus().calls_[kShouldNotInline].callee)(method_handle);
}

}  // namespace jprof::hotspot
