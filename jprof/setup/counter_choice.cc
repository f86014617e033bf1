#include "jprof/setup/counter_choice.h"

#include "options/late_calls.h"

namespace jprof::agent {

CounterChoice ChooseCounter(const AgentOptions& options, int java_version, bool attached) {
  using enum Counter;
  if (options.counter != kAuto) return {options.counter, "as requested"};
  if (options.probe != ProbeChoice::kAuto) return {kProbe, "PROBE names a probe"};
  if (options.keep_intrinsics) return {kProbe, "KEEP_INTRINSICS is about probes"};
  if (options.hooks == Hooks::kYes) return {kProbe, "HOOKS records functions of C and C++ as well"};
  if (options.train) return {kProbe, "TRAIN measures probes"};
  if (options.tree_memory > kMostWovenTree) return {kProbe, "the tree may exceed 14 GiB"};
  if (attached && java_version > kLastJdkWithLateCalls)
    return {kWoven, "probes cannot be installed in a running JVM of JDK 24 and later"};
  if (!options.triggers.empty()) return {kWoven, "it changes the sampled times least"};
  if (!options.focus.Empty()) return {kWoven, "methods out of focus run as without a profiler"};
  return {kProbe, "all methods are counted, native ones too"};
}

}  // namespace jprof::agent
