// The fallback source of events: JVMTI MethodEntry and MethodExit. Slow (the VM interprets every
// method), but there where HotSpot's probe is not. Method handles are jmethodIDs; all code counts
// as interpreted.
#pragma once

#include <jvmti.h>

#include "common/result.h"
#include "jprof/engine/method_table.h"
#include "jprof/engine/recording.h"

namespace jprof::agent {

class JvmtiSource : public engine::MethodSource {
 public:
  explicit JvmtiSource(jvmtiEnv* jvmti) : jvmti_(jvmti) {}
  bool Describe(uint64_t method, engine::MethodText* text) override;
  MethodType Classify(uint64_t) override { return MethodType::kInterpreted; }
  uint64_t VirtualThreadId(uint64_t) override;

 private:
  jvmtiEnv* jvmti_;
};

// In Agent_OnLoad: asks for the capabilities and names the callbacks.
Result<void> PrepareJvmtiProbe(jvmtiEnv* jvmti, engine::RecordingKind kind, bool train,
                               jvmtiEventCallbacks* callbacks);
// In the live phase: events flow from here on. False: they cannot be had.
bool StartJvmtiProbe(jvmtiEnv* jvmti);

}  // namespace jprof::agent
