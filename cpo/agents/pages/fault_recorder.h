// Records the addresses of all page faults of a process, by the kernel's software event, which
// needs no hardware. A thread of this process reads them while the process runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/result.h"
#include "cpo/model/references.h"
#include "ptm/cpu_sampler.h"

namespace jprof::cpo {

class FaultRecorder {
 public:
  // Begins when the process executes a program; its threads are recorded, too. Fails, with what
  // would permit it, if the kernel refuses.
  static Result<std::unique_ptr<FaultRecorder>> Start(uint32_t pid);
  ~FaultRecorder();
  FaultRecorder(const FaultRecorder&) = delete;

  // Ends the recording and returns the faults of the process in the order of time. Faults of the
  // kernel at its own addresses are left out.
  std::vector<Reference> Finish();
  // Returns how many were lost, because they came faster than they were read, or because there were
  // more than fit into memory. Valid after Finish.
  uint64_t lost() const { return lost_; }
  // Returns which faults this user may not see, or an empty text.
  const std::string& note() const { return sampler_.note(); }

 private:
  FaultRecorder(uint32_t pid, ptm::CpuSampler sampler);
  void Read(int milliseconds);

  const uint32_t pid_;
  ptm::CpuSampler sampler_;
  std::atomic<bool> ends_ = false;
  std::vector<Reference> faults_;
  uint64_t lost_ = 0;
  std::thread thread_;
};

}  // namespace jprof::cpo
