#include "record/itrace/itrace_record.h"

#include <fcntl.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include <algorithm>
#include <memory>
#include <set>

#include "common/monotonic.h"
#include "itrace/engine_check.h"
#include "itrace/tracer.h"
#include "profile/files/recording_meta.h"
#include "profile/files/whole_file.h"
#include "profile/log/sample_log.h"
#include "record/attach/logged_jvms.h"
#include "record/itrace/itrace_places.h"
#include "record/itrace/released_trace.h"
#include "record/place/profile_place.h"
#include "record/run/interruption.h"
#include "record/run/launcher.h"
#include "record/run/pages_library.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;
using itrace::Engine;

constexpr uint64_t kMapsEveryNanos = 500'000'000;
constexpr int kEndSeconds = 5;  // for a program to end after a signal

uint64_t ItraceNow() { return static_cast<uint64_t>(MonotonicNanos()); }

// Writes what happens during a trace.
class TraceWriter final : public itrace::TraceEvents {
 public:
  TraceWriter(const ItracePlan& plan, const std::function<void(uint64_t, bool)>& progress)
      : plan_(plan), progress_(progress) {}

  Result<void> Open() {
    if (plan_.out.empty()) return {};
    if (auto made = MakePlace(plan_.out); !made) return made;
    const uint64_t unix_ns = UnixNanos(), now = ItraceNow();
    if (auto opened = samples_.Open((plan_.out / profile::kSamplesFile).string(),
                                    {.cpus = 1, .start_unix_ns = unix_ns, .start_ns = now});
        !opened)
      return opened;
    if (plan_.options.memory) {
      if (auto opened = memory_.Open((plan_.out / profile::kMemoryFile).string(),
                                     {.start_unix_ns = unix_ns, .start_ns = now});
          !opened)
        return opened;
    }
    return branches_.Open((plan_.out / profile::kBranchesFile).string(),
                          {.start_unix_ns = unix_ns, .start_ns = now});
  }

  void set_pid(uint32_t pid) { pid_ = pid; }

  void OnBranch(const profile::Branch& branch) override { branches_.Add(branch); }
  void OnReferences(std::span<const profile::MemoryReference> references) override {
    for (const profile::MemoryReference& reference : references) memory_.Add(reference);
  }
  void OnMapped(uint32_t) override { WriteMaps(); }
  void OnThread(uint32_t pid, uint32_t tid) override {
    samples_.Add({ItraceNow(), pid, tid, 0, profile::ThreadForked{pid}});
  }
  void OnFork(uint32_t parent, uint32_t child) override {
    samples_.Add({ItraceNow(), child, child, 0, profile::ThreadForked{parent}});
  }
  void OnExec(uint32_t pid) override {
    known_.clear();
    const std::string name = procfs::ThreadName(pid, pid);
    samples_.Add({ItraceNow(), pid, pid, 0, profile::ThreadNamed{name, true}});
    WriteMaps();
  }
  void OnExit(uint32_t pid, uint32_t tid) override {
    samples_.Add({ItraceNow(), pid, tid, 0, profile::ThreadExited{}});
  }
  bool OnTick(uint64_t instructions, bool began) override {
    if (progress_) progress_(instructions, began);
    if (ItraceNow() - maps_read_ > kMapsEveryNanos) WriteMaps();
    if (began && began_ns_ == 0) began_ns_ = ItraceNow();
    return Interruption::Number() != 0;
  }

  // Writes the new executable mappings, and the names of threads.
  void WriteMaps() {
    maps_read_ = ItraceNow();
    if (plan_.out.empty()) return;
    const auto maps = procfs::ReadMaps(pid_);
    if (!maps) return;
    for (const procfs::Mapping& mapping : *maps) {
      if (!mapping.executable) continue;
      const auto key = fmt::format("{:x}-{:x} {}", mapping.start, mapping.end, mapping.path);
      if (!known_.insert(key).second) continue;
      const std::string_view path =
          mapping.path.empty() ? std::string_view("//anon") : mapping.path;
      samples_.Add({maps_read_, pid_, pid_, 0,
                    profile::CodeMapped{.start = mapping.start,
                                        .length = mapping.end - mapping.start,
                                        .file_offset = mapping.offset,
                                        .inode = mapping.inode,
                                        .path = path}});
    }
    for (const uint32_t tid : procfs::Threads(pid_)) {
      const std::string name = procfs::ThreadName(pid_, tid);
      if (names_[tid] == name) continue;
      names_[tid] = name;
      samples_.Add({maps_read_, pid_, tid, 0, profile::ThreadNamed{name}});
    }
  }

