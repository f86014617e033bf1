// Records which memory a running process refers to, in bursts: the instruction tracer attaches,
// traces for a short time, and detaches. Each burst is traced by a child of this process, which
// writes a log of references (profile/log/memory_log.h) and ends.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace jprof::cpo {

class BurstTracer {
 public:
  // The bursts become files in `folder`, which exists.
  explicit BurstTracer(std::filesystem::path folder) : folder_(std::move(folder)) {}
  // Waits for the burst that is being traced.
  ~BurstTracer();
  BurstTracer(const BurstTracer&) = delete;

  // Begins the next burst of the process, or sees that one has ended. Called repeatedly while the
  // process runs; returns at once.
  void Look(uint32_t pid);
  // Waits for the last burst. Called when the process has ended.
  void Finish();

  // Returns the logs of the bursts, in the order of time, as far as they exist.
  static std::vector<std::filesystem::path> Logs(const std::filesystem::path& folder);
  // Returns why bursts could not be traced, or an empty text.
  std::string Problem() const;

 private:
  void Begin(uint32_t pid);
  bool HasEnded(bool wait);

  const std::filesystem::path folder_;
  pid_t child_ = 0;        // that traces now; 0 if none does
  uint32_t bursts_ = 0;    // begun
  uint64_t began_ns_ = 0;  // the last one
  uint64_t next_ns_ = 0;   // not before
};

}  // namespace jprof::cpo
