// The fallback source of events: JVMTI's MethodEntry and MethodExit. It is slow, because the VM
// then interprets every method, but available where HotSpot's probe is not. Methods are identified
// by their jmethodIDs, and all code counts as interpreted.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "jprof/agent/calls/call_source.h"
#include "jprof/engine/method_table.h"

namespace jprof::agent {

// Once events are enabled, a probe must exist until the process ends.
class JvmtiProbe final : public CallSource, public engine::MethodSource {
 public:
  // A message reports `reason`, for which there is no better probe.
  JvmtiProbe(const CallContext& context, const std::string& reason);

  engine::MethodSource& methods() override { return *this; }

  // Call this in Agent_OnLoad. Fails if the VM does not support the events.
  Result<void> AddTo(JvmtiEvents& events) override;
  Result<void> Begin(JNIEnv* jni) override;

  bool Describe(uint64_t method, engine::MethodText* text) override;
  FrameKind Classify(uint64_t) override { return FrameKind::kInterpreted; }
  uint64_t VirtualThreadId(uint64_t) override;

  // Returns a new number, which is not 0, for a virtual thread.
  uint64_t NewVirtualThreadId() { return last_virtual_thread_.fetch_add(1) + 1; }

 private:
  std::string_view Keep(std::string_view name);

  std::atomic<uint64_t> last_virtual_thread_ = 0;
  std::mutex names_lock_;
  std::set<std::string, std::less<>> names_;  // names of described methods, never freed
};

}  // namespace jprof::agent
