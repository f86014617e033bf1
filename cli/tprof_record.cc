#include "cli/tprof_record.h"

#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>

#include "cli/foreign_jit.h"
#include "cli/interruption.h"
#include "cli/launcher.h"
#include "common/errno_text.h"
#include "profile/recording_meta.h"
#include "profile/sample_log.h"

namespace jprof::cli {
namespace {

namespace fs = std::filesystem;
using ptm::SampleRecord;

constexpr int kDrainMilliseconds = 200;

uint64_t Now(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return uint64_t(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// Writes what the sampler hands on, and remembers which processes were hit.
class Recorder {
 public:
  explicit Recorder(profile::SampleWriter& writer) : writer_(writer) {}

  void Add(const SampleRecord& from) {
    profile::SampleEntry entry = {from.time, from.pid, from.tid, from.cpu, {}};
    switch (from.kind) {
      case SampleRecord::Kind::kSample:
        entry.event = profile::SampleTaken{from.address, from.kernel, from.chain};
        foreign_jit_.Sampled(from.pid);
        break;
      case SampleRecord::Kind::kMap:
        entry.event =
            profile::CodeMapped{from.address, from.length, from.offset, from.inode, from.text};
        foreign_jit_.Mapped(from.pid, from.text, from.inode);
        break;
      case SampleRecord::Kind::kComm:
        entry.event = profile::ThreadNamed{from.text, from.exec};
        if (from.exec) foreign_jit_.Executed(from.pid);
        break;
      case SampleRecord::Kind::kFork:
        entry.event = profile::ThreadForked{from.parent_pid};
        foreign_jit_.Forked(from.parent_pid, from.pid);
        break;
      case SampleRecord::Kind::kExit:
        entry.event = profile::ThreadExited{};
        break;
      case SampleRecord::Kind::kLost:
        entry.event = profile::SamplesLost{from.lost};
        break;
      case SampleRecord::Kind::kSwitch:  // not asked for
        return;
    }
    writer_.Add(entry);
  }

  // What a process had before we looked: its executable mappings and its threads' names.
  void AddExisting(uint32_t pid) {
    const fs::path proc = fmt::format("/proc/{}", pid);
    std::ifstream maps(proc / "maps");
    for (std::string line; std::getline(maps, line);) AddMapping(pid, line);
    for (const uint32_t tid : NumbersIn(proc / "task")) {
      const std::string name = FirstLine(proc / "task" / std::to_string(tid) / "comm");
      writer_.Add({.pid = pid, .tid = tid, .event = profile::ThreadNamed{name}});
    }
  }

  const ForeignJit& foreign_jit() const { return foreign_jit_; }

 private:
  void AddMapping(uint32_t pid, const std::string& line) {
    std::istringstream words(line);
    std::string range, protection, device, path;
    uint64_t offset = 0, inode = 0;
    words >> range >> protection >> std::hex >> offset >> device >> std::dec >> inode >> std::ws;
    std::getline(words, path);
    const size_t dash = range.find('-');
    foreign_jit_.Mapped(pid, path, inode);
    if (dash == std::string::npos || protection.find('x') == std::string::npos) return;
    const uint64_t start = std::strtoull(range.c_str(), nullptr, 16);
    const uint64_t end = std::strtoull(range.c_str() + dash + 1, nullptr, 16);
    if (path.empty()) path = "//anon";
    writer_.Add({.pid = pid,
                 .tid = pid,
                 .event = profile::CodeMapped{start, end - start, offset, inode, path}});
  }

  profile::SampleWriter& writer_;
  ForeignJit foreign_jit_;
};

Result<void> WriteFile(const fs::path& path, const std::string& text) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "we"),
                                                             std::fclose);
  if (file != nullptr && std::fwrite(text.data(), 1, text.size(), file.get()) == text.size() &&
      std::fflush(file.get()) == 0)
    return {};
  return Fail("cannot write {}: {}; choose another directory with -o", path.string(), ErrnoText());
}

// Symbols of the kernel that runs now; a report may be made after the next start.
Result<void> KeepKernelSymbols(const fs::path& out) {
  const std::string first = FirstLine("/proc/kallsyms");
  if (first.empty() || first.starts_with("0000000000000000")) return {};  // a2n says so
  std::ifstream from("/proc/kallsyms");
  std::string text;
  for (std::string line; std::getline(from, line);) {
    const size_t kind = line.find(' ') + 1;
    if (kind < line.size() && std::strchr("tTwW", line[kind]) != nullptr) text += line + '\n';
  }
  return WriteFile(out / "kallsyms", text);
}

std::string Platform() {
  utsname name = {};
  uname(&name);
  return fmt::format("{} {} {}", name.sysname, name.release, name.machine);
}

std::string SamplingText(const ptm::SamplerOptions& options) {
  if (options.rate == 0)
    return fmt::format("event {}, every {}", options.event.name, options.period);
  if (options.event.name == ptm::CpuClock().name)
    return fmt::format("time, {} samples/s on each CPU", options.rate);
  return fmt::format("event {}, about {} samples/s on each CPU", options.event.name, options.rate);
}

// All of it or as it was.
Result<void> WriteMeta(const TprofPlan& plan, const std::vector<std::string>& notes) {
  const fs::path path = plan.out / profile::kRecordingFile, temporary = path.string() + ".tmp";
  auto written = WriteFile(temporary, profile::ToJson(profile::RecordingMeta{
                                          .sampling = SamplingText(plan.sampling),
                                          .platform = Platform(),
                                          .command = plan.command,
                                          .notes = notes,
                                      }));
  if (!written) return written;
  if (std::rename(temporary.c_str(), path.c_str()) == 0) return {};
  return Fail("cannot make {}: {}", path.string(), ErrnoText());
}

// What is there before the program starts.
Result<void> Begin(const TprofPlan& plan, const std::vector<std::string>& notes, uint32_t cpus,
                   profile::SampleWriter& writer) {
  const uint64_t start = Now(CLOCK_MONOTONIC);
  if (auto written = WriteMeta(plan, notes); !written) return written;
  if (auto kept = KeepKernelSymbols(plan.out); !kept) return kept;
  return writer.Open((plan.out / profile::kSamplesFile).string(),
                     {.cpus = cpus,
                      .start_unix_ns = Now(CLOCK_REALTIME),
                      .start_ns = start + static_cast<uint64_t>(plan.delay * 1e9)});
}

// A sampled thread takes one on each CPU. Only for this process: what it starts has been forked.
void AllowManyFiles() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// Until what ends the recording: the program, the duration or a signal.
void Watch(const TprofPlan& plan, ptm::Sampler& sampler, Recorder& recorder,
           std::optional<HeldProgram>& program, std::optional<Outcome>& outcome) {
  const uint64_t end = plan.duration > 0
                           ? Now(CLOCK_MONOTONIC) + static_cast<uint64_t>(plan.duration * 1e9)
                           : ~uint64_t{0};
  while (Interruption::Number() == 0 && !outcome) {
    const uint64_t now = Now(CLOCK_MONOTONIC);
    if (now >= end) break;
    const auto left =
        static_cast<int>(std::min<uint64_t>((end - now) / 1'000'000 + 1, kDrainMilliseconds));
    sampler.Drain(left, [&recorder](const SampleRecord& record) { recorder.Add(record); });
    if (program) outcome = program->Ended();
  }
}

void Pause(double seconds) {
  timespec time = {
      static_cast<time_t>(seconds),
      static_cast<long>((seconds - static_cast<double>(static_cast<time_t>(seconds))) * 1e9)};
  while (Interruption::Number() == 0 && nanosleep(&time, &time) != 0) {
  }
}

}  // namespace

