#include "model/ticks/recording.h"

#include <fcntl.h>

#include <algorithm>
#include <unordered_map>

#include "a2n/jit_files.h"
#include "profile/files/layout.h"
#include "profile/files/printable_text.h"
#include "profile/log/jit_log.h"
#include "profile/read/reader_file.h"

namespace jprof::model {
namespace {

namespace fs = std::filesystem;
using profile::SampleEntry;

std::string Hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

// Passes the changes of address spaces to the resolver, in order of time.
void Feed(Recording& recording) {
  a2n::Resolver& resolver = *recording.resolver;
  const auto change = [&](const SampleEntry& entry, uint64_t start, uint64_t length, bool code) {
    recording.changes.push_back({entry.time, entry.pid, start, length, code});
  };
  for (const SampleEntry& entry : recording.log.entries()) {
    if (const auto* forked = std::get_if<profile::ThreadForked>(&entry.event)) {
      if (entry.pid == forked->parent_pid) continue;
      resolver.Fork(forked->parent_pid, entry.pid, entry.time);
      change(entry, 0, ~uint64_t{0}, false);
    } else if (const auto* named = std::get_if<profile::ThreadNamed>(&entry.event)) {
      if (!named->by_exec) continue;
      resolver.Exec(entry.pid, entry.time);
      change(entry, 0, ~uint64_t{0}, false);
    } else if (std::holds_alternative<profile::ThreadExited>(entry.event)) {
      if (entry.pid == entry.tid) resolver.Exit(entry.pid, entry.time);
    } else if (const auto* map = std::get_if<profile::CodeMapped>(&entry.event)) {
      resolver.Map(entry.pid, entry.time,
                   {.start = map->start,
                    .length = map->length,
                    .file_offset = map->file_offset,
                    .path = std::string(map->path),
                    .build_id = Hex(map->build_id),
                    .inode = map->inode});
      change(entry, map->start, map->length, true);
    }
  }
}

// Formats a method as the tree's reports do. A stub has a name only.
std::string TextOf(const profile::JitCode& code) {
  if (code.class_name.empty()) return std::string(code.name);
  return fmt::format("{}.{}{}", code.class_name, code.name, code.signature);
}

void AddChanges(uint32_t pid, const a2n::JittedCode& code, Recording& recording) {
  for (const uint64_t time : {code.loaded, code.unloaded}) {
    if (time != a2n::kAlways && time != a2n::kForever)
      recording.changes.push_back({time, pid, code.start, code.length, time == code.loaded});
  }
}

// Adds the agent's log of the code that the JVM compiled.
Result<void> AddJitLog(const fs::path& directory, Recording& recording) {
  const auto log = profile::ReadJitLog(directory.string());
  if (!log) return std::unexpected(log.error());
  for (const profile::JitCode& code : log->code) {
    ++recording.jitted;
    a2n::JittedCode jitted = {.start = code.address,
                              .length = code.length,
                              .loaded = code.loaded,
                              .unloaded = code.unloaded,
                              .name = TextOf(code),
                              .type = code.type,
                              .code = {code.code.begin(), code.code.end()}};
    jitted.source = code.source;
    // Only the compiled method's own line is used: an inlined method's line is of another file.
    for (const profile::JitLine& line : code.lines)
      jitted.lines.push_back({line.offset, line.own_line});
    AddChanges(log->header.pid, jitted, recording);
    recording.resolver->Jitted(log->header.pid, std::move(jitted));
  }
  for (const profile::JitThread& thread : log->threads) {
    // The main thread has this name while it waits for the others to end; it did its work as
    // "main".
    const bool was_main = thread.name == "DestroyJavaVM";
    recording.thread_names[thread.tid] = was_main ? "main" : std::string(thread.name);
  }
  for (const std::string& damage : log->damages) recording.notes.push_back("damaged: " + damage);
  if (log->discarded > 0) {
    recording.notes.push_back(fmt::format("{} records of jitted code are missing in {}",
                                          log->discarded, directory.string()));
  }
  return {};
}

// Adds perf-PID.map or jit-PID.dump, which other JIT compilers write.
void AddForeign(const fs::path& path, Recording& recording) {
  const std::string name = path.filename().string();
  const size_t dash = name.find('-');
  if (dash == std::string::npos) return;
  const auto pid = static_cast<a2n::Pid>(std::strtoul(name.c_str() + dash + 1, nullptr, 10));
  auto code =
      name.starts_with("perf-") ? a2n::ReadPerfMap(path.string()) : a2n::ReadJitDump(path.string());
  if (!code) {
    recording.notes.push_back(code.error().message);
    return;
  }
  recording.jitted += code->size();
  for (a2n::JittedCode& one : *code) {
    AddChanges(pid, one, recording);
    recording.resolver->Jitted(pid, std::move(one));
  }
}

// Adds the agent's log if the directory has one.
void AddJitLogIn(const fs::path& directory, Recording& recording) {
  std::error_code error;
  if (!fs::exists(directory / profile::kJitLogFile, error)) return;
  if (const auto added = AddJitLog(directory, recording); !added)
    recording.notes.push_back(added.error().message);
}

// Adds the code logs beside the samples, or in the profiles that agents wrote for them.
void AddJittedCode(const fs::path& directory, Recording& recording) {
  std::error_code error;
  AddJitLogIn(directory, recording);
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error))
    paths.push_back(entry.path());
  std::ranges::sort(paths);
  for (const fs::path& path : paths) {
    const std::string name = path.filename().string();
    if (name.starts_with("perf-") || name.starts_with("jit-")) AddForeign(path, recording);
    AddJitLogIn(path, recording);
  }
}

