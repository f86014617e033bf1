#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "record/doctor/doctor_attach.h"
#include "record/doctor/doctor_summary.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;
using Verdict = DoctorCheck::Verdict;

// A machine on which everything works.
DoctorMachine GoodMachine() {
  DoctorMachine machine = {.kernel = "6.1.0", .arch = "x86_64", .cpus = 8};
  machine.machine.paranoid = -1;
  machine.capabilities = {{.name = "hardware", .available = true}};
  machine.perf_timer = machine.posix_timer = machine.system_wide = machine.command = {true, ""};
  machine.kernel_events = {true, ""};
  machine.large_pages = "madvise";
  machine.kernel_names = machine.attaching.works = true;
  machine.interrupt_ns = 2000;
  machine.open_files = 65536;
  machine.available_memory = uint64_t{16} << 30;
  machine.working = machine.temporary = {
      .path = "/data", .file_system = "ext4", .writable = true, .free = uint64_t{100} << 30};
  return machine;
}

TestedJvm GoodJvm() {
  TestedJvm jvm = {.found = {"/jdk/bin/java", "PATH"}};
  jvm.meta.probe.kind = "hotspot";
  jvm.meta.jvm.version = "17.0.18+8-Debian-1";
  jvm.table_made = "2026-11-20T10:00:00Z";
  return jvm;
}

DoctorCheck Find(const DoctorChecks& checks, const std::string& name) {
  const auto found = std::ranges::find(checks, name, &DoctorCheck::name);
  return found == checks.end() ? DoctorCheck{.name = "MISSING"} : *found;
}

TEST(CheckMachine, IsContentWithAGoodMachine) {
  for (const DoctorCheck& check : CheckMachine(GoodMachine()))
    EXPECT_EQ(check.verdict, Verdict::kOk) << check.name << ": " << check.detail;
}

TEST(CheckMachine, SaysWhatParanoidPermits) {
  DoctorMachine machine = GoodMachine();
  machine.machine.paranoid = 2;
  const DoctorCheck check = Find(CheckMachine(machine), "perf_event_paranoid");
  EXPECT_EQ(check.verdict, Verdict::kNote);
  EXPECT_EQ(check.detail, "2: own processes only, without the kernel");
  EXPECT_NE(check.remedy, "");
  machine.machine.privileged = true;
  EXPECT_EQ(Find(CheckMachine(machine), "perf_event_paranoid").verdict, Verdict::kOk);
  machine.machine.paranoid.reset();
  EXPECT_EQ(Find(CheckMachine(machine), "perf_event_paranoid").verdict, Verdict::kNo);
}

TEST(CheckMachine, FallsBackToPosixTimers) {
  DoctorMachine machine = GoodMachine();
  machine.perf_timer = {false, "forbidden"};
  DoctorCheck check = Find(CheckMachine(machine), "stack sampling");
  EXPECT_EQ(check.verdict, Verdict::kNote);
  EXPECT_NE(check.detail.find("forbidden"), std::string::npos);
  machine.posix_timer = {false, "no timers"};
  check = Find(CheckMachine(machine), "stack sampling");
  EXPECT_EQ(check.verdict, Verdict::kNo);
}

TEST(CheckMachine, JudgesFolders) {
  DoctorMachine machine = GoodMachine();
  const auto verdict = [&] { return Find(CheckMachine(machine), "working directory").verdict; };
  machine.working.in_memory = true;
  EXPECT_EQ(verdict(), Verdict::kNote);
  machine.working.free = 1000;
  EXPECT_EQ(verdict(), Verdict::kNo);
  machine.working = GoodMachine().working;
  machine.working.writable = false;
  EXPECT_EQ(verdict(), Verdict::kNo);
}

