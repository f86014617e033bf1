// Implements the Resolver: finds the mapping or jitted code at the address, then the symbol in that
// file.
#include <sys/stat.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <unordered_map>

#include "a2n/a2n.h"
#include "a2n/address_space.h"
#include "a2n/kallsyms.h"
#include "a2n/module_files.h"
#include "a2n/proc_maps.h"
#include "common/procfs.h"

namespace jprof::a2n {
namespace {

constexpr std::string_view kJitModule = "JITCODE", kNoModule = "NoModule", kNoSymbols = "NoSymbols",
                           kNoSymbolFound = "NoSymbolFound", kKernelModule = "vmlinux",
                           kVsyscallModule = "[vsyscall]";
constexpr uint64_t kKernelHalf = uint64_t{1} << 63;
constexpr uint64_t kVsyscall = 0xffffffffff600000, kVsyscallEnd = kVsyscall + 0x1000,
                   kVsyscallStep = 0x400;

Place PlaceOf(Outcome outcome, std::string_view module) {
  Place place;
  place.outcome = outcome;
  place.module = module;
  place.symbol = outcome == Outcome::kNoSymbolFound ? kNoSymbolFound : kNoSymbols;
  return place;
}

Place SymbolAt(std::string_view module, std::string_view symbol, uint64_t start, uint64_t size,
               uint64_t address) {
  return {Outcome::kSymbol, module, symbol, start, size, address - start, nullptr};
}

// Describes an address in the page at a fixed address that x86 keeps for very old programs.
Place Vsyscall(uint64_t address) {
  constexpr std::string_view kNames[] = {"gettimeofday", "time", "getcpu"};
  const uint64_t i = (address - kVsyscall) / kVsyscallStep;
  if (i >= std::size(kNames)) return PlaceOf(Outcome::kNoSymbolFound, kVsyscallModule);
  return SymbolAt(kVsyscallModule, kNames[i], kVsyscall + i * kVsyscallStep, kVsyscallStep,
                  address);
}

// Returns the path prefix for a process whose file system root differs from jprof's, or an empty
// text if there is none.
std::string RootOf(Pid pid) {
  const std::string process = procfs::Directory(pid), self = procfs::Directory(procfs::kSelf);
  struct stat its = {}, ours = {};
  const auto differ = [&](const char* name) {
    return stat((process + name).c_str(), &its) == 0 && stat((self + name).c_str(), &ours) == 0 &&
           (its.st_ino != ours.st_ino || its.st_dev != ours.st_dev);
  };
  return differ("/ns/mnt") || differ("/root") ? process + "/root" : "";
}

uint32_t LineOf(const JittedCode& code, uint64_t offset) {
  const auto after =
      std::ranges::upper_bound(code.lines, offset, {}, &std::pair<uint32_t, uint32_t>::first);
  return after == code.lines.begin() ? 0 : std::prev(after)->second;
}

}  // namespace

struct Resolver::State {
  struct Mapped {
    ModuleFile* file;
    uint64_t file_offset;
  };
  // Describes what contains an address: a mapping or jitted code, or neither.
  struct Holder {
    const JittedCode* code = nullptr;
    ModuleFile* file = nullptr;
    uint64_t file_offset = 0;  // of the address
    uint64_t bytes_left = 0;   // of the mapping
    bool near_code = false;
  };

  explicit State(const Options& chosen) : options(chosen), files(chosen) {}

  Holder Find(Pid pid, uint64_t address, Nanos when) const;
  Place InFile(ModuleFile& file, uint64_t link_address, uint64_t address);
  std::vector<Frame> FramesInFile(ModuleFile& file, uint64_t link_address, const Place& place);
  Place Kernel(uint64_t address);
  const std::string& Root(Pid pid) const;