// Keeps the names of threads over time.
class Comms {
 public:
  void See(const SampleEntry& entry) {
    if (const auto* named = std::get_if<profile::ThreadNamed>(&entry.event)) {
      names_[entry.tid] = std::string(named->name);
      if (named->by_exec) names_[entry.pid] = std::string(named->name);
    } else if (const auto* forked = std::get_if<profile::ThreadForked>(&entry.event)) {
      if (const auto parent = names_.find(forked->parent_pid); parent != names_.end()) {
        names_[entry.tid] = std::string(parent->second);
      }
    }
  }
  std::string_view Of(uint32_t tid) const {
    const auto found = names_.find(tid);
    return found == names_.end() ? std::string_view("unknown") : found->second;
  }

 private:
  std::unordered_map<uint32_t, std::string> names_;
};

// Maps texts to indices and back.
class Strings {
 public:
  explicit Strings(std::vector<std::string>& names) : names_(names) {}
  uint32_t Of(std::string_view raw) {
    const std::string text = profile::CleanText(raw);  // any program may have chosen it
    if (const auto found = ids_.find(text); found != ids_.end()) return found->second;
    names_.emplace_back(text);
    const auto id = static_cast<uint32_t>(names_.size() - 1);
    ids_.emplace(text, id);
    return id;
  }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::vector<std::string>& names_;
  std::unordered_map<std::string, uint32_t, Hash, std::equal_to<>> ids_;
};

}  // namespace

bool IsRecording(const fs::path& directory) {
  std::error_code error;
  const auto has = [&](const char* file) { return fs::exists(directory / file, error); };
  return has(profile::kRecordingFile) ||
         (has(profile::kSamplesFile) && !has(profile::kControlFile));
}