TEST(CheckMachine, ReadsLimitsOfControlGroups) {
  EXPECT_EQ(ParseCpuLimit("150000 100000"), 1.5);
  EXPECT_EQ(ParseCpuLimit("max 100000"), std::nullopt);
  DoctorMachine machine = GoodMachine();
  EXPECT_EQ(Find(CheckMachine(machine), "control group").detail, "sets no limit");
  machine.group = {.memory = uint64_t{1} << 30, .cpus = 1.5};
  EXPECT_EQ(Find(CheckMachine(machine), "control group").detail, "memory 1.0 GiB, 1.5 CPUs");
}

TEST(CheckJvm, DistinguishesProbes) {
  TestedJvm jvm = GoodJvm();
  EXPECT_EQ(CheckJvm(jvm, 0)[0].verdict, Verdict::kOk);
  jvm.why_no_focus = "no symbol table";
  EXPECT_EQ(CheckJvm(jvm, 0)[0].verdict, Verdict::kNote);
  jvm.meta.probe = {.kind = "jvmti", .note = "not HotSpot"};
  const DoctorCheck slow = CheckJvm(jvm, 0)[0];
  EXPECT_EQ(slow.verdict, Verdict::kNote);
  EXPECT_NE(slow.detail.find("not HotSpot"), std::string::npos);
  jvm.why_no_profile = "it crashed";
  EXPECT_EQ(CheckJvm(jvm, 0)[0].verdict, Verdict::kNo);
}

TEST(CheckJvm, NamesTheCommandThatCalibrates) {
  TestedJvm jvm = GoodJvm();
  jvm.table_made = "";
  jvm.why_no_table = "differs in kernel";
  const DoctorCheck check = CheckJvm(jvm, 0)[1];
  EXPECT_EQ(check.verdict, Verdict::kNote);
  EXPECT_NE(check.detail.find("differs in kernel"), std::string::npos) << check.detail;
  EXPECT_EQ(check.remedy, "jprof calibrate --java /jdk/bin/java");
}

TEST(CheckJvm, NamesTheJdksOfWovenCounting) {
  TestedJvm jvm = GoodJvm();
  const auto check = [&](const char* version) {
    jvm.meta.jvm.version = version;
    return Find(CheckJvm(jvm, 0), "  --counter woven");
  };
  EXPECT_EQ(check("17.0.18+8-Debian-1").detail,
            "works, for profile and calltree --sample: JDK 17 is known (all up to 27 except 19 and "
            "20)");
  EXPECT_EQ(check("27-ea+3").verdict, Verdict::kOk);
  EXPECT_EQ(check("28-ea+3").verdict, Verdict::kNote);
  EXPECT_EQ(check("28-ea+3").detail, "woven counting knows JDKs up to 27, not 28");
  EXPECT_EQ(check("28-ea+3").remedy, "use --counter probe");
  EXPECT_EQ(check("20.0.2+9").verdict, Verdict::kNote);
}

TEST(CheckJvm, SaysWhetherObjectsAndLocksCanBeCounted) {
  TestedJvm jvm = GoodJvm();
  jvm.meta.jvm.version = "17.0.18+8";
  EXPECT_EQ(Find(CheckJvm(jvm, 0), "  objects").detail,
            "every allocated object can be counted, with --removed and --pid");
  EXPECT_EQ(Find(CheckJvm(jvm, 0), "  locks").verdict, Verdict::kOk);
  jvm.meta.jvm.version = "20.0.2+9";  // which is not woven
  EXPECT_EQ(Find(CheckJvm(jvm, 0), "  objects").detail,
            "every allocated object can be counted, without --removed and --pid");
  EXPECT_EQ(Find(CheckJvm(jvm, 0), "  locks").verdict, Verdict::kNote);
  jvm.why_no_objects = "libjvm.so has no symbols";
  const DoctorCheck check = Find(CheckJvm(jvm, 0), "  objects");
  EXPECT_EQ(check.verdict, Verdict::kNote);
  EXPECT_EQ(check.detail, "allocated objects cannot be counted: libjvm.so has no symbols");
  EXPECT_EQ(check.remedy, "jprof scs --event ALLOCATED_BYTES --objects, which samples");
}

