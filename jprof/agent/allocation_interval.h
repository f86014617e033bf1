// The arithmetic of the trigger ALLOCATED_BYTES. Pure: no VM, no object.
//
// The VM samples an object about every N bytes, randomly with a constant rate per byte (JEP 331):
// an object of s bytes with probability 1 - exp(-s / N). It represents s / (1 - exp(-s / N)) bytes,
// the Horvitz-Thompson estimator.
//
// JVMs before JDK 25 get this wrong where objects inside and outside of a thread's allocation
// buffer alternate (JDK-8356372): an allocation outside sets back the distance to the next sample
// by all that was allocated inside since the last one. Objects outside are then sampled too rarely,
// and those inside too often. The error is in proportion to the VM's interval, so such a VM gets a
// short one, and of the objects that it samples the agent keeps as many as the requested interval
// implies.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace jprof::agent {

class AllocationInterval {
 public:
  // `bytes`: the requested interval, not 0.
  AllocationInterval(uint64_t bytes, int java_version)
      : bytes_(bytes), vm_(java_version < kFirstExactJdk ? std::min(bytes, kShort) : bytes) {}

  // The interval for JVMTI.
  uint64_t vm_bytes() const { return vm_; }

  // Whether an object that the VM sampled is a sample. `random`: uniform over all values.
  bool Keeps(uint64_t size, uint64_t random) const {
    if (vm_ == bytes_) return true;
    const double kept = Probability(size, bytes_) / Probability(size, vm_);
    return static_cast<double>(random) < kept * 0x1p64;
  }

  // The number of bytes that a sample of an object of `size` bytes represents.
  int64_t Weight(uint64_t size) const {
    return std::llround(static_cast<double>(size) / Probability(size, bytes_));
  }

 private:
  static constexpr int kFirstExactJdk = 25;
  // With it, the shares of objects of 96, 2,000 and 200,000 bytes are within 1 point of the truth
  // (one thread or ten, every collector); the events cost 2 % of a program that does nothing else.
  static constexpr uint64_t kShort = 32 * 1024;

  static double Probability(uint64_t size, uint64_t interval) {
    return -std::expm1(-static_cast<double>(size) / static_cast<double>(interval));
  }

  uint64_t bytes_, vm_;
};

}  // namespace jprof::agent
