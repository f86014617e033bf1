#include "record/doctor/doctor_summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "record/doctor/doctor_attach.h"

namespace jprof::record {
namespace {

using Verdict = DoctorCheck::Verdict;

constexpr char kNoJvm[] = "no JVM that can be profiled was found";
constexpr char kInstallJvm[] =
    "install one (Debian: sudo apt install openjdk-17-jdk-headless), or set JAVA_HOME";

std::string RemedyOf(const DoctorFindings& f) {
  return f.why_no_agent.empty() && f.jvms.empty() ? kInstallJvm : "";
}

DoctorCheck Counting(const DoctorFindings& f) {
  constexpr char kNames[] = "profile, callflow, calltree, trace";
  if (!CanProfile(f)) return {Verdict::kNo, kNames, kNoJvm, RemedyOf(f)};
  if (!std::ranges::any_of(f.jvms, &TestedJvm::HasProbe))
    return {Verdict::kNote, kNames, "yes, by slow JVMTI events: no HotSpot JVM was found", ""};
  return {.name = kNames, .detail = "yes"};
}

DoctorCheck Stacks(const DoctorFindings& f) {
  if (!CanProfile(f)) return {Verdict::kNo, "scs", kNoJvm, RemedyOf(f)};
  if (f.machine.perf_timer.works) return {.name = "scs", .detail = "yes (perf events)"};
  if (f.machine.posix_timer.works) return {.name = "scs", .detail = "yes (POSIX timers)"};
  return {Verdict::kNo, "scs", f.machine.posix_timer.note, ""};
}

DoctorCheck Calibration(const DoctorFindings& f) {
  if (!f.trainers)
    return {Verdict::kNo, "calibrate",
            "this jprof was built without a JDK, the programs that calibrate runs are missing",
            "install a JDK with javac and build again"};
  if (!CanProfile(f)) return {Verdict::kNo, "calibrate", kNoJvm, RemedyOf(f)};
  const bool calibrated =
      std::ranges::any_of(f.jvms, [](const TestedJvm& jvm) { return !jvm.table_made.empty(); });
  return {.name = "calibrate",
          .detail = calibrated ? "yes, done" : "yes, not done yet: only callflow needs it"};
}

DoctorCheck Tprof(const DoctorMachine& m) {
  constexpr char kEnable[] = "run it as root, or sudo sysctl kernel.perf_event_paranoid=-1";
  if (m.system_wide.works) return {.name = "tprof", .detail = "yes, the whole machine"};
  if (m.command.works)
    return {Verdict::kNote, "tprof", "with a command or own processes; the whole machine not",
            kEnable};
  return {Verdict::kNo, "tprof", m.command.note, ""};
}

DoctorCheck Counters(const DoctorMachine& m) {
  const auto has = [&](const char* name) {
    const auto found = std::ranges::find(m.capabilities, name, &ptm::Capability::name);
    return found != m.capabilities.end() && found->available;
  };
  constexpr char kNames[] = "stat, ptt, cpi";
  if (has("hardware")) return {.name = kNames, .detail = "yes"};
  if (has("software"))
    return {Verdict::kNote, kNames,
            "yes, without hardware events (cycles, cache misses); cpi needs them", ""};
  return {Verdict::kNo, kNames, "no events can be counted", ""};
}

DoctorCheck KernelEventsCheck(const DoctorMachine& m) {
  constexpr char kNames[] = "timeline, system-trace";
  if (m.kernel_events.works) return {.name = kNames, .detail = "yes"};
  return {Verdict::kNote, kNames, m.kernel_events.note, ""};
}

DoctorCheck Tracing(const DoctorMachine& m) {
  const int scope = m.ptrace_scope.value_or(0);
  if (scope < 2 || (scope == 2 && m.root)) return {.name = "itrace", .detail = "yes"};
  if (scope > 2)
    return {Verdict::kNo, "itrace", "kernel.yama.ptrace_scope is 3, which lasts until a reboot",
            ""};
  return {Verdict::kNo, "itrace", "kernel.yama.ptrace_scope does not permit ptrace",
          "sudo sysctl kernel.yama.ptrace_scope=1"};
}

DoctorCheck Optimising(const DoctorFindings& f) {
  const bool pages = f.machine.large_pages == "madvise" && f.machine.command.works;
  if (pages) return {.name = "optimize", .detail = "yes"};
  const std::string why = f.machine.command.works ? "the kernel puts no memory on large pages that "
                                                    "asks for them"
                                                  : f.machine.command.note;
  if (!CanProfile(f)) return {Verdict::kNo, "optimize", why, ""};
  return {Verdict::kNote, "optimize", "only the heaps of JVMs (--agent jvm-heap); " + why, ""};
}

DoctorCheck Registers(const DoctorMachine& m) {
  if (m.why_no_msr.empty()) return {.name = "msr", .detail = "yes"};
  return {Verdict::kNote, "msr", m.why_no_msr, ""};
}

}  // namespace

bool CanProfile(const DoctorFindings& findings) {
  return std::ranges::any_of(findings.jvms, &TestedJvm::Works);
}

DoctorChecks CheckJava(const DoctorFindings& f, std::time_t now) {
  DoctorChecks checks;
  checks.push_back(f.why_no_agent.empty()
                       ? DoctorCheck{.name = "agent library", .detail = f.agent}
                       : DoctorCheck{Verdict::kNo, "agent library", f.why_no_agent, ""});
  if (!f.trainers)
    checks.push_back({Verdict::kNote, "trainers", "missing: this jprof cannot calibrate",
                      "install a JDK with javac and build jprof again"});
  if (f.jvms.empty() && f.why_no_agent.empty())
    checks.push_back(
        {Verdict::kNo, "JVM", "none in JAVA_HOME, PATH and /usr/lib/jvm", kInstallJvm});
  for (const TestedJvm& jvm : f.jvms) {
    for (DoctorCheck& check : CheckJvm(jvm, now)) checks.push_back(std::move(check));
  }
  if (f.why_no_agent.empty()) checks.push_back(CheckAttaching(f.machine, f.jvms));
  return checks;
}

DoctorChecks SummaryOf(const DoctorFindings& f) {
  return {Counting(f),          Stacks(f),
          Calibration(f),       Tprof(f.machine),
          Counters(f.machine),  KernelEventsCheck(f.machine),
          Tracing(f.machine),   Optimising(f),
          Registers(f.machine), {.name = "report, compare, info, heap, a2n", .detail = "yes"}};
}

}  // namespace jprof::record
