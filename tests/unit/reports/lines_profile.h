// Makes profiles with source lines.
#pragma once

#include "tests/unit/profile/synthetic_profile.h"

namespace jprof::profile {

// run calls `leaf` twice at line 10 and once at 12, and itself at 14.
inline SyntheticProfile CountedLines() {
  SyntheticProfile profile;
  profile.meta = R"({"mode":"calltree","options":{"sites":true},"metrics":[],"cwd":"/nowhere"})";
  const MethodId run = profile.AddMethod("app/Main", "run", "()V");
  const MethodId leaf = profile.AddMethod("app/Main", "leaf", "()V");
  const auto site = [&](const char* name) {
    return profile.AddMethod("Main.java", name, "", kMethodSite);
  };
  const MethodId first = site("3:10"), second = site("6:10"), third = site("9:12"),
                 again = site("12:14");
  const size_t thread = profile.AddThread("main", 1);
  const auto call = [&](MethodId at, MethodId method) {
    profile.site = at;
    profile.Enter(thread, method, FrameKind::kInterpreted, 1);
  };
  call(kRootMethod, run);
  for (int depth = 0; depth < 2; ++depth) {
    for (const MethodId at : {first, first, second, third}) {
      call(at, leaf);
      profile.Exit(thread, 1);
    }
    if (depth == 0) call(again, run);
  }
  profile.Exit(thread, 1);
  profile.Exit(thread, 1);
  return profile;
}

// Samples: 5 at line 10 of run and 3 below it; run calls itself at line 14, and has 4 and 2 there.
inline SyntheticProfile SampledLines() {
  SyntheticProfile profile;
  profile.meta =
      R"({"mode":"scs","options":{"sites":true},"metrics":[{"name":"cpu","unit":"samples","scale":1,
"kind":"samples","period":1000000,"period_unit":"ns"}]})";
  const MethodId run = profile.AddMethod("app/Main", "run", "()V");
  const MethodId leaf = profile.AddMethod("app/Main", "leaf", "()V");
  const MethodId ten = profile.AddMethod("Main.java", "3:10", "", kMethodSite);
  const MethodId fourteen = profile.AddMethod("Main.java", "9:14", "", kMethodSite);
  profile.AddThread("main", 1);
  const auto add = [&](FrameKind kind, MethodId method, uint32_t parent, int64_t samples) {
    const uint32_t node = profile.AddNode(PackMethod(kind, method), parent);
    profile.nodes[node].self = samples;
    return node;
  };
  const uint32_t outer = add(FrameKind::kRejitted, run, 1, 0);
  const uint32_t at_ten = add(FrameKind::kSite, ten, outer, 5);
  add(FrameKind::kInlined, leaf, at_ten, 3);
  const uint32_t at_fourteen = add(FrameKind::kSite, fourteen, outer, 0);
  const uint32_t inner = add(FrameKind::kRejitted, run, at_fourteen, 0);
  add(FrameKind::kSite, fourteen, inner, 4);
  add(FrameKind::kSite, ten, inner, 2);
  return profile;
}

}  // namespace jprof::profile
