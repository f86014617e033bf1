// Writes what a sampler reports into a tprof recording, and keeps track of the processes that may
// leave files of jitted code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/procfs.h"
#include "profile/sample_log.h"
#include "ptm/cpu_sampler.h"
#include "record/foreign_jit.h"

namespace jprof::record {

// What the recording has of a record, with views of its text and chain; none: a dispatch, which is
// not recorded.
std::optional<profile::SampleEntry> EntryOf(const ptm::SampleRecord& record);

class SampleRecorder {
 public:
  explicit SampleRecorder(profile::SampleWriter& writer) : writer_(writer) {}

  void Add(const ptm::SampleRecord& record);

  // What a process had before sampling began: executable mappings, names of threads.
  void AddExisting(uint32_t pid, const std::string& proc = procfs::kRoot);

  const ForeignJit& foreign_jit() const { return foreign_jit_; }

 private:
  void FollowProcess(const ptm::SampleRecord& record);

  profile::SampleWriter& writer_;
  ForeignJit foreign_jit_;
};

}  // namespace jprof::record
