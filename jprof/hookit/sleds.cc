#include "jprof/hookit/sleds.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "common/errno_text.h"
#include "common/fd.h"
#include "common/loaded_objects.h"
#include "common/no_memory.h"
#include "common/result.h"
#include "jprof/engine/function_events.h"
#include "jprof/setup/print_message.h"
#include "profile/files/writer.h"

#if defined(__x86_64__)

extern "C" {
// These are defined in sled_code_x86_64.S.
void jprof_entry_sled();
void jprof_exit_sled();
void jprof_tail_sled();
}

namespace jprof::hookit {
namespace {

// Represents an entry of the section, version 2. Its addresses are relative to their own place.
struct MapEntry {
  int64_t address;
  int64_t function;
  uint8_t kind;
  uint8_t always;
  uint8_t version;
  uint8_t padding[13];
};
static_assert(sizeof(MapEntry) == 32);
constexpr uint8_t kVersion = 2;
enum SledKind : uint8_t { kEntry = 0, kExit = 1, kTail = 2, kEntryWithArguments = 3 };

constexpr size_t kSledBytes = 11;
constexpr size_t kStubBytes = 16;
constexpr size_t kPage = 4096;
constexpr const char* kProgram = "/proc/self/exe";
constexpr uint64_t kReach = 1ull << 30;  // of a jump, less the size of a module

struct Module {
  std::string path;
  uint64_t bias = 0;
  uint64_t begin = ~uint64_t{0}, end = 0;
  std::span<const MapEntry> sleds;
};

// Contains the functions by number; number 0 is none. Addresses of modules that are unloaded stay.
std::vector<uint64_t>* functions = nullptr;
void (*on_late_sleds)() = nullptr;
uint32_t left = 0;  // tail sleds that are not patched
profile::UncountedRecord unpatched;
bool watching = false;                     // the dynamic linker calls OnModules
std::vector<uint64_t>* patched = nullptr;  // the tables of the modules that are loaded
std::vector<uint64_t>* pages = nullptr;    // of stubs, which are all alike

template <class T>
std::optional<std::vector<T>> ReadAt(int file, uint64_t offset, size_t count) {
  std::vector<T> all(count);
  const auto bytes = static_cast<ssize_t>(count * sizeof(T));
  if (pread(file, all.data(), static_cast<size_t>(bytes), static_cast<off_t>(offset)) != bytes)
    return std::nullopt;
  return all;
}

// Returns the header of a section of an ELF file by its name.
std::optional<Elf64_Shdr> FindSection(const char* path, const char* wanted) {
  const Fd file(open(path, O_RDONLY | O_CLOEXEC));
  if (!file) return std::nullopt;
  const auto elf = ReadAt<Elf64_Ehdr>(file.get(), 0, 1);
  if (!elf || std::memcmp(elf->front().e_ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
  const Elf64_Ehdr& header = elf->front();
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shstrndx >= header.e_shnum)
    return std::nullopt;
  const auto sections = ReadAt<Elf64_Shdr>(file.get(), header.e_shoff, header.e_shnum);
  if (!sections) return std::nullopt;
  const Elf64_Shdr& texts = (*sections)[header.e_shstrndx];
  if (texts.sh_size > 1 << 20) return std::nullopt;
  auto names = ReadAt<char>(file.get(), texts.sh_offset, texts.sh_size);
  if (!names || names->empty()) return std::nullopt;
  names->back() = '\0';
  for (const Elf64_Shdr& section : *sections) {
    if (section.sh_name < names->size() && std::strcmp(&(*names)[section.sh_name], wanted) == 0)
      return section;
  }
  return std::nullopt;
}

Module ModuleOf(const dl_phdr_info& info) {
  const bool program = info.dlpi_name == nullptr || *info.dlpi_name == '\0';
  Module module;
  module.path = program ? kProgram : info.dlpi_name;
  module.bias = info.dlpi_addr;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    module.begin = std::min(module.begin, module.bias + segment.p_vaddr);
    module.end = std::max(module.end, module.bias + segment.p_vaddr + segment.p_memsz);
  }
  return module;
}

// Writes a jump to `target` that reaches every address.
void WriteStub(uint8_t* at, void (*target)()) {
  constexpr uint8_t kJump[] = {0xff, 0x25, 0, 0, 0, 0};  // jmp *0(%rip)
  std::memcpy(at, kJump, sizeof kJump);
  std::memcpy(at + sizeof kJump, &target, sizeof target);
}

struct Stubs {
  const uint8_t* entry = nullptr;
  const uint8_t* exit = nullptr;
  const uint8_t* tail = nullptr;
};

// Makes a page of jumps within reach of the module's code. It is below the module, because the
// program's heap is above the program. Returns its address.
Result<uint64_t> MakePage(const Module& module) {
  void* page = MAP_FAILED;
  for (uint64_t at = module.begin & ~(kPage - 1); page == MAP_FAILED;) {
    at -= kPage;
    if (at < 16 * kPage || module.end - at > kReach) return Fail("there is no room near its code");
    page = mmap(reinterpret_cast<void*>(at), kPage, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  }
  auto* const code = static_cast<uint8_t*>(page);
  WriteStub(code, jprof_entry_sled);
  WriteStub(code + kStubBytes, jprof_exit_sled);
  WriteStub(code + 2 * kStubBytes, jprof_tail_sled);
  if (mprotect(page, kPage, PROT_READ | PROT_EXEC) != 0) {
    const int error = errno;
    munmap(page, kPage);
    return Fail("no code can be added: {}", ErrnoText(error));
  }
  pages->push_back(reinterpret_cast<uint64_t>(page));
  return pages->back();
}

// Returns the stubs for a module. A page that was made for another module serves every module
// within its reach.
Result<Stubs> StubsFor(const Module& module) {
  const auto near = std::ranges::find_if(*pages, [&](uint64_t page) {
    return std::max(module.end, page + kPage) - std::min(module.begin, page) <= kReach;
  });
  const auto page = near != pages->end() ? *near : MakePage(module);
  if (!page) return std::unexpected(page.error());
  const auto* const code = reinterpret_cast<const uint8_t*>(*page);
  return Stubs{code, code + kStubBytes, code + 2 * kStubBytes};
}

// Writes push $number; then a call or a jump, and a byte that has no effect.
void PatchSled(uint8_t* sled, uint32_t number, const uint8_t* target, bool call) {
  uint8_t code[kSledBytes] = {0x68};
  std::memcpy(code + 1, &number, sizeof number);
  code[5] = call ? 0xe8 : 0xe9;
  const auto distance = static_cast<int32_t>(target - (sled + kSledBytes - 1));
  std::memcpy(code + 6, &distance, sizeof distance);
  code[10] = 0x90;
  // The first two bytes are written last: until then the sled is as before for a thread that
  // executes it.
  std::memcpy(sled + 2, code + 2, kSledBytes - 2);
  uint16_t first;
  std::memcpy(&first, code, sizeof first);
  __atomic_store_n(reinterpret_cast<uint16_t*>(sled), first, __ATOMIC_RELEASE);
}

// Returns whether the bytes are those of a sled that is not patched.
bool IsSled(const uint8_t* at, uint8_t kind) {
  return kind == kExit ? at[0] == 0xc3 : at[0] == 0xeb && at[1] == kSledBytes - 2;
}

// Returns whether a jump that is always taken follows a tail sled. Before clang 19 the sled may be
// between a comparison and a conditional jump, where nothing indicates whether the function ends.
bool LeavesFunction(const uint8_t* code) {
  while (*code == 0x2e || *code == 0x3e || (*code & 0xf0) == 0x40) ++code;  // prefixes
  constexpr uint8_t kJump = 4;  // in a ModRM byte behind 0xff
  return *code == 0xe9 || *code == 0xeb || (*code == 0xff && (code[1] >> 3 & 7) == kJump);
}

// Numbers the module's functions and patches their sleds. Consecutive sleds of a function are
// together in the table. Fails if functions were left out.
Result<void> PatchAll(const Module& module, const Stubs& stubs) {
  bool unknown = false;
  uint64_t last = 0;
  for (const MapEntry& entry : module.sleds) {
    auto* const sled =
        reinterpret_cast<uint8_t*>(reinterpret_cast<uint64_t>(&entry.address) + entry.address);
    const uint64_t function = reinterpret_cast<uint64_t>(&entry.function) + entry.function;
    const auto at = reinterpret_cast<uint64_t>(sled);
    if (at < module.begin || at + kSledBytes > module.end) continue;
    unknown |= entry.version != kVersion;
    if (entry.version != kVersion || entry.kind > kEntryWithArguments || !IsSled(sled, entry.kind))
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
  if (unknown) return Fail("some of its sleds are not of version {}", kVersion);
  return {};
}

// Returns the pages of the module's code that have sleds.
std::span<uint8_t> CodeOf(const Module& module) {
  uint64_t low = module.end, high = module.begin;
  for (const MapEntry& entry : module.sleds) {
    const uint64_t at = reinterpret_cast<uint64_t>(&entry.address) + entry.address;
    if (at < module.begin || at + kSledBytes > module.end) continue;
    low = std::min(low, at & ~(kPage - 1));
    high = std::max(high, (at + kSledBytes + kPage - 1) & ~(kPage - 1));
  }
  if (low >= high) return {};
  return {reinterpret_cast<uint8_t*>(low), high - low};
}

Result<void> Patch(const Module& module) {
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

Result<void> PatchNoLaterOne(const Module&) {
  return Fail("it was loaded later, and the dynamic linker cannot be watched");
}

// Patches the sleds of a module, or reports why it cannot. Nothing more is reported for a module
// that is loaded again.
void PatchOrSayWhyNot(const Module& module, Result<void> (*patch)(const Module&)) {
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
bool PatchModules(Result<void> (*patch)(const Module&)) {
  bool found = false;
  std::vector<Module> modules;
  ForEachLoadedObject([&](const dl_phdr_info& info) {
    modules.push_back(ModuleOf(info));
    return false;
  });
  std::vector<uint64_t> tables;
  for (Module& module : modules) {
    const auto section = FindSection(module.path.c_str(), "xray_instr_map");
    if (!section || module.bias + section->sh_addr + section->sh_size > module.end) continue;
    const uint64_t table = module.bias + section->sh_addr;
    tables.push_back(table);
    if (std::ranges::count(*patched, table) != 0) continue;
    module.sleds = {reinterpret_cast<const MapEntry*>(table), section->sh_size / sizeof(MapEntry)};
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
  pages = new std::vector<uint64_t>;
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
