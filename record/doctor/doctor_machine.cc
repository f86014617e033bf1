#include "record/doctor/doctor_machine.h"

#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "common/control_group.h"
#include "common/procfs.h"
#include "ptm/cpu_sampler.h"
#include "ptm/msr/device.h"
#include "ptm/thread_timer.h"
#include "record/doctor/doctor_attach.h"
#include "record/kernel/kernel_events.h"
#include "record/run/interrupt_cost.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

std::string FirstLine(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

struct FileSystem {
  unsigned long magic;
  const char* name;
  bool in_memory, may_run_full;
};

constexpr FileSystem kFileSystems[] = {
    {EXT4_SUPER_MAGIC, "ext4", false, false},
    {XFS_SUPER_MAGIC, "xfs", false, false},
    {TMPFS_MAGIC, "tmpfs", true, false},
    {RAMFS_MAGIC, "ramfs", true, false},
    {BTRFS_SUPER_MAGIC, "btrfs", false, true},
    {0x2fc12fc1, "zfs", false, true},
    {OVERLAYFS_SUPER_MAGIC, "overlay", false, false},
    {NFS_SUPER_MAGIC, "nfs", false, true},
    {FUSE_SUPER_MAGIC, "fuse", false, true},
    {F2FS_SUPER_MAGIC, "f2fs", false, true},
    {V9FS_MAGIC, "9p", false, true},
    {0xca451a4e, "bcachefs", false, true},
};

Folder ReadFolder(const fs::path& path) {
  Folder folder = {.path = path.string(), .file_system = "unknown"};
  folder.writable = access(path.c_str(), W_OK | X_OK) == 0;
  struct statfs about = {};
  if (statfs(path.c_str(), &about) != 0) return folder;
  folder.free = uint64_t(about.f_bavail) * uint64_t(about.f_bsize);
  const auto magic = static_cast<unsigned long>(about.f_type);
  const auto known = std::ranges::find(kFileSystems, magic, &FileSystem::magic);
  if (known == std::end(kFileSystems)) {
    folder.file_system = fmt::format("file system {:#x}", magic);
  } else {
    folder.file_system = known->name;
    folder.in_memory = known->in_memory;
    folder.may_run_full = known->may_run_full;
  }
  return folder;
}

std::optional<uint64_t> LimitOf(__rlimit_resource resource) {
  rlimit limit = {};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

GroupLimits ReadGroup() {
  GroupLimits limits = {.memory = MemoryLimit()};
  for (const std::string& group : ControlGroups("cpu")) {
    const auto cpus = ParseCpuLimit(FirstLine(group + "/cpu.max"));
    if (cpus) limits.cpus = std::min(*cpus, limits.cpus.value_or(*cpus));
  }
  return limits;
}

Attempt TryTimer(ptm::TimerSource source) {
  constexpr uint64_t kPeriod = 10'000'000;  // 100 samples per second
  const auto opened = ptm::CheckThreadTimer(
      {.event = ptm::CpuClock(), .period = kPeriod, .kernel = true, .source = source});
  return {opened.has_value(), opened ? "" : opened.error().message};
}

// Opens what `jprof tprof` needs for the whole machine (no `pids`) or for a command.
Attempt TrySampler(std::vector<uint32_t> pids) {
  const auto opened = ptm::CpuSampler::Open({.pids = std::move(pids)});
  return {opened.has_value(), opened ? opened->note() : opened.error().message};
}

// Returns false for a user who may not see kernel addresses and therefore reads zeros.
bool SeesKernelNames() {
  const std::string line = FirstLine(procfs::kKernelSymbols);
  const std::string address = line.substr(0, line.find(' '));
  return address.find_first_not_of('0') != address.npos;
}

std::string TemporaryPath() {
  std::error_code failed;
  const fs::path path = fs::temp_directory_path(failed);
  return failed ? "/tmp" : path.string();
}

void ReadInterrupt(DoctorMachine& found) {
  found.interrupt_ns = KnownInterruptNanos();
  if (found.interrupt_ns) return;
  const auto measured = MeasureAndKeepInterruptNanos();
  if (measured)
    found.interrupt_ns = *measured;
  else
    found.why_not_measured = measured.error().message;
}

void ReadLimits(DoctorMachine& found) {
  found.open_files = LimitOf(RLIMIT_NOFILE);
  found.locked_memory = LimitOf(RLIMIT_MEMLOCK);
  found.perf_mlock_kb = procfs::KernelSetting("perf_event_mlock_kb");
  found.ptrace_scope = procfs::KernelSetting("yama/ptrace_scope");
  found.available_memory = AvailableMemory();
  found.group = ReadGroup();
}

// Loads the programs of `jprof timeline` into the kernel, and removes them.
Attempt TryKernelEvents() {
  const auto opened = KernelEvents::Open({});
  return {opened.has_value(), opened ? "" : opened.error().message};
}

// Opens the device of a processor and reads no register.
std::string WhyNoMsr() {
  const std::vector<uint32_t> processors = ptm::MsrProcessors(ptm::kMsrDevices);
  const uint32_t first = processors.empty() ? 0 : processors.front();
  const auto opened = ptm::ReadRegisters(ptm::kMsrDevices, {&first, 1}, {});
  return opened ? "" : opened.error().message;
}

}  // namespace

std::optional<double> ParseCpuLimit(const std::string& text) {
  char* end = nullptr;
  const double quota = std::strtod(text.c_str(), &end);
  const double period = std::strtod(end, nullptr);
  if (quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

DoctorMachine ReadDoctorMachine() {
  utsname name = {};
  uname(&name);
  DoctorMachine found = {.kernel = name.release, .arch = name.machine};
  found.cpus = sysconf(_SC_NPROCESSORS_ONLN);
  found.machine = ptm::ReadMachine();
  found.capabilities = ptm::FindCapabilities(found.machine);
  found.governor = FirstLine("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  found.perf_timer = TryTimer(ptm::TimerSource::kPerf);
  found.posix_timer = TryTimer(ptm::TimerSource::kPosix);
  found.system_wide = TrySampler({});
  found.command = TrySampler({static_cast<uint32_t>(getpid())});
  found.kernel_names = SeesKernelNames();
  ReadInterrupt(found);
  ReadLimits(found);
  std::error_code failed;
  found.working = ReadFolder(fs::current_path(failed));
  found.temporary = ReadFolder(TemporaryPath());
  found.why_no_msr = WhyNoMsr();
  found.large_pages = ptm::LargePageSetting();
  found.kernel_events = TryKernelEvents();
  found.attaching = TryAttaching("/tmp");
  found.root = geteuid() == 0;
  return found;
}

}  // namespace jprof::record
