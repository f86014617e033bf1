#include "record/doctor/doctor_jvms.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <ranges>
#include <string_view>

#include "calibrate/store/table_store.h"
#include "calibrate/train/child.h"
#include "options/agent_argument.h"
#include "options/agent_options.h"
#include "options/woven_jdks.h"
#include "profile/files/printable_text.h"
#include "profile/read/reader.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;
using Verdict = DoctorCheck::Verdict;

constexpr std::chrono::seconds kLongestTest{20};

class JvmList {
 public:
  void Add(const fs::path& java, const std::string& origin) {
    std::error_code failed;
    const fs::path real = fs::canonical(java, failed);
    if (failed || !fs::is_regular_file(real, failed) || std::ranges::count(seen_, real) != 0)
      return;
    seen_.push_back(real);
    found_.push_back({real, origin});
  }
  std::vector<FoundJvm> Take() { return std::move(found_); }

 private:
  std::vector<fs::path> seen_;
  std::vector<FoundJvm> found_;
};

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::vector<fs::path> SortedEntries(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) entries.push_back(entry.path());
  std::ranges::sort(entries);
  return entries;
}

// Returns the lines in which the agent reports what it could not do, without "jprof: ".
std::string AgentMessages(std::string_view output) {
  constexpr std::string_view kStart = "jprof: ";
  std::string messages;
  for (const auto part : std::views::split(output, '\n')) {
    const std::string_view line(part);
    if (!line.starts_with(kStart)) continue;
    messages += (messages.empty() ? "" : "; ") + std::string(line.substr(kStart.size()));
  }
  return profile::CleanText(messages);
}

std::string LastLine(std::string_view output) {
  std::string_view last = "it printed nothing";
  for (const auto part : std::views::split(output, '\n')) {
    if (std::string_view(part).find_first_not_of(' ') != std::string_view::npos)
      last = std::string_view(part);
  }
  return profile::CleanText(std::string(last));
}

// Runs `java -version` with the agent. Returns what it prints; fails if it does not end well.
Result<std::string> RunWithAgent(const FoundJvm& found, const fs::path& agent,
                                 const options::AgentOptions& options, const fs::path& work) {
  std::error_code ignored;
  fs::remove_all(options.out, ignored);
  const std::string option = options::AgentArgument(agent.string(), ToString(options));
  const auto done =
      calibrate::RunChild({found.java.string(), option, "-version"}, work / "output", kLongestTest);
  if (!done) return std::unexpected(done.error());
  if (done->status == 0) return done->output;
  return Fail("`java -version` with the agent ends with status {}: {}", done->status,
              LastLine(done->output));
}

// Probes all methods. --keep-intrinsics requires the parts of the VM that --focus requires.
options::AgentOptions TestOptions(const fs::path& out) {
  options::AgentOptions options;
  options.out = out.string();
  options.keep_intrinsics = true;
  return options;
}

// Weaves nothing, which would take longer.
options::AgentOptions ObjectsTest(const fs::path& out) {
  options::AgentOptions options;
  options.out = out.string();
  options.mode = options::Mode::kObjects;
  options.counter = options::Counter::kProbe;
  return options;
}

void FindTableOf(TestedJvm& tested) {
  const auto stored = calibrate::FindTable(tested.meta.fingerprint);
  if (stored) {
    tested.table_made = stored->table.made_at;
  } else {
    tested.why_no_table = stored.error().message;
  }
}

}  // namespace

JvmPlaces UsualJvmPlaces() {
  JvmPlaces places = {.java_home = Variable("JAVA_HOME"),
                      .path = Variable("PATH"),
                      .folders = {"/usr/lib/jvm", "/usr/java", "/opt/java", "/opt"}};
  if (const std::string home = Variable("HOME"); !home.empty()) {
    places.folders.push_back(fs::path(home) / ".sdkman/candidates/java");
    places.folders.push_back(fs::path(home) / ".jdks");
  }
  return places;
}

std::vector<FoundJvm> FindJvms(const JvmPlaces& places) {
  JvmList list;
  if (!places.java_home.empty()) list.Add(fs::path(places.java_home) / "bin/java", "JAVA_HOME");
  for (const auto part : std::views::split(places.path, ':')) {
    const std::string_view folder(part);
    if (!folder.empty()) list.Add(fs::path(folder) / "java", "PATH");
  }
  for (const fs::path& folder : places.folders) {
    for (const fs::path& entry : SortedEntries(folder))
      list.Add(entry / "bin/java", folder.string());
  }
  return list.Take();
}

TestedJvm TestJvm(const FoundJvm& found, const fs::path& agent, const fs::path& work) {
  TestedJvm tested = {.found = found};
  const fs::path out = work / "test.jprof";
  const auto printed = RunWithAgent(found, agent, TestOptions(out), work);
  const auto reader =
      printed ? profile::Reader::Open(out.string()) : std::unexpected(printed.error());
  if (!reader) {
    tested.why_no_profile = reader.error().message;
    return tested;
  }
  tested.meta = reader->meta();
  if (tested.HasProbe()) tested.why_no_focus = AgentMessages(*printed);
  FindTableOf(tested);
  if (const auto objects = RunWithAgent(found, agent, ObjectsTest(out), work); !objects)
    tested.why_no_objects = objects.error().message;
  std::error_code ignored;
  fs::remove_all(out, ignored);
  return tested;
}

