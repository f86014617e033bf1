// Chooses what counts the calls of a call tree, if the user leaves it open (COUNTER=auto).
#pragma once

#include <string_view>

#include "options/agent_options.h"

namespace jprof::setup {

struct CounterChoice {
  options::Counter counter = options::Counter::kProbe;  // not kAuto
  std::string_view why;
};

// Returns the counter of CALLTREE with these options, by the rule of docs/WOVEN.md. `java_version`
// is that of the JVM, and `attached` is whether the recording begins in a running JVM.
CounterChoice ChooseCounter(const options::AgentOptions& options, int java_version, bool attached);

}  // namespace jprof::setup
