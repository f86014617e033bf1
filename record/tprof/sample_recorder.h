// Writes the records of a sampler into a tprof recording, and tracks the processes that may write
// files of jitted code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/procfs.h"
#include "profile/log/sample_log.h"
#include "ptm/cpu_sampler.h"
#include "record/tprof/foreign_jit.h"

namespace jprof::record {

// Converts a record for the recording; text and chain are views of it. Returns nothing for a
// dispatch, which is not recorded, and for lost samples, which are only counted.
std::optional<profile::SampleEntry> EntryOf(const ptm::SampleRecord& record);

class SampleRecorder {
 public:
  explicit SampleRecorder(profile::SampleWriter& writer) : writer_(writer) {}

  void Add(const ptm::SampleRecord& record);

  // Records the state of a process before sampling: executable mappings and names of threads.
  void AddExisting(uint32_t pid, const std::string& proc = procfs::kRoot);

  const ForeignJit& foreign_jit() const { return foreign_jit_; }

 private:
  void FollowProcess(const ptm::SampleRecord& record);

  profile::SampleWriter& writer_;
  ForeignJit foreign_jit_;
};

}  // namespace jprof::record