  Result<void> Close() {
    if (plan_.out.empty()) return {};
    auto branches = branches_.Close(ItraceNow());
    auto samples = samples_.Close(ItraceNow());
    auto memory = memory_.Close(ItraceNow());
    return !branches ? branches : !samples ? samples : memory;
  }

 private:
  const ItracePlan& plan_;
  const std::function<void(uint64_t, bool)>& progress_;
  uint32_t pid_ = 0;
  profile::BranchWriter branches_;
  profile::MemoryWriter memory_;
  profile::SampleWriter samples_;
  std::set<std::string> known_;
  std::map<uint32_t, std::string> names_;
  uint64_t maps_read_ = 0, began_ns_ = 0;
};

// Keeps of the logs of placements those of the traced process, and notes if there are none.
void KeepSites(const ItracePlan& plan, uint32_t pid, std::vector<std::string>& notes) {
  if (!plan.sites) return;
  std::error_code failed;
  fs::remove(PagesPlan(plan.out), failed);
  const std::string own = fmt::format("pages.{}", pid);
  bool found = false;
  std::vector<fs::path> others;
  for (const auto& entry : fs::directory_iterator(plan.out, failed)) {
    const std::string name = entry.path().filename().string();
    const bool is_own = name == own || name.starts_with(own + ".");
    found |= is_own;
    if (!is_own && name.starts_with("pages.")) others.push_back(entry.path());
  }
  for (const fs::path& other : others) fs::remove(other, failed);
  if (!found) {
    notes.push_back(
        fmt::format("the sites of allocations are not recorded: the program did not "
                    "load {}: is it setuid, or does it clear LD_PRELOAD?",
                    kPagesLibrary));
  }
}

std::string ItracePlatform() {
  utsname name = {};
  uname(&name);
  return fmt::format("{} {} {}", name.sysname, name.release, name.machine);
}

const char* NameOf(Engine engine) { return engine == Engine::kBlock ? "block" : "step"; }

// Adds what the report has to know about the trace, one line each.
void AddNotes(const itrace::Tracer& tracer, const ItracePlan& plan,
              std::vector<std::string>& notes) {
  notes.insert(notes.end(), tracer.notes().begin(), tracer.notes().end());
  if (!tracer.began() && !plan.begin.empty())
    notes.push_back(fmt::format(
        "{} was not reached: nothing was traced{}", plan.begin,
        plan.jvm.empty() ? ""
                         : " (a method has to be compiled, and is not called where it is "
                           "inlined: -XX:CompileCommand=dontinline,CLASS::METHOD)"));
  if (Interruption::Number() != 0) notes.push_back("the trace was ended by a signal");
}

Result<void> WriteItraceMeta(const ItracePlan& plan, const std::string& engine,
                             const std::vector<std::string>& notes) {
  if (plan.out.empty()) return {};
  const profile::RecordingMeta meta = {.sampling = "instruction trace, engine " + engine,
                                       .platform = ItracePlatform(),
                                       .command = plan.command,
                                       .notes = notes};
  return profile::WriteWholeFile((plan.out / profile::kRecordingFile).string(),
                                 profile::ToJson(meta));
}

void RemoveTrace(const ItracePlan& plan) {
  std::error_code failed;
  if (!plan.out.empty()) fs::remove_all(plan.out, failed);
}