int TestedJvm::Major() const {
  const std::string& version = meta.jvm.version;
  int major = 0;
  std::from_chars(version.data(), version.data() + version.size(), major);
  return major;
}

std::string AgeText(const std::string& made, std::time_t now) {
  std::tm utc = {};
  if (strptime(made.c_str(), "%Y-%m-%dT%H:%M:%SZ", &utc) == nullptr) return "";
  const auto days = (now - timegm(&utc)) / (24 * 60 * 60);
  if (days < 0) return "in the future";
  return days == 0 ? "today" : days == 1 ? "yesterday" : fmt::format("{} days ago", days);
}

namespace {

DoctorCheck TableCheck(const TestedJvm& jvm, std::time_t now) {
  constexpr char kName[] = "  calibration";
  if (!jvm.table_made.empty())
    return {.name = kName,
            .detail = fmt::format("a table fits, made {}", AgeText(jvm.table_made, now))};
  std::string reason = jvm.why_no_table;  // which ends with the remedy, but without --java
  constexpr std::string_view kRemedy = ": run jprof calibrate";
  if (const size_t at = reason.find(kRemedy); at != reason.npos) reason.erase(at, kRemedy.size());
  return {Verdict::kNote, kName, reason + "; only callflow needs one",
          fmt::format("jprof calibrate --java {}", jvm.found.java.string())};
}

std::string PlaceOf(const TestedJvm& jvm) {
  return fmt::format("{} ({})", jvm.found.java.string(), jvm.found.origin);
}

DoctorCheck ProbeCheck(const TestedJvm& jvm) {
  DoctorCheck check = {.name = "JVM",
                       .detail = fmt::format("{}: {}, {}; ", PlaceOf(jvm), jvm.meta.jvm.Title(),
                                             jvm.meta.jvm.vendor)};
  if (!jvm.HasProbe()) {
    check.verdict = Verdict::kNote;
    check.detail +=
        "can be profiled, but calls are counted by slow JVMTI events: " + jvm.meta.probe.note;
    check.remedy = "use a HotSpot JVM of JDK 17 or later, or jprof scs";
  } else if (!jvm.why_no_focus.empty()) {
    check.verdict = Verdict::kNote;
    check.detail += "can be profiled, without --focus and --keep-intrinsics: " + jvm.why_no_focus;
  } else {
    check.detail += "can be profiled; --focus and --keep-intrinsics work";
  }
  return check;
}

DoctorCheck WovenCheck(const TestedJvm& jvm) {
  constexpr char kName[] = "  --counter woven";
  if (const auto known = options::CheckWovenJdk(jvm.Major()); !known)
    return {Verdict::kNote, kName, known.error().message, "use --counter probe"};
  return {.name = kName,
          .detail = fmt::format("works, for profile and calltree --sample: JDK {} is known (all up "
                                "to {} except 19 and 20)",
                                jvm.Major(), options::kLastWovenJdk)};
}

DoctorCheck ObjectsCheck(const TestedJvm& jvm) {
  constexpr char kName[] = "  objects";
  if (!jvm.why_no_objects.empty())
    return {Verdict::kNote, kName, "allocated objects cannot be counted: " + jvm.why_no_objects,
            "jprof scs --event ALLOCATED_BYTES --objects, which samples"};
  const bool woven = options::CheckWovenJdk(jvm.Major()).has_value();
  return {.name = kName,
          .detail = woven ? "every allocated object can be counted, with --removed and --pid"
                          : "every allocated object can be counted, without --removed and --pid"};
}

DoctorCheck LocksCheck(const TestedJvm& jvm) {
  constexpr char kName[] = "  locks";
  if (const auto known = options::CheckWovenJdk(jvm.Major()); !known)
    return {Verdict::kNote, kName, "locks need woven counting: " + known.error().message,
            "jprof scs --event MONITOR_CONTENDED_ENTERED, which samples"};
  return {.name = kName, .detail = "every lock can be counted, with --pid"};
}

}  // namespace

DoctorChecks CheckJvm(const TestedJvm& jvm, std::time_t now) {
  if (!jvm.Works())
    return {{Verdict::kNo, "JVM", PlaceOf(jvm) + ": " + jvm.why_no_profile,
             "see docs/USER_GUIDE.md, or use another JVM (HotSpot, JDK 17 or later)"}};
  DoctorChecks checks = {ProbeCheck(jvm), TableCheck(jvm, now)};
  if (!jvm.HasProbe()) return checks;
  for (const auto check : {WovenCheck, ObjectsCheck, LocksCheck}) checks.push_back(check(jvm));
  return checks;
}

}  // namespace jprof::record
