#include "jprof/setup/counter_choice.h"

#include "options/late_calls.h"

namespace jprof::setup {

CounterChoice ChooseCounter(const options::AgentOptions& options, int java_version, bool attached) {
  using enum options::Counter;
  if (options.counter != kAuto) return {options.counter, "as requested"};
  if (options.probe != options::ProbeChoice::kAuto) return {kProbe, "PROBE names a probe"};
  if (options.keep_intrinsics) return {kProbe, "KEEP_INTRINSICS is about probes"};
  if (options.hooks == options::Hooks::kYes)
    return {kProbe, "HOOKS records functions of C and C++ as well"};
  if (!options.within.Empty()) return {kProbe, "WITHIN needs probes"};
  if (!options.start && options.triggers.empty()) return {kProbe, "NOSTART needs probes"};
  if (options.removed) return {kWoven, "REMOVED compares with what the bytecode asks for"};
  if (!options.label_from.empty()) return {kWoven, "LABEL_FROM changes the methods that it names"};
  if (options.train) return {kProbe, "TRAIN measures probes"};
  if (options.tree_memory > options::kMostWovenTree) return {kProbe, "the tree may exceed 14 GiB"};
  if (attached && java_version > options::kLastJdkWithLateCalls)
    return {kWoven, "probes cannot be installed in a running JVM of JDK 24 and later"};
  if (!options.triggers.empty()) return {kWoven, "it changes the sampled times least"};
  if (options.mode == options::Mode::kObjects)
    return {kWoven, "it keeps the optimisations that remove allocations"};
  if (!options.focus.Empty()) return {kWoven, "methods out of focus run as without a profiler"};
  return {kProbe, "all methods are counted, native ones too"};
}

}  // namespace jprof::setup