  Options options;
  AddressSpaces spaces;
  ModuleFiles files;
  std::deque<Mapped> mapped;                   // by id of the mappings' spans
  std::deque<JittedCode> jitted;               // by id of the code's spans
  std::unordered_map<Pid, std::string> roots;  // of processes whose root differs from jprof's
  std::optional<KernelSymbols> kernel;
  bool kernel_tried = false;
};

Resolver::Resolver(Options options) : state_(std::make_unique<State>(options)) {}
Resolver::~Resolver() = default;

void Resolver::Fork(Pid parent, Pid child, Nanos when) {
  state_->spaces.Fork(parent, child, when);
  if (const std::string root = state_->Root(parent); !root.empty()) state_->roots[child] = root;
}
void Resolver::Exec(Pid pid, Nanos when) { state_->spaces.Exec(pid, when); }
void Resolver::Exit(Pid pid, Nanos when) {
  state_->spaces.Exit(pid, when);
  state_->roots.erase(pid);
}

void Resolver::Map(Pid pid, Nanos when, Mapping mapping) {
  if (mapping.length == 0 || mapping.length > ~uint64_t{0} - mapping.start) return;
  ModuleFile& file = state_->files.Intern(pid, mapping, state_->Root(pid));
  state_->spaces.Map(pid, when, mapping.start, mapping.start + mapping.length,
                     static_cast<uint32_t>(state_->mapped.size()));
  state_->mapped.push_back({&file, mapping.file_offset});
}

void Resolver::Jitted(Pid pid, JittedCode code) {
  state_->spaces.Jitted(pid, code, static_cast<uint32_t>(state_->jitted.size()));
  state_->jitted.push_back(std::move(code));
}

Result<void> Resolver::MapsOf(Pid pid, Nanos when) {
  auto maps = ReadMaps(pid);
  if (!maps)
    return Fail("{}; check that process {} still runs and belongs to this user",
                maps.error().message, pid);
  if (const std::string root = RootOf(pid); !root.empty()) state_->roots[pid] = root;
  for (Mapping& mapping : *maps) Map(pid, when, std::move(mapping));
  return {};
}

const std::string& Resolver::State::Root(Pid pid) const {
  static const std::string kOurs;
  const auto found = roots.find(pid);
  return found == roots.end() ? kOurs : found->second;
}

// Finds what contains an address. If a file and jitted code claim the same one, code loaded after
// the file was mapped wins. Code without a load time may be left over from an earlier process with
// that pid, and wins only in JIT memory.
Resolver::State::Holder Resolver::State::Find(Pid pid, uint64_t address, Nanos when) const {
  const AddressSpaces::Found found = spaces.Find(pid, address, when);
  Holder holder;
  holder.near_code = found.near_code;
  const Mapped* where = found.mapping == nullptr ? nullptr : &mapped[found.mapping->id];
  if (found.code != nullptr) {
    const JittedCode& code = jitted[found.code->id];
    if (where == nullptr || where->file->jit_memory ||
        (code.loaded != kAlways && found.code->since >= found.mapping->since)) {
      holder.code = &code;
      return holder;
    }
  }
  if (where == nullptr) return holder;
  holder.file = where->file;
  holder.file_offset = address - found.mapping->start + where->file_offset;
  holder.bytes_left = found.mapping->end - address;
  return holder;
}

// Finds a place in a file. `address` is the same location at run time.
Place Resolver::State::InFile(ModuleFile& file, uint64_t link_address, uint64_t address) {
  if (!file.has_symbols) return PlaceOf(Outcome::kNoSymbols, file.path);
  const Symbol* symbol = file.image->Find(link_address);
  if (symbol == nullptr) return PlaceOf(Outcome::kNoSymbolFound, file.path);
  return SymbolAt(file.path, file.image->NameOf(*symbol),
                  address - (link_address - symbol->address), symbol->size, address);
}

Place Resolver::State::Kernel(uint64_t address) {
  if (address >= kVsyscall && address < kVsyscallEnd) return Vsyscall(address);
  if (!kernel_tried) {
    kernel_tried = true;
    if (auto read = KernelSymbols::Read(options.kallsyms)) {
      kernel = std::move(*read);
    } else {
      files.complaints.push_back({fmt::format("{}: {}; addresses of the kernel have no names",
                                              options.kallsyms, read.error().message)});
    }
  }
  if (!kernel) return PlaceOf(Outcome::kNoSymbols, kKernelModule);
  const KernelSymbols::Symbol* symbol = kernel->Find(address);
  if (symbol == nullptr) return PlaceOf(Outcome::kNoSymbolFound, kKernelModule);
  return SymbolAt(kernel->ModuleOf(*symbol), kernel->NameOf(*symbol), symbol->address,
                  symbol->end - symbol->address, address);
}

Place Resolver::Resolve(Pid pid, uint64_t address, Nanos when) {
  ++state_->files.statistics.resolved;
  if (pid == kKernel || address >= kKernelHalf) return state_->Kernel(address);
  const State::Holder holder = state_->Find(pid, address, when);
  if (holder.code != nullptr) {
    Place place =
        SymbolAt(kJitModule, holder.code->name, holder.code->start, holder.code->length, address);
    place.jitted = holder.code;
    return place;
  }
  if (holder.near_code && (holder.file == nullptr || holder.file->jit_memory))
    return PlaceOf(Outcome::kNoSymbolFound, kJitModule);
  if (holder.file == nullptr) return PlaceOf(Outcome::kNoModule, kNoModule);
  state_->files.Open(*holder.file);
  if (holder.file->image == nullptr) return PlaceOf(Outcome::kNoSymbols, holder.file->path);
  const auto link_address = holder.file->image->LinkAddress(holder.file_offset);
  if (!link_address) {
    return PlaceOf(holder.file->has_symbols ? Outcome::kNoSymbolFound : Outcome::kNoSymbols,
                   holder.file->path);
  }
  return state_->InFile(*holder.file, *link_address, address);
}

std::vector<Frame> Resolver::State::FramesInFile(ModuleFile& file, uint64_t link_address,
                                                 const Place& place) {
  auto [frames, partial_name] = file.image->FramesAt(link_address);
  if (frames.empty()) frames.emplace_back();
  std::string& outermost = frames.back().function;
  if (outermost.empty() || (partial_name && place.outcome == Outcome::kSymbol))
    outermost = place.symbol;
  return std::move(frames);
}

std::vector<Frame> Resolver::Frames(Pid pid, uint64_t address, Nanos when) {
  const Place place = Resolve(pid, address, when);
  if (place.jitted != nullptr) {
    const uint32_t line = LineOf(*place.jitted, place.offset);
    return {{std::string(place.symbol), place.jitted->source, line}};
  }
  if (pid != kKernel && address < kKernelHalf) {
    const State::Holder holder = state_->Find(pid, address, when);
    if (holder.file != nullptr && holder.file->image != nullptr) {
      if (const auto link_address = holder.file->image->LinkAddress(holder.file_offset))
        return state_->FramesInFile(*holder.file, *link_address, place);
    }
  }
  return {{std::string(place.symbol), {}, 0}};
}

std::vector<uint8_t> Resolver::Code(Pid pid, uint64_t start, uint64_t length, Nanos when) {
  if (pid == kKernel || start >= kKernelHalf) return {};
  const State::Holder holder = state_->Find(pid, start, when);
  if (holder.code != nullptr) {
    const std::vector<uint8_t>& code = holder.code->code;
    const uint64_t offset = start - holder.code->start;
    if (offset >= code.size()) return {};
    const auto first = code.begin() + static_cast<ptrdiff_t>(offset);
    return {first,
            first + static_cast<ptrdiff_t>(std::min<uint64_t>(length, code.size() - offset))};
  }
  if (holder.file == nullptr) return {};
  state_->files.Open(*holder.file);
  if (holder.file->image == nullptr) return {};
  return holder.file->image->CodeAt(holder.file_offset, std::min(length, holder.bytes_left));
}

Place Resolver::ResolveInFile(const std::string& path, uint64_t address) {
  ++state_->files.statistics.resolved;
  ModuleFile& file = state_->files.ByPath(path);
  state_->files.Open(file);
  if (file.image == nullptr) return PlaceOf(Outcome::kNoSymbols, file.path);
  return state_->InFile(file, address, address);
}

std::vector<Frame> Resolver::FramesInFile(const std::string& path, uint64_t address) {
  const Place place = ResolveInFile(path, address);
  ModuleFile& file = state_->files.ByPath(path);
  if (file.image == nullptr) return {{std::string(place.symbol), {}, 0}};
  return state_->FramesInFile(file, address, place);
}

std::vector<Complaint> Resolver::Complaints() const { return state_->files.complaints; }
const Statistics& Resolver::statistics() const { return state_->files.statistics; }

}  // namespace jprof::a2n