Result<Recording> OpenRecording(const fs::path& directory) {
  std::error_code error;
  if (!fs::is_directory(directory, error))
    return WrongUse("{} is no recording: make one with jprof tprof or jprof itrace",
                    directory.string());
  auto log = profile::SampleLog::Read((directory / profile::kSamplesFile).string());
  if (!log) return std::unexpected(Error{log.error().message, Error::Kind::kWrongUse});
  Recording recording{.directory = directory.string(),
                      .log = std::move(*log),
                      .resolver = nullptr,
                      .changes = {},
                      .thread_names = {},
                      .meta = {},
                      .title = {},
                      .jitted = 0,
                      .notes = {}};
  a2n::Options options;
  if (fs::exists(directory / "kallsyms", error))
    options.kallsyms = (directory / "kallsyms").string();
  recording.resolver = std::make_unique<a2n::Resolver>(options);
  Feed(recording);
  AddJittedCode(directory, recording);
  std::ranges::stable_sort(recording.changes, {}, &CodeChange::time);
  const profile::ReaderFile file(AT_FDCWD, (directory / profile::kRecordingFile).c_str());
  if (const auto meta = profile::ParseRecordingMeta(file.ReadAll(16 << 20))) {
    const auto known = [](const std::string& text) { return text.empty() ? "?" : text; };
    recording.title = fmt::format("Platform: {}\nMode: {}\nCommand: {}\n", known(meta->platform),
                                  known(meta->sampling), known(meta->command));
    recording.notes.insert(recording.notes.end(), meta->notes.begin(), meta->notes.end());
    recording.meta = *meta;
  } else {
    recording.notes.push_back(
        "recording.json is missing or damaged: how this was recorded is not known");
  }
  for (std::string& note : recording.notes) note = profile::CleanText(note);
  return recording;
}

std::map<uint32_t, std::string> LastThreadNames(const Recording& recording) {
  std::map<uint32_t, std::string> names;
  for (const SampleEntry& entry : recording.log.entries()) {
    if (const auto* named = std::get_if<profile::ThreadNamed>(&entry.event)) {
      names[entry.tid] = profile::CleanText(named->name);
    } else if (const auto* forked = std::get_if<profile::ThreadForked>(&entry.event)) {
      const auto parent = names.find(forked->parent_pid);
      if (parent != names.end()) names[entry.tid] = parent->second;
    }
  }
  for (const auto& [tid, name] : recording.thread_names) names[tid] = profile::CleanText(name);
  return names;
}

TickTable NameTicks(Recording& recording) {
  TickTable table;
  Strings strings(table.names);
  Comms comms;
  for (const SampleEntry& entry : recording.log.entries()) {
    const auto* sample = std::get_if<profile::SampleTaken>(&entry.event);
    if (sample == nullptr) {
      comms.See(entry);
      continue;
    }
    const bool idle = entry.pid == 0;
    const auto named = recording.thread_names.find(entry.tid);
    const std::string_view thread =
        named != recording.thread_names.end() ? named->second : comms.Of(entry.tid);
    const a2n::Place place = recording.resolver->Resolve(sample->kernel ? a2n::kKernel : entry.pid,
                                                         sample->address, entry.time);
    if (place.outcome == a2n::Outcome::kNoModule || place.outcome == a2n::Outcome::kNoSymbolFound)
      ++table.unresolved;
    table.ticks.push_back(
        {.process = strings.Of(idle ? "SystemProcess_0000"
                                    : fmt::format("{}_{:04x}", comms.Of(entry.pid), entry.pid)),
         .thread = strings.Of(idle ? fmt::format("tid_idle_{:04x}", entry.cpu)
                                   : fmt::format("tid_{}_{:04x}", thread, entry.tid)),
         .module = strings.Of(place.module),
         .symbol = strings.Of(place.symbol),
         .pid = sample->kernel ? a2n::kKernel : entry.pid,
         .owner = entry.pid,
         .address = sample->address,
         .time = entry.time,
         .chain = sample->chain});
  }
  for (const a2n::Complaint& complaint : recording.resolver->Complaints())
    table.complaints.push_back(profile::CleanText(complaint.text));
  return table;
}

double RecordedSeconds(const Recording& recording) {
  const uint64_t start = recording.log.header().start_ns, end = recording.log.end_ns();
  return end <= start ? 0 : static_cast<double>(end - start) / 1e9;
}

}  // namespace jprof::model
