// Finds out what `jprof doctor` reports about this machine. ReadDoctorMachine tries things: it
// opens and closes perf events and timers of the calling thread and loads programs into the kernel,
// which takes less than a second.
// CheckMachine is pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ptm/capabilities.h"
#include "ptm/machine.h"
#include "record/doctor/doctor_check.h"

namespace jprof::record {

// A folder that profiles or temporary files are written to.
struct Folder {
  std::string path;
  std::string file_system;  // "ext4", "tmpfs", or a number if the name is unknown
  bool writable = false;
  bool in_memory = false;        // tmpfs or ramfs
  bool may_run_full = false;     // reserved space is not guaranteed (btrfs, ZFS and similar)
  std::optional<uint64_t> free;  // bytes
};

// The lowest limits of this process's control group and of those above it, unset if there is none.
// The limit of CPUs is read from version 2 only.
struct GroupLimits {
  std::optional<uint64_t> memory;  // bytes
  std::optional<double> cpus;
};

// The result of an attempt to open something. `note` has the reason why it
// failed, or a restriction.
struct Attempt {
  bool works = false;
  std::string note;
};

struct DoctorMachine {
  std::string kernel, arch;
  long cpus = 0;
  ptm::Machine machine;
  std::vector<ptm::Capability> capabilities;
  std::string governor;             // of the CPU's frequency; "" if the kernel does not scale it
  Attempt perf_timer, posix_timer;  // as the source of CPU-time samples of scs
  Attempt system_wide, command;     // sampling of all processes and of one command (tprof)
  bool kernel_names = false;        // kernel addresses can be resolved
  std::optional<uint64_t> interrupt_ns;
  std::string why_not_measured;           // why it was not measured
  std::optional<uint64_t> open_files;     // the limit
  std::optional<uint64_t> locked_memory;  // the limit in bytes; none if it is unlimited
  std::optional<int> perf_mlock_kb;       // per CPU
  std::optional<int> ptrace_scope;
  std::optional<uint64_t> available_memory;  // bytes
  GroupLimits group;
  Folder working, temporary;
  std::string why_no_msr;   // why registers cannot be read; "" if they can
  std::string large_pages;  // ptm::LargePageSetting
  Attempt kernel_events;    // programs in the kernel that record dispatches (timeline)
  Attempt attaching;        // to a running JVM, as far as the machine permits
  bool root = false;
};

DoctorMachine ReadDoctorMachine();

// Returns one row for each of the above, in the order of a reader's questions.
DoctorChecks CheckMachine(const DoctorMachine& machine);

// Parses cpu.max: "150000 100000"; "max 100000" is no limit.
std::optional<double> ParseCpuLimit(const std::string& text);

}  // namespace jprof::record
