#include "jprof/hookit/sleds.h"

#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "common/errno_text.h"
#include "common/no_memory.h"
#include "common/result.h"
#include "jprof/engine/function_events.h"
#include "jprof/hookit/sled_code.h"
#include "jprof/hookit/sled_table.h"
#include "jprof/setup/print_message.h"
#include "profile/files/writer.h"

#if defined(__x86_64__)

namespace jprof::hookit {
namespace {

// Contains the functions by number; number 0 is none. Addresses of modules that are unloaded stay.
std::vector<uint64_t>* functions = nullptr;
void (*on_late_sleds)() = nullptr;
uint32_t left = 0;  // tail sleds that are not patched
profile::UncountedRecord unpatched;
bool watching = false;                     // the dynamic linker calls OnModules
std::vector<uint64_t>* patched = nullptr;  // the tables of the modules that are loaded

// Numbers the module's functions and patches their sleds. Consecutive sleds of a function are
// together in the table. Fails if functions were left out.
Result<void> PatchAll(const SledModule& module, const Stubs& stubs) {
  bool unknown = false;
  uint64_t last = 0;
  for (const SledEntry& entry : module.sleds) {
    if (!module.Contains(entry.SledAddress(), kSledBytes)) continue;
    auto* const sled = reinterpret_cast<uint8_t*>(entry.SledAddress());
    const uint64_t function = entry.FunctionAddress();
    unknown |= entry.version != kSledVersion;
    if (entry.version != kSledVersion || entry.kind > kEntryWithArguments ||
        !IsSled(sled, entry.kind))
      continue;
    if (function != last) {
      if (functions->size() > engine::kMostFunctionNumbers)
        return Fail("more than {} functions have sleds", engine::kMostFunctionNumbers);
      functions->push_back(last = function);
    }
    if (entry.kind == kTail && !LeavesFunction(sled + kSledBytes)) {
      ++left;
      continue;
    }
    const auto number = static_cast<uint32_t>(functions->size() - 1);
    if (entry.kind == kExit) {
      PatchSled(sled, number, stubs.exit, false);
    } else {
      PatchSled(sled, number, entry.kind == kTail ? stubs.tail : stubs.entry, true);
    }
  }
  if (unknown) return Fail("some of its sleds are not of version {}", kSledVersion);
  return {};
}

// Returns the pages of the module's code that have sleds.
std::span<uint8_t> CodeOf(const SledModule& module) {
  uint64_t low = module.end, high = module.begin;
  for (const SledEntry& entry : module.sleds) {
    const uint64_t at = entry.SledAddress();
    if (!module.Contains(at, kSledBytes)) continue;
    low = std::min(low, at & ~(kPage - 1));
    high = std::max(high, (at + kSledBytes + kPage - 1) & ~(kPage - 1));
  }
  if (low >= high) return {};
  return {reinterpret_cast<uint8_t*>(low), high - low};
}

Result<void> Patch(const SledModule& module) {
  const std::span<uint8_t> code = CodeOf(module);
  if (code.empty()) return {};
  const auto stubs = StubsFor(module);
  if (!stubs) return std::unexpected(stubs.error());
  if (mprotect(code.data(), code.size(), PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
    return Fail("its code cannot be changed: {}", ErrnoText());
  auto all = PatchAll(module, *stubs);
  mprotect(code.data(), code.size(), PROT_READ | PROT_EXEC);
  return all;
}

Result<void> PatchNoLaterOne(const SledModule&) {
  return Fail("it was loaded later, and the dynamic linker cannot be watched");
}

// Patches the sleds of a module, or reports why it cannot. Nothing more is reported for a module
// that is loaded again.
void PatchOrSayWhyNot(const SledModule& module, Result<void> (*patch)(const SledModule&)) {
  static auto* const named = new std::set<std::string>;
  const auto done = FailWithoutMemory([&] { return patch(module); });
  if (done) return;
  std::error_code unreadable;
  const auto program = std::filesystem::read_symlink(module.path, unreadable);
  const std::string name = module.path == kProgram && !unreadable ? program.string() : module.path;
  if (!named->insert(name).second) return;
  profile::NoteUncounted(unpatched, name);
  setup::PrintMessage(fmt::format("functions of {} are not recorded, or not all of them: {}", name,
                                  done.error().message));
}

// Returns whether nothing but padding is behind the return instruction of an aligned function.
bool IsEmptyFunction(const uint8_t* code) {
  if (reinterpret_cast<uint64_t>(code) % kStubBytes != 0 || *code != 0xc3) return false;
  constexpr std::string_view kPadding = "\x66\x2e\x0f\x1f\x84\x40\x44\x80\x90\xcc";
  return std::all_of(code + 1, code + kStubBytes, [&](uint8_t byte) {
    return byte == 0 || kPadding.contains(static_cast<char>(byte));
  });
}

void OnModules();

void WatchModules() {
  auto* const notify = reinterpret_cast<uint8_t*>(_r_debug.r_brk);
  if (notify == nullptr || !IsEmptyFunction(notify)) return;
  auto* const page = reinterpret_cast<uint8_t*>(_r_debug.r_brk & ~(kPage - 1));
  if (mprotect(page, kPage, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return;
  WriteStub(notify, OnModules);
  mprotect(page, kPage, PROT_READ | PROT_EXEC);
  watching = true;
}

// Patches the sleds of new modules. Returns whether there were any.
bool PatchModules(Result<void> (*patch)(const SledModule&)) {
  bool found = false;
  std::vector<SledModule> modules = LoadedModules();
  std::vector<uint64_t> tables;
  for (SledModule& module : modules) {
    if (!FindSleds(module)) continue;
    const auto table = reinterpret_cast<uint64_t>(module.sleds.data());
    tables.push_back(table);
    if (std::ranges::count(*patched, table) != 0) continue;
    PatchOrSayWhyNot(module, patch);
    found = true;
  }
  *patched = std::move(tables);
  return found;
}

// Is called by the dynamic linker in place of the empty function that it calls for debuggers, when
// its list of modules begins or ends to change: before the constructors of a new module.
void OnModules() {
  if (_r_debug.r_state != r_debug::RT_CONSISTENT) return;
  const int error = errno;  // the program's
  if (RunOrWithoutMemory([] { return PatchModules(Patch); }, false)) on_late_sleds();
  errno = error;
}

}  // namespace

bool PatchSleds(void (*late)()) {
  on_late_sleds = late;
  functions = new std::vector<uint64_t>(1, 0);
  patched = new std::vector<uint64_t>;
  WatchModules();
  return RunOrWithoutMemory([] { return PatchModules(Patch); }, false);
}

uint32_t SledsLeft() { return left; }

const profile::UncountedRecord& UnpatchedModules() {
  if (!watching && patched != nullptr)
    RunOrWithoutMemory([] { return PatchModules(PatchNoLaterOne); }, false);
  return unpatched;
}

uint64_t SledFunction(uint64_t number) {
  return functions != nullptr && number < functions->size() ? (*functions)[number] : 0;
}

}  // namespace jprof::hookit

#else  // the code of a sled is known for x86-64 only

namespace jprof::hookit {

bool PatchSleds(void (*)()) { return false; }
uint32_t SledsLeft() { return 0; }
const profile::UncountedRecord& UnpatchedModules() {
  static const profile::UncountedRecord none;
  return none;
}
uint64_t SledFunction(uint64_t) { return 0; }

}  // namespace jprof::hookit

#endif