std::string FirstLine(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::vector<uint32_t> NumbersIn(const fs::path& directory) {
  std::vector<uint32_t> numbers;
  std::error_code error;
  for (auto entry = fs::directory_iterator(directory, error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.find_first_not_of("0123456789") == std::string::npos) {
      numbers.push_back(static_cast<uint32_t>(std::strtoul(name.c_str(), nullptr, 10)));
    }
  }
  return numbers;
}

Result<int> RecordTprof(const TprofPlan& plan) {
  const Interruption guard;
  std::optional<HeldProgram> program;
  ptm::SamplerOptions sampling = plan.sampling;
  if (plan.launch) {
    auto held = HeldProgram::Start(*plan.launch);
    if (!held) return std::unexpected(held.error());
    program.emplace(std::move(*held));
    if (!plan.whole_machine) sampling.pids = {static_cast<uint32_t>(program->pid())};
    sampling.on_exec = !plan.whole_machine && plan.delay == 0;
  }
  AllowManyFiles();
  auto sampler = ptm::Sampler::Open(sampling);
  if (!sampler) return std::unexpected(sampler.error());
  std::error_code error;
  if (!fs::create_directories(plan.out, error))
    return Fail("cannot make {}: {}", plan.out.string(), error.message());
  std::vector<std::string> notes = plan.notes;
  if (!sampler->note().empty()) notes.push_back(sampler->note());
  profile::SampleWriter writer;
  if (auto begun = Begin(plan, notes, sampler->cpus(), writer); !begun) {
    fs::remove_all(plan.out, error);  // we made it
    return std::unexpected(begun.error());
  }
  Recorder recorder(writer);

  std::optional<Outcome> outcome;
  if (program && plan.delay > 0) {
    if (auto released = program->Release(); !released) return std::unexpected(released.error());
  }
  Pause(plan.delay);
  if (!sampling.on_exec) sampler->Start();
  const std::vector<uint32_t> existing = sampling.pids.empty() ? NumbersIn("/proc") : sampling.pids;
  for (const uint32_t pid : existing) {
    if (!sampling.on_exec) recorder.AddExisting(pid);
  }
  if (program && plan.delay == 0) {
    if (auto released = program->Release(); !released) return std::unexpected(released.error());
  }
  Watch(plan, *sampler, recorder, program, outcome);
  sampler->Stop();
  const uint64_t end = Now(CLOCK_MONOTONIC);
  sampler->Drain(0, [&recorder](const SampleRecord& record) { recorder.Add(record); });
  std::ranges::move(recorder.foreign_jit().CopyTo(plan.out), std::back_inserter(notes));
  if (program && !outcome &&
      Interruption::Number() != 0) {  // the terminal sent it the signal, too; a kill did not
    program->Signal(SIGTERM);
    for (int i = 0; i < 50 && !(outcome = program->Ended()); ++i) usleep(100'000);
  }
  if (auto closed = writer.Close(end); !closed) return std::unexpected(closed.error());
  if (auto written = WriteMeta(plan, notes); !written) return std::unexpected(written.error());
  return outcome && Interruption::Number() == 0 ? outcome->ExitCode() : 0;
}

}  // namespace jprof::cli