TEST(CheckJvm, TellsTheAgeOfATable) {
  constexpr std::time_t kNoon = 1'000'000'000;  // 2001-09-09T01:46:40Z
  EXPECT_EQ(AgeText("2001-09-09T01:00:00Z", kNoon), "today");
  EXPECT_EQ(AgeText("2001-09-08T01:00:00Z", kNoon), "yesterday");
  EXPECT_EQ(AgeText("2001-08-09T01:46:40Z", kNoon), "31 days ago");
  EXPECT_EQ(AgeText("last week", kNoon), "");
}

TEST(CheckAttaching, NamesTheJvmsByCommand) {
  DoctorMachine machine = GoodMachine();
  TestedJvm later = GoodJvm();
  later.meta.jvm.version = "25.0.1+8-LTS";
  DoctorCheck check = CheckAttaching(machine, {GoodJvm(), GoodJvm()});
  EXPECT_EQ(check.verdict, Verdict::kOk);
  EXPECT_EQ(check.detail,
            "to running JVMs of this user: scs, tprof, calltree in all; callflow in JDK 17.0.18");
  machine.root = true;
  check = CheckAttaching(machine, {GoodJvm(), later});
  EXPECT_EQ(check.verdict, Verdict::kNote);
  EXPECT_TRUE(check.detail.contains("of all users")) << check.detail;
  EXPECT_TRUE(check.detail.ends_with("in JDK 17.0.18, not in JDK 25.0.1")) << check.detail;
  EXPECT_NE(check.remedy, "");
  TestedJvm broken = GoodJvm();
  broken.why_no_profile = "it crashed";
  check = CheckAttaching(machine, {broken});
  EXPECT_EQ(check.verdict, Verdict::kOk);
  EXPECT_TRUE(check.detail.contains("up to JDK 23")) << check.detail;
}

TEST(CheckAttaching, NeedsTheProbeForCalls) {
  TestedJvm jvm = GoodJvm();
  jvm.meta.probe.kind = "jvmti";
  EXPECT_TRUE(CheckAttaching(GoodMachine(), {jvm}).detail.ends_with(", not in JDK 17.0.18"));
}

TEST(CheckAttaching, SaysWhatTheMachineForbids) {
  DoctorMachine machine = GoodMachine();
  machine.attaching = TryAttaching("/nowhere");
  EXPECT_FALSE(machine.attaching.works);
  const DoctorCheck check = CheckAttaching(machine, {GoodJvm()});
  EXPECT_EQ(check.verdict, Verdict::kNo);
  EXPECT_TRUE(check.detail.contains("/nowhere")) << check.detail;
  EXPECT_NE(check.remedy, "");
}

TEST(SummaryOf, SaysYesWhereEverythingWorks) {
  const DoctorFindings findings = {.machine = GoodMachine(), .trainers = true, .jvms = {GoodJvm()}};
  EXPECT_TRUE(CanProfile(findings));
  for (const DoctorCheck& check : SummaryOf(findings)) EXPECT_EQ(check.verdict, Verdict::kOk);
}

TEST(SummaryOf, NeedsAJvm) {
  const DoctorFindings findings = {.machine = GoodMachine()};
  EXPECT_FALSE(CanProfile(findings));
  EXPECT_EQ(Find(SummaryOf(findings), "scs").verdict, Verdict::kNo);
  EXPECT_EQ(Find(SummaryOf(findings), "calibrate").verdict, Verdict::kNo);
  EXPECT_EQ(Find(SummaryOf(findings), "tprof").verdict, Verdict::kOk);
  EXPECT_NE(Find(CheckJava(findings, 0), "JVM").remedy, "");
  EXPECT_NE(Find(CheckJava(findings, 0), "attaching (--pid)").name, "MISSING");
}

TEST(SummaryOf, NamesTheTimerOfScs) {
  DoctorFindings findings = {.machine = GoodMachine(), .trainers = true, .jvms = {GoodJvm()}};
  findings.machine.perf_timer.works = false;
  EXPECT_EQ(Find(SummaryOf(findings), "scs").detail, "yes (POSIX timers)");
}