// Waits for the end of a command that continues untraced, and returns its exit status.
int AwaitCommand(HeldProgram& program, const itrace::Tracer& tracer) {
  if (const auto status = tracer.process_status()) {
    return OutcomeOf(*status).ExitCode();
  }
  const bool interrupted = Interruption::Number() != 0;
  if (interrupted) program.Signal(Interruption::Number());
  const uint64_t begin = ItraceNow();
  for (;;) {
    if (const auto outcome = program.Ended()) return interrupted ? 0 : outcome->ExitCode();
    if (Interruption::Number() != 0 && !interrupted) Interruption::PassTo(program);
    if (interrupted && ItraceNow() - begin > uint64_t{kEndSeconds} * 1'000'000'000) return 0;
    program.AwaitEnd(100);
  }
}

std::function<std::vector<uint64_t>()> Finder(uint32_t pid, const std::string& name,
                                              const fs::path& jvm) {
  if (name.empty()) return {};
  const auto finder = std::make_shared<PlaceFinder>(pid, name, jvm);
  return [finder] { return finder->Find(); };
}

std::optional<int64_t> ThreadCounter(uint32_t pid) {
  const auto places = PlaceFinder(pid, "jprof_thread_instructions_offset").Find();
  if (places.empty()) return std::nullopt;
  const Fd memory(open((procfs::Directory(pid) + "/mem").c_str(), O_RDONLY | O_CLOEXEC));
  int64_t offset = 0;
  if (pread(memory.get(), &offset, sizeof(offset), static_cast<off_t>(places.front())) !=
      sizeof(offset))
    return std::nullopt;
  return offset;
}

}  // namespace

Result<ItraceSummary> RecordItrace(const ItracePlan& plan,
                                   const std::function<void(uint64_t, bool)>& progress) {
  const Interruption guard;
  ItraceSummary summary{.notes = plan.notes};
  itrace::TracerOptions options = plan.options;
  if (options.engine != Engine::kStep) {
    const auto checked = itrace::CheckEngine();
    if (!checked && options.engine == Engine::kBlock) return std::unexpected(checked.error());
    if (!checked) summary.notes.push_back("engine step: " + checked.error().message);
    options.engine = checked ? Engine::kBlock : Engine::kStep;
  }
  std::optional<HeldProgram> program;
  uint32_t pid = plan.pid;
  if (plan.launch) {
    auto held = HeldProgram::Start(*plan.launch);
    if (!held) return std::unexpected(held.error());
    program.emplace(*std::move(held));
    pid = static_cast<uint32_t>(program->pid());
  }
  itrace::TraceRange range = plan.range;
  range.begin_places = Finder(pid, plan.begin, plan.jvm);
  range.end_places = Finder(pid, plan.end, plan.jvm);
  TraceWriter writer(plan, progress);
  writer.set_pid(pid);
  if (auto opened = writer.Open(); !opened) return std::unexpected(opened.error());
  if (plan.sites) {
    if (auto planned = WritePagesPlan(fs::absolute(plan.out)); !planned) {
      RemoveTrace(plan);
      return std::unexpected(planned.error());
    }
  }
  TprofJvms jvms;
  if (!plan.agent.empty())
    jvms.Attach({.agent = plan.agent, .out = plan.out, .pids = {pid}}, summary.notes);
  auto tracer = itrace::Tracer::Seize(static_cast<pid_t>(pid), options, range, writer);
  if (!tracer) {
    jvms.Detach(summary.notes);
    RemoveTrace(plan);
    return std::unexpected(tracer.error());
  }
  (*tracer)->find_thread_counter = [pid] { return ThreadCounter(pid); };
  if (!program) writer.WriteMaps();
  Result<void> released;
  const uint64_t start = ItraceNow();
  const auto run = RunReleased(**tracer, program ? &*program : nullptr, released);
  if (!run) return std::unexpected(run.error());
  if (!released) {
    RemoveTrace(plan);
    return std::unexpected(released.error());
  }
  summary.seconds = static_cast<double>(ItraceNow() - start) / 1e9;
  writer.WriteMaps();
  jvms.Detach(summary.notes);
  summary.engine = NameOf((*tracer)->engine());
  summary.threads = (*tracer)->totals();
  summary.began = (*tracer)->began();
  summary.calls = (*tracer)->calls();
  if (program) summary.exit_code = AwaitCommand(*program, **tracer);
  AddNotes(**tracer, plan, summary.notes);
  KeepSites(plan, pid, summary.notes);
  if (auto closed = writer.Close(); !closed) return std::unexpected(closed.error());
  if (auto written = WriteItraceMeta(plan, summary.engine, summary.notes); !written)
    return std::unexpected(written.error());
  if (!plan.options.writes()) RemoveTrace(plan);  // which exists only where a JVM logged its code
  return summary;
}

}  // namespace jprof::record
