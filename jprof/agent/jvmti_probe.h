// The fallback source of events: JVMTI's MethodEntry and MethodExit. Slow, because the VM then
// interprets every method, but available where HotSpot's probe is not. Methods are identified by
// their jmethodIDs; all code counts as interpreted.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "common/result.h"
#include "jprof/agent/jvmti_env.h"
#include "jprof/engine/method_table.h"
#include "jprof/engine/recording.h"

namespace jprof::agent {

// Must exist until the process ends once events are enabled.
class JvmtiProbe : public engine::MethodSource {
 public:
  explicit JvmtiProbe(jvmtiEnv* jvmti) : jvmti_(jvmti) {}

  // Call in Agent_OnLoad: requests the capabilities and adds the events, which stay disabled.
  // Error: the VM does not support them.
  Result<void> AddTo(JvmtiEvents& events, engine::RecordingKind kind, bool train);
  // Call in the live phase: enables the events. Returns false if the VM refuses.
  bool Start();

  bool Describe(uint64_t method, engine::MethodText* text) override;
  MethodType Classify(uint64_t) override { return MethodType::kInterpreted; }
  uint64_t VirtualThreadId(uint64_t) override;

  // Returns a new number for a virtual thread; not 0.
  uint64_t NewVirtualThreadId() { return last_virtual_thread_.fetch_add(1) + 1; }

 private:
  std::string_view Keep(std::string_view name);

  jvmtiEnv* jvmti_;
  std::atomic<uint64_t> last_virtual_thread_ = 0;
  std::mutex names_lock_;
  std::set<std::string, std::less<>> names_;  // of described methods, never freed
};

}  // namespace jprof::agent