TEST(SummaryOf, SaysWhatTracingAndOptimisingLack) {
  DoctorFindings findings = {.machine = GoodMachine()};
  findings.machine.kernel_events = {false, "no BTF"};
  findings.machine.ptrace_scope = 2;
  findings.machine.large_pages = "never";
  const DoctorChecks checks = SummaryOf(findings);
  EXPECT_EQ(Find(checks, "timeline, system-trace").detail, "no BTF");
  EXPECT_EQ(Find(checks, "itrace").verdict, Verdict::kNo);
  EXPECT_EQ(Find(checks, "optimize").verdict, Verdict::kNo);  // there is no JVM either
  EXPECT_NE(Find(CheckMachine(findings.machine), "large pages").remedy, "");
  findings.machine.root = true;
  EXPECT_EQ(Find(SummaryOf(findings), "itrace").verdict, Verdict::kOk);
  findings.machine.ptrace_scope = 3;
  EXPECT_EQ(Find(SummaryOf(findings), "itrace").verdict, Verdict::kNo);
  EXPECT_EQ(Find(SummaryOf(findings), "itrace").remedy, "");
  findings.jvms = {GoodJvm()};
  EXPECT_EQ(Find(SummaryOf(findings), "optimize").verdict, Verdict::kNote);
  findings.machine.large_pages = "madvise";
  EXPECT_EQ(Find(SummaryOf(findings), "optimize").verdict, Verdict::kOk);
  findings.machine.command = {false, "forbidden"};
  EXPECT_NE(Find(SummaryOf(findings), "optimize").detail.find("forbidden"), std::string::npos);
}

TEST(SummaryOf, SaysWhyRegistersCannotBeRead) {
  DoctorFindings findings = {.machine = GoodMachine()};
  EXPECT_EQ(Find(SummaryOf(findings), "msr").detail, "yes");
  findings.machine.why_no_msr = "there is no /dev/cpu/0/msr";
  EXPECT_EQ(Find(SummaryOf(findings), "msr").verdict, Verdict::kNote);
  EXPECT_EQ(Find(SummaryOf(findings), "msr").detail, "there is no /dev/cpu/0/msr");
}

class FindJvmsTest : public ::testing::Test {
 protected:
  FindJvmsTest() {
    std::string made = (fs::temp_directory_path() / "jprof-doctor-test-XXXXXX").string();
    root_ = mkdtemp(made.data());
  }
  ~FindJvmsTest() override { fs::remove_all(root_); }
  fs::path MakeJava(const fs::path& home) {
    fs::create_directories(root_ / home / "bin");
    const fs::path java = root_ / home / "bin" / "java";
    std::ofstream(java) << "#!/bin/sh\n";
    return java;
  }

  fs::path root_;
};

TEST_F(FindJvmsTest, FindsEachJvmOnce) {
  const fs::path a = MakeJava("jvm/a"), b = MakeJava("jvm/b");
  fs::create_directories(root_ / "bin");
  fs::create_symlink(a, root_ / "bin" / "java");
  const auto found = FindJvms({.java_home = (root_ / "jvm/b").string(),
                               .path = "/nowhere::" + (root_ / "bin").string(),
                               .folders = {root_ / "jvm", "/nowhere"}});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].java, fs::canonical(b));
  EXPECT_EQ(found[0].origin, "JAVA_HOME");
  EXPECT_EQ(found[1].java, fs::canonical(a));
  EXPECT_EQ(found[1].origin, "PATH");
}

TEST_F(FindJvmsTest, ReportsAJvmThatFails) {
  const fs::path java = MakeJava("jvm/a");
  std::ofstream(java) << "#!/bin/sh\necho broken\nexit 3\n";
  chmod(java.c_str(), 0755);
  const TestedJvm tested = TestJvm({java, "PATH"}, "/agent.so", root_);
  EXPECT_FALSE(tested.Works());
  EXPECT_NE(tested.why_no_profile.find("status 3: broken"), std::string::npos)
      << tested.why_no_profile;
}

}  // namespace
}  // namespace jprof::record
