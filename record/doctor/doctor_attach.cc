#include "record/doctor/doctor_attach.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "common/errno_text.h"
#include "common/fd.h"
#include "options/late_calls.h"

namespace jprof::record {
namespace {

using Verdict = DoctorCheck::Verdict;

// Returns "17.0.18" of "17.0.18+8-Debian-1".
std::string ShortVersion(const TestedJvm& jvm) {
  const std::string& version = jvm.meta.jvm.version;
  return version.substr(0, version.find_first_of("+-"));
}

bool AllowsLateCalls(const TestedJvm& jvm) {
  const int major = jvm.Major();
  return jvm.HasProbe() && major != 0 && major <= options::kLastJdkWithLateCalls;
}

// Returns "JDK 17.0.18, 21.0.5", with each version once.
std::string JdksOf(const std::vector<TestedJvm>& jvms, bool late_calls) {
  std::vector<std::string> versions;
  for (const TestedJvm& jvm : jvms) {
    if (!jvm.Works() || AllowsLateCalls(jvm) != late_calls) continue;
    std::string version = ShortVersion(jvm);
    if (!version.empty() && std::ranges::count(versions, version) == 0)
      versions.push_back(std::move(version));
  }
  return versions.empty() ? "" : fmt::format("JDK {}", fmt::join(versions, ", "));
}

}  // namespace

Attempt TryAttaching(const std::string& folder) {
  std::string path = folder + "/jprof-doctor-XXXXXX";
  const Fd file(mkostemp(path.data(), O_CLOEXEC));
  if (!file) return {false, fmt::format("cannot make a file in {}: {}", folder, ErrnoText())};
  unlink(path.c_str());
  const Fd process(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
  if (!process) return {false, fmt::format("cannot watch a process: {}", ErrnoText())};
  return {true, ""};
}

DoctorCheck CheckAttaching(const DoctorMachine& machine, const std::vector<TestedJvm>& jvms) {
  DoctorCheck check = {.name = "attaching (--pid)"};
  if (!machine.attaching.works) {
    check.verdict = Verdict::kNo;
    check.detail = machine.attaching.note;
    check.remedy = "JVMs listen in /tmp: it must be writable; watching a process needs Linux 5.3";
    return check;
  }
  const std::string with = JdksOf(jvms, true), without = JdksOf(jvms, false);
  check.detail = fmt::format("to running JVMs of {}: scs, tprof, calltree in all; callflow in {}",
                             machine.root ? "all users" : "this user",
                             with.empty() ? fmt::format("those up to JDK {} with the HotSpot probe",
                                                        options::kLastJdkWithLateCalls)
                                          : with);
  if (without.empty()) return check;
  check.verdict = Verdict::kNote;
  check.detail += ", not in " + without;
  check.remedy =
      "there, start the program with jprof callflow -- java ...; or count: jprof calltree";
  return check;
}

}  // namespace jprof::record
