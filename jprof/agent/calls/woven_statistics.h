// Counts what is woven and names in the profile what could not be. Thread-safe once begun.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "jprof/agent/calls/uncounted.h"
#include "jprof/weave/weave.h"

namespace jprof::agent {

// Replaces the name of a class whose name the VM does not report.
inline constexpr std::string_view kUnnamedClass = "(unnamed)";

class WovenStatistics {
 public:
  // `header`, which is that of the profile, must outlive the object.
  void Begin(profile::ControlHeader& header) { uncounted_.emplace(header); }
  // Makes classes be counted without their names from now on, because the recording ends.
  void End() { ended_ = true; }

  void AddWoven(const weave::Woven& woven);
  // Adds the methods of a class that were skipped.
  void AddSkipped(const weave::Woven& woven, std::string_view class_name);
  // Adds a class that cannot be woven.
  void AddFailed(std::string_view class_name);
  // Adds a class that the VM refuses to replace.
  void AddRefused(jvmtiEnv* jvmti, jclass refused);
  void AddTime(uint64_t ns) { nanoseconds_ += ns; }

  // Returns one line about what was woven so far.
  std::string Summary() const;

 private:
  std::atomic<uint64_t> classes_ = 0;   // woven classes
  std::atomic<uint64_t> methods_ = 0;   // methods that count
  std::atomic<uint64_t> skipped_ = 0;   // methods that were to be woven but were too large
  std::atomic<uint64_t> siteless_ = 0;  // woven methods without the sites that were requested
  std::atomic<uint64_t> failed_ = 0;    // classes that could not be parsed, or that the VM refuses
  std::atomic<uint64_t> nanoseconds_ = 0;
  std::atomic<bool> ended_ = false;
  std::optional<Uncounted> uncounted_;  // set by Begin
};

}  // namespace jprof::agent
