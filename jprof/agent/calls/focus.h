// Selects the methods that are recorded (CLASSMETHODS=) and those that are compiled with probes
// (FOCUS=).
#pragma once

#include <jni.h>

#include "jprof/agent/vm/jdk_packages.h"
#include "jprof/engine/method_table.h"
#include "options/agent_options.h"

namespace jprof::agent {

class Focus {
 public:
  // `options` must exist as long as the object.
  explicit Focus(const options::AgentOptions& options) : options_(options) {}

  // Returns a filter of the recorded methods, which is empty if all are recorded. Probes and
  // compiler threads call it; the object must outlive it.
  engine::MethodTable::Filter MethodFilter() const;

  // Reads the JDK's packages and the address range of the interpreter. Does nothing without FOCUS.
  // Call this in VMInit or in a running JVM.
  void Begin(JNIEnv* jni);

 private:
  const options::AgentOptions& options_;
  JdkPackages packages_;
};

}  // namespace jprof::agent
