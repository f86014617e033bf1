#include "itrace/tracee.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/errno_text.h"
#include "common/write_all.h"
#include "itrace/ptrace.h"

namespace jprof::itrace {
namespace {

constexpr uint64_t kPageSize = 4096;
constexpr uint64_t kStackRoom = uint64_t{64} << 20;
constexpr int kMostStops = 100;  // while one system call is made
// These traps are not blocked meanwhile, as the kernel would reset their handlers.
constexpr uint64_t kTraps = uint64_t{1} << (SIGTRAP - 1) | uint64_t{1} << (SIGSEGV - 1);

uint64_t Distance(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

}  // namespace

uint64_t FindGap(std::span<const procfs::Mapping> maps, uint64_t size, uint64_t lowest,
                 uint64_t highest, uint64_t near) {
  uint64_t best = 0, start = lowest;
  const auto consider = [&](uint64_t from, uint64_t to, bool below_stack = false) {
    from = (std::max(from, lowest) + kPageSize - 1) & ~(kPageSize - 1);
    to = std::min(to, highest) & ~(kPageSize - 1);
    if (to <= from || to - from < size) return;
    const uint64_t place = below_stack ? from : to - size;
    if (best == 0 || Distance(place, near) < Distance(best, near)) best = place;
  };
  for (const procfs::Mapping& mapping : maps) {
    const bool stack = mapping.path == "[stack]";
    const uint64_t end = stack ? mapping.start - kStackRoom : mapping.start;
    if (end > start) consider(start, end, stack);
    start = std::max(start, mapping.end);
  }
  if (start < highest) consider(start, highest);
  return best;
}

Result<Tracee> Tracee::Open(pid_t pid) {
  const std::string path = procfs::Directory(static_cast<uint32_t>(pid)) + "/mem";
  Fd memory(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!memory) return Fail("cannot open {}: {}", path, ErrnoText());
  return Tracee(pid, std::move(memory));
}

size_t Tracee::Read(uint64_t address, std::span<uint8_t> bytes) const {
  ssize_t got = 0;
  do {
    got = pread(memory_.get(), bytes.data(), bytes.size(), static_cast<off_t>(address));
  } while (got < 0 && errno == EINTR);
  if (got > 0) return static_cast<size_t>(got);
  // A read that begins in readable memory may fail as a whole.
  const uint64_t in_page = kPageSize - address % kPageSize;
  if (in_page >= bytes.size()) return 0;
  const ssize_t first = pread(memory_.get(), bytes.data(), in_page, static_cast<off_t>(address));
  return first > 0 ? static_cast<size_t>(first) : 0;
}

bool Tracee::Write(uint64_t address, std::span<const uint8_t> bytes) const {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return WriteAllAt(memory_.get(), text, static_cast<off_t>(address)) == 0;
}

const std::vector<procfs::Mapping>& Tracee::maps() {
  if (!maps_known_) {
    auto read = procfs::ReadMaps(static_cast<uint32_t>(pid_));
    maps_ = read ? *std::move(read) : std::vector<procfs::Mapping>();
    maps_known_ = true;
  }
  return maps_;
}

const procfs::Mapping* Tracee::MappingOf(uint64_t address) {
  const auto& all = maps();
  const auto after = std::ranges::upper_bound(all, address, {}, &procfs::Mapping::start);
  if (after == all.begin() || std::prev(after)->end <= address) return nullptr;
  return &*std::prev(after);
}

bool Tracee::Constant(uint64_t address) {
  const procfs::Mapping* mapping = MappingOf(address);
  if (mapping == nullptr) {  // perhaps another thread mapped it since
    MapsChanged();
    mapping = MappingOf(address);
  }
  if (mapping == nullptr || mapping->writable || mapping->shared) return false;
  return mapping->inode != 0 || mapping->path == "[vdso]";
}

uint64_t Tracee::EntryPoint() const {
  const std::string path = procfs::Directory(static_cast<uint32_t>(pid_)) + "/auxv";
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  uint64_t entries[128] = {};
  const ssize_t got = read(file.get(), entries, sizeof(entries));
  for (ssize_t i = 0; (i + 2) * 8 <= got; i += 2) {
    if (entries[i] == AT_ENTRY) return entries[i + 1];
  }
  return 0;
}

uint64_t Tracee::SystemCallInstruction() {
  constexpr uint8_t kInstruction[] = {0x0f, 0x05};
  for (const bool vdso : {true, false}) {
    for (const procfs::Mapping& mapping : maps()) {
      if (!mapping.executable || (mapping.path == "[vdso]") != vdso || mapping.path == "[vsyscall]")
        continue;
      std::vector<uint8_t> code(std::min<uint64_t>(mapping.end - mapping.start, 4 << 20));
      code.resize(Read(mapping.start, code));
      const auto found = std::ranges::search(code, kInstruction);
      if (!found.empty())
        return mapping.start + static_cast<uint64_t>(found.begin() - code.begin());
    }
  }
  return 0;
}

#if defined(__x86_64__)
Result<int64_t> Tracee::Call(pid_t tid, long number, std::array<uint64_t, 6> arguments) {
  if (system_call_ == 0) system_call_ = SystemCallInstruction();
  Registers before;
  const auto mask = SignalMask(tid);
  if (system_call_ == 0 || !mask || !GetRegisters(tid, before))
    return Fail("thread {} cannot make a system call", tid);
  Registers call = before;
  call.raw.rip = system_call_;
  call.raw.rax = static_cast<uint64_t>(number);
  call.raw.orig_rax = ~uint64_t{0};
  call.raw.rdi = arguments[0];
  call.raw.rsi = arguments[1];
  call.raw.rdx = arguments[2];
  call.raw.r10 = arguments[3];
  call.raw.r8 = arguments[4];
  call.raw.r9 = arguments[5];
  SetSignalMask(tid, ~kTraps);
  bool stop_again = false, done = false;
  SetRegisters(tid, call);
  for (int i = 0; i < kMostStops && !done; ++i) {
    Stop stop;
    if (!SingleStep(tid) || !AwaitStop(tid, stop) || stop.ended() || !GetRegisters(tid, call))
      return Fail("thread {} ended", tid);
    done = call.pc() == system_call_ + 2;
    if (!done && stop.signal() == SIGSTOP) stop_again = true;
  }
  SetSignalMask(tid, *mask);
  SetRegisters(tid, before);
  if (stop_again) kill(pid_, SIGSTOP);
  if (!done) return Fail("thread {} does not make a system call", tid);
  return static_cast<int64_t>(call.raw.rax);
}
#else
Result<int64_t> Tracee::Call(pid_t tid, long, std::array<uint64_t, 6>) {
  return Fail("thread {} cannot make a system call: not available on this architecture", tid);
}
#endif

}  // namespace jprof::itrace
