// Computes the intervals and weights of the trigger ALLOCATED_BYTES. Does not use the VM.
//
// The VM samples an object every N bytes on average (profile/files/allocation_sample.h).
//
// JVMs before JDK 25 get this wrong where objects inside and outside of a thread's allocation
// buffer alternate (JDK-8356372): an allocation outside sets back the distance to the next sample
// by all that was allocated inside since the last one. Objects outside are then sampled too rarely,
// and those inside too often. The error is proportional to the VM's interval, so such a VM gets a
// short one, and the agent keeps only the fraction of the sampled objects that the requested
// interval implies.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "profile/files/allocation_sample.h"

namespace jprof::agent {

class AllocationInterval {
 public:
  // Requires that `bytes`, the requested interval, is not 0.
  AllocationInterval(uint64_t bytes, int java_version)
      : bytes_(bytes), vm_(java_version < kFirstExactJdk ? std::min(bytes, kShort) : bytes) {}

  // Returns the interval to request from JVMTI.
  uint64_t vm_bytes() const { return vm_; }

  // Returns whether to keep an object that the VM sampled. Requires that `random` is uniformly
  // distributed over all values.
  bool Keeps(uint64_t size, uint64_t random) const {
    if (vm_ == bytes_) return true;
    const double kept =
        profile::SampledProbability(size, bytes_) / profile::SampledProbability(size, vm_);
    return static_cast<double>(random) < kept * 0x1p64;
  }

  // Returns the number of bytes that a sample of an object of `size` bytes represents.
  int64_t Weight(uint64_t size) const {
    return std::llround(static_cast<double>(size) / profile::SampledProbability(size, bytes_));
  }

 private:
  static constexpr int kFirstExactJdk = 25;
  // The longest interval of the VM on JVMs before JDK 25. With it, the shares of objects of 104,
  // 2,000 and 200,000 bytes are within 1 point of the truth (one thread or ten, every collector).
  // The events cost a program that only allocates 2 % of its time.
  static constexpr uint64_t kShort = 32 * 1024;

  uint64_t bytes_, vm_;
};

}  // namespace jprof::agent
