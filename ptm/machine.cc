#include "ptm/machine.h"

#include <linux/capability.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "common/errno_text.h"
#include "common/procfs.h"

namespace jprof::ptm {
namespace {

std::optional<int> ReadNumber(const std::string& path) {
  std::ifstream file(path);
  int value = 0;
  if (!(file >> value)) return std::nullopt;
  return value;
}

// Finds the counters of the CPU itself: `cpu` (x86), `cpu_core` (hybrid), `armv8_*`; not uncore or
// software.
std::string FindPmu(const std::string& devices) {
  std::error_code error;
  std::filesystem::directory_iterator entries(devices, error);
  for (const auto end = std::filesystem::directory_iterator(); !error && entries != end;
       entries.increment(error)) {
    const std::string name = entries->path().filename();
    if (name == "cpu" || name == "cpu_core" || name.starts_with("armv")) return name;
  }
  return "";
}

bool HasWord(const std::string& text, const std::string& word) {
  return (" " + text + " ").find(" " + word + " ") != std::string::npos;
}

// Returns whether the rate of the clock is constant. AArch64's generic timer has a constant rate by
// architecture; there is no flags line.
bool HasInvariantTsc(const std::string& flags) {
#if defined(__aarch64__)
  return flags.empty();
#else
  return HasWord(flags, "constant_tsc") && HasWord(flags, "nonstop_tsc");
#endif
}

void ReadCapabilities(const std::string& proc, Machine& machine) {
  const uint64_t mask = procfs::ReadStatus(procfs::kSelf, proc).capabilities;
  const auto has = [mask](int capability) { return (mask >> capability & 1) != 0; };
  machine.privileged = has(CAP_PERFMON) || has(CAP_SYS_ADMIN);
}

// Returns the reason for a missing permission. kernel.perf_event_paranoid causes EACCES, a seccomp
// filter usually EPERM.
std::string NotPermitted(int error, const Machine& machine) {
  if (error == EPERM || machine.privileged || !machine.paranoid || *machine.paranoid < 2) {
    return "the system forbids it (a container's or sandbox's rule against perf_event_open); allow "
           "that call, e.g. with a seccomp profile that has it (Docker: --cap-add PERFMON)";
  }
  const int needed = *machine.paranoid > 2 ? 2 : 1;
  return fmt::format(
      "kernel.perf_event_paranoid is {}: run `sudo sysctl kernel.perf_event_paranoid={}`, or give "
      "the program CAP_PERFMON",
      *machine.paranoid, needed);
}

}  // namespace

Machine ReadMachine(const std::string& root) {
  Machine machine;
  const std::string devices = root + "/sys/bus/event_source/devices";
  const std::string proc = root + procfs::kRoot;
  machine.pmu = FindPmu(devices);
  machine.cpu = procfs::CpuModel(proc);
  const std::string flags = procfs::CpuInfo("flags", proc);
  machine.virtual_machine = HasWord(flags, "hypervisor") ||
                            std::filesystem::exists(proc + "/device-tree/hypervisor") ||
                            std::filesystem::exists(root + "/sys/hypervisor/type");
  machine.invariant_tsc = HasInvariantTsc(flags);
  ReadCapabilities(proc, machine);
  machine.paranoid = procfs::KernelSetting("perf_event_paranoid", proc);
  machine.user_access = ReadNumber(devices + "/" + machine.pmu + "/rdpmc");
  if (!machine.user_access) machine.user_access = procfs::KernelSetting("perf_user_access", proc);
  return machine;
}

std::string LargePageSetting(const std::string& root) {
  const std::string text =
      procfs::ReadSmallFile(root + "/sys/kernel/mm/transparent_hugepage/enabled");
  const size_t begin = text.find('['), end = text.find(']');  // "always [madvise] never"
  return begin == text.npos || end == text.npos ? "" : text.substr(begin + 1, end - begin - 1);
}

std::string WhyNoPmu(const Machine& machine) {
  if (!machine.paranoid) return "this kernel has no perf events (CONFIG_PERF_EVENTS)";
  if (machine.virtual_machine) {
    return "this machine has no PMU: it is a virtual machine and the hypervisor exposes no "
           "hardware counters; run it with a virtual PMU "
           "(QEMU/KVM: -cpu host,pmu=on) or on real hardware";
  }
  return "this machine has no PMU that the kernel supports; look for `PMU` in dmesg";
}

std::string Explain(const EventSpec& event, int error, const Machine& machine) {
  const bool hardware = !IsSoftware(event);
  switch (error) {
    case ENOENT:
    case ENODEV:
    case ENXIO:
    case EOPNOTSUPP:
      if (hardware && machine.pmu.empty()) return WhyNoPmu(machine);
      return "this CPU does not count this event; `jprof metrics --events` lists the "
             "events that it counts";
    case EACCES:
    case EPERM:
      return NotPermitted(error, machine);
    case ENOSYS:
      return "perf_event_open is not available (a kernel without CONFIG_PERF_EVENTS, an emulator "
             "or a sandbox)";
    case EINVAL:
      if (hardware && machine.pmu.empty()) return WhyNoPmu(machine);
      return "the kernel refuses this event's settings; try it without its modifiers";
    case EBUSY:
      return "another program has exclusive use of the counter; stop it (or the NMI watchdog: "
             "`sudo sysctl kernel.nmi_watchdog=0`)";
    case EMFILE:
    case ENFILE:
      return "too many open files (one for each event of each thread); raise `ulimit -n`";
    case E2BIG:
      return "8 metrics at most";
    default:
      return fmt::format("the kernel reports: {}", ErrnoText(error));
  }
}

}  // namespace jprof::ptm
