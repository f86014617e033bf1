#include <fmt/format.h>

#include "record/doctor/doctor_machine.h"
#include "record/place/memory_caps.h"
#include "record/run/interrupt_cost.h"

namespace jprof::record {
namespace {

using Verdict = DoctorCheck::Verdict;

constexpr uint64_t kMebi = 1 << 20, kGibi = 1 << 30;
constexpr uint64_t kLittleSpace = kGibi, kNoSpace = 64 * kMebi;
constexpr uint64_t kFewFiles = 4096;
constexpr long kFewCpus = 2;

std::string SizeText(uint64_t bytes) {
  if (bytes < kGibi) return fmt::format("{} MiB", bytes / kMebi);
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / static_cast<double>(kGibi));
}

DoctorCheck System(const DoctorMachine& m) {
  DoctorCheck check = {.name = "machine"};
  check.detail =
      fmt::format("Linux {} {}, {} CPU{}{}, {}", m.kernel, m.arch, m.cpus, m.cpus == 1 ? "" : "s",
                  m.machine.virtual_machine ? ", virtual machine" : "", m.machine.cpu);
  if (m.arch != "x86_64" && m.arch != "aarch64") {
    check.verdict = Verdict::kNo;
    check.remedy = "jprof supports x86_64 and aarch64";
  } else if (m.cpus < kFewCpus) {
    check.verdict = Verdict::kNote;
    check.detail += "; the JVM's compiler threads take time from the program's";
  }
  return check;
}

DoctorCheck Paranoid(const DoctorMachine& m) {
  DoctorCheck check = {.name = "perf_event_paranoid"};
  if (!m.machine.paranoid) {
    check.verdict = Verdict::kNo;
    check.detail = "this kernel has no perf events: no counters, no tprof, times are wall clock";
    check.remedy = "use a kernel with CONFIG_PERF_EVENTS";
    return check;
  }
  const int level = *m.machine.paranoid;
  check.detail = fmt::format("{}{}: ", level, m.machine.privileged ? ", privileged" : "");
  if (m.machine.privileged || level <= 0) {
    check.detail += "the whole machine and the kernel may be measured";
  } else if (level == 1) {
    check.detail += "own processes including the kernel may be measured, the whole machine not";
  } else {
    check.detail += "own processes only, without the kernel";
  }
  if (!m.machine.privileged && level > 0) {
    check.verdict = Verdict::kNote;
    check.remedy = "sudo sysctl kernel.perf_event_paranoid=-1, or run jprof as root";
  }
  return check;
}

// Makes the check of a capability, which is a row of `jprof metrics`.
DoctorCheck OfCapability(const ptm::Capability& capability) {
  DoctorCheck check = {.name = capability.name, .detail = capability.detail};
  if (!capability.lack.empty()) {
    check.verdict = capability.available ? Verdict::kNote : Verdict::kNo;
    check.detail += "; " + capability.lack;
  }
  if (check.verdict == Verdict::kNo && capability.name != "software")
    check.verdict = Verdict::kNote;  // what needs them has an alternative
  return check;
}

DoctorCheck Governor(const DoctorMachine& m) {
  DoctorCheck check = {.name = "CPU frequency"};
  if (m.governor.empty()) {
    check.detail = "no scaling is visible; times are comparable between runs as far as the host is";
  } else {
    check.detail = fmt::format("governor {}", m.governor);
  }
  if (m.governor == "powersave" || m.governor == "ondemand" || m.governor == "conservative") {
    check.verdict = Verdict::kNote;
    check.detail += ": times differ between runs as the frequency does";
    check.remedy = "sudo cpupower frequency-set -g performance while measuring";
  }
  return check;
}

DoctorCheck Interrupt(const DoctorMachine& m) {
  if (m.interrupt_ns)
    return {.name = "timer interrupt", .detail = "costs " + InterruptText(*m.interrupt_ns)};
  return {Verdict::kNote, "timer interrupt", "40 us are assumed: " + m.why_not_measured,
          "run jprof doctor while the machine is idle"};
}

DoctorCheck StackSampling(const DoctorMachine& m) {
  if (m.perf_timer.works) {
    const bool kernel = m.machine.privileged || m.machine.paranoid.value_or(2) <= 1;
    return {.name = "stack sampling",
            .detail = kernel ? "by perf events, with kernel frames"
                             : "by perf events, without kernel frames"};
  }
  if (m.posix_timer.works)
    return {Verdict::kNote, "stack sampling",
            "by POSIX timers, which expire at ticks of the kernel; not by perf events: " +
                m.perf_timer.note,
            ""};
  return {Verdict::kNo, "stack sampling", m.posix_timer.note, ""};
}

DoctorCheck CpuSampling(const DoctorMachine& m) {
  if (m.system_wide.works) {
    if (m.system_wide.note.empty())
      return {.name = "CPU sampling", .detail = "the whole machine and commands"};
    return {Verdict::kNote, "CPU sampling", "the whole machine; " + m.system_wide.note, ""};
  }
  if (m.command.works)
    return {Verdict::kNote, "CPU sampling",
            "commands and own processes; the whole machine: " + m.system_wide.note, ""};
  return {Verdict::kNo, "CPU sampling", m.command.note, ""};
}

DoctorCheck KernelNames(const DoctorMachine& m) {
  if (m.kernel_names) return {.name = "kernel functions", .detail = "have names in tprof"};
  return {Verdict::kNote, "kernel functions",
          "have no names in tprof: the kernel hides their addresses from this user",
          "sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1, or run as root"};
}

// Describes how Yama limits ptrace.
std::string_view ItraceLimit(int ptrace_scope) {
  if (ptrace_scope >= 3) return ", which is not permitted";
  if (ptrace_scope == 2) return ", which only root may use";
  return ptrace_scope == 1 ? ", which only root may use for running processes" : "";
}

DoctorCheck Ptrace(const DoctorMachine& m) {
  return {.name = "ptrace_scope",
          .detail = fmt::format("{}; jprof itrace and optimize use ptrace{}",
                                m.ptrace_scope ? fmt::to_string(*m.ptrace_scope) : "no Yama",
                                ItraceLimit(m.ptrace_scope.value_or(0)))};
}

DoctorCheck LargePages(const DoctorMachine& m) {
  constexpr char kName[] = "large pages";
  if (m.large_pages == "madvise") return {.name = kName, .detail = "for memory that asks for them"};
  if (m.large_pages == "always")
    return {Verdict::kNote, kName, "for all memory: jprof optimize has nothing to choose", ""};
  if (m.large_pages.empty()) return {Verdict::kNote, kName, "this kernel has none", ""};
  return {Verdict::kNote, kName, "are switched off",
          "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"};
}

DoctorCheck LockedMemory(const DoctorMachine& m) {
  const std::string limit = m.locked_memory ? SizeText(*m.locked_memory) : "unlimited";
  const std::string own =
      m.perf_mlock_kb ? fmt::format(", and {} KiB per CPU for perf events", *m.perf_mlock_kb) : "";
  DoctorCheck check = {.name = "locked memory", .detail = limit + own};
  constexpr int kRing = 516;  // of CpuSampler
  if (m.locked_memory && m.perf_mlock_kb.value_or(kRing) < kRing && !m.machine.privileged) {
    check.verdict = Verdict::kNote;
    check.detail += ": less than tprof's buffers";
    check.remedy = fmt::format("sudo sysctl kernel.perf_event_mlock_kb={}, or ulimit -l", kRing);
  }
  return check;
}

DoctorCheck OpenFiles(const DoctorMachine& m) {
  if (!m.open_files) return {.name = "open files", .detail = "unlimited"};
  DoctorCheck check = {.name = "open files", .detail = fmt::format("{}", *m.open_files)};
  if (*m.open_files < kFewFiles) {
    check.verdict = Verdict::kNote;
    check.detail += ": each measured thread needs one for each event, in the profiled JVM";
    check.remedy = "ulimit -n 65536 before programs of hundreds of threads";
  }
  return check;
}

DoctorCheck MemoryCheck(const DoctorMachine& m) {
  DoctorCheck check = {.name = "memory"};
  if (!m.available_memory) return {Verdict::kNote, "memory", "unknown", ""};
  check.detail = SizeText(*m.available_memory) + " available";
  options::AgentOptions defaults;
  std::vector<std::string> notes;
  const auto limited =
      LimitMemory(defaults, {*m.available_memory, m.working.in_memory}, false, notes);
  if (!notes.empty() || !limited) {
    check.verdict = Verdict::kNote;
    check.detail += "; " + (limited ? notes.front() : limited.error().message);
  }
  return check;
}

DoctorCheck Group(const DoctorMachine& m) {
  DoctorCheck check = {.name = "control group"};
  const GroupLimits& group = m.group;
  if (!group.memory && !group.cpus) return {.name = "control group", .detail = "sets no limit"};
  if (group.memory) check.detail = "memory " + SizeText(*group.memory);
  if (group.cpus)
    check.detail += fmt::format("{}{:.1f} CPUs", check.detail.empty() ? "" : ", ", *group.cpus);
  return check;
}

DoctorCheck FolderCheck(const char* name, const Folder& folder) {
  DoctorCheck check = {.name = name};
  const std::string what = fmt::format("{}, {}", folder.path, folder.file_system);
  if (!folder.writable)
    return {Verdict::kNo, name, what + ": this user cannot write to it",
            "go to another folder, or use -o"};
  const uint64_t free = folder.free.value_or(0);
  check.detail = fmt::format("{}, {} free", what, SizeText(free));
  if (free < kNoSpace) {
    check.verdict = Verdict::kNo;
    check.remedy = "free some space, or write profiles elsewhere: -o";
  } else if (free < kLittleSpace) {
    check.verdict = Verdict::kNote;
    check.detail += ": recording stops when it is full";
  } else if (folder.in_memory) {
    check.verdict = Verdict::kNote;
    check.detail += ": profiles stay in memory";
    check.remedy = "write large profiles to a disk: -o";
  } else if (folder.may_run_full) {
    check.verdict = Verdict::kNote;
    check.detail += ": if it runs full, the program can end with SIGBUS";
    check.remedy = "leave room there, or write profiles to ext4 or xfs: -o";
  }
  return check;
}

}  // namespace

DoctorChecks CheckMachine(const DoctorMachine& m) {
  DoctorChecks checks = {System(m), Paranoid(m)};
  for (const ptm::Capability& capability : m.capabilities)
    checks.push_back(OfCapability(capability));
  for (DoctorCheck& check :
       std::vector{Governor(m), Interrupt(m), StackSampling(m), CpuSampling(m), KernelNames(m),
                   Ptrace(m), LargePages(m), LockedMemory(m), OpenFiles(m), MemoryCheck(m),
                   Group(m), FolderCheck("working directory", m.working),
                   FolderCheck("temporary files", m.temporary)})
    checks.push_back(std::move(check));
  return checks;
}

}  // namespace jprof::record
