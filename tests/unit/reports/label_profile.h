// A small profile with labels, for the tests of their report.
#pragma once

#include <string>

#include "tests/unit/reports/sampled_profile.h"

namespace jprof::reports {

// main calls find once without a label, and below two labels, of which one is nested in the other.
// `evil` is a part of a text, and `metric` describes the metric, if there is one.
inline profile::SyntheticProfile ProfileOfLabels(const std::string& evil = "",
                                                 const std::string& metric = "") {
  using enum FrameKind;
  profile::SyntheticProfile made;
  made.meta = SampledMeta(metric, "calltree");
  made.header.metric_count = metric.empty() ? 0 : 1;
  const profile::MethodId main = made.AddMethod("Shop", "main", "()V");
  const profile::MethodId find = made.AddMethod("Shop", "find", "(I)V");
  const profile::MethodId cart =
      made.AddMethod("label", "GET /cart" + evil, "", profile::kMethodLabel);
  const profile::MethodId part = made.AddMethod("label", "part", "", profile::kMethodLabel);
  const uint32_t root = made.threads[made.AddThread("main", 100)].root;
  const auto add = [&](profile::MethodId method, FrameKind kind, uint32_t parent, uint32_t calls) {
    const uint32_t node = made.AddNode(profile::PackMethod(kind, method), parent);
    made.nodes[node].entries[0] = calls;
    return node;
  };
  const uint32_t top = add(main, kWoven, root, 1);
  add(find, kWoven, top, 1);
  const uint32_t outer = add(cart, kLabel, top, 10);
  add(find, kWoven, outer, 1010);
  const uint32_t inner = add(part, kLabel, add(main, kWoven, outer, 5), 5);
  add(find, kWoven, inner, 20);
  return made;
}

}  // namespace jprof::reports
