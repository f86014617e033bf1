// Reads a recording of `jprof tprof` (profile/log/sample_log.h and the files beside it): its
// samples with the names of process, thread, module and symbol.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "a2n/a2n.h"
#include "common/result.h"
#include "profile/files/recording_meta.h"
#include "profile/log/sample_log.h"

namespace jprof::model {

// One sample. Its names are indices into TickTable::names.
struct Tick {
  uint32_t process = 0, thread = 0, module = 0, symbol = 0;
  uint32_t pid = 0;    // a2n::kKernel for addresses of the kernel
  uint32_t owner = 0;  // the process, also for kernel addresses
  uint64_t address = 0, time = 0;
  std::span<const uint64_t> chain;  // owned by the recording; empty if it has no chains
};

struct TickTable {
  std::vector<std::string> names;
  std::vector<Tick> ticks;
  // Counts the ticks without a module, and those in a module with symbols none of which
  // covers them.
  uint64_t unresolved = 0;
  std::vector<std::string> complaints;  // modules that could not be read
};

// From `time` on, addresses of [start, start + length) of the process may be other code.
struct CodeChange {
  uint64_t time = 0;
  uint32_t pid = 0;
  uint64_t start = 0, length = 0;
  bool code = false;  // whether there is code then; if not, it may end
};

struct Recording {
  std::string directory;
  profile::SampleLog log;
  std::unique_ptr<a2n::Resolver> resolver;       // knows the address spaces of the recording
  std::vector<CodeChange> changes;               // by time
  std::map<uint32_t, std::string> thread_names;  // of the threads of JVMs that recorded them
  profile::RecordingMeta meta;                   // empty if the file is missing or damaged
  std::string title;                             // platform, mode and command, a line each
  uint64_t jitted = 0;                           // compiled methods and stubs known
  std::vector<std::string> notes;                // what is missing and why
};

// Returns whether the directory has samples, with or without a description of the recording.
bool IsRecording(const std::filesystem::path& directory);

// Opens a recording, or the files beside the branches of `jprof itrace`. Fails if it is no
// recording.
Result<Recording> OpenRecording(const std::filesystem::path& directory);

// Returns all samples of the recording, in order of time.
TickTable NameTicks(Recording& recording);

// Returns how many seconds the recording took, or 0 if its times are damaged.
double RecordedSeconds(const Recording& recording);

// Returns the names of threads at the end of the recording: those that a JVM recorded, else
// the kernel's.
std::map<uint32_t, std::string> LastThreadNames(const Recording& recording);

}  // namespace jprof::model
