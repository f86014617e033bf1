// What counts the calls of a call tree if the user leaves it open.
#include "jprof/setup/counter_choice.h"

#include <gtest/gtest.h>

#include "options/agent_options.h"

namespace jprof::agent {
namespace {

TEST(CounterChoice, Rule) {
  using enum options::Counter;
  const struct {
    const char* text;
    int java;
    bool attached;
    options::Counter counter;
  } cases[] = {
      {"calltree", 17, false, kProbe},
      {"calltree", 25, false, kProbe},
      {"calltree", 23, true, kProbe},
      {"calltree", 24, true, kWoven},
      {"calltree,sample", 17, false, kWoven},
      {"calltree,focus=app", 17, false, kWoven},
      {"calltree,counter=woven", 17, false, kWoven},
      {"calltree,sample,counter=probe", 17, false, kProbe},
      {"calltree,sample,probe=hotspot", 17, false, kProbe},
      {"calltree,focus=app,keep_intrinsics", 17, false, kProbe},
      {"calltree,sample,hooks=yes", 17, false, kProbe},
      {"calltree,sample,tree_memory=15G", 17, false, kProbe},
  };
  for (const auto& [text, java, attached, counter] : cases) {
    const auto options = options::ParseAgentOptions(text, "");
    ASSERT_TRUE(options) << text;
    const setup::CounterChoice choice = setup::ChooseCounter(*options, java, attached);
    EXPECT_EQ(choice.counter, counter) << text;
    EXPECT_FALSE(choice.why.empty()) << text;
  }
}

TEST(CounterChoice, WhatWovenCountingExcludes) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"callflow,counter=woven", "COUNTER needs CALLTREE"},
      {"scs,counter=probe", "COUNTER needs CALLTREE"},
      {"calltree,counter=woven,probe=hotspot", "PROBE: no probes are used"},
      {"calltree,counter=woven,keep_intrinsics", "KEEP_INTRINSICS: no probes are used"},
      {"calltree,counter=woven,train", "TRAIN: no probes are used"},
      {"calltree,counter=woven,hooks=yes", "HOOKS: functions of C and C++"},
      {"calltree,counter=woven,tree_memory=15G", "TREE_MEMORY: woven counters have at most 14G"},
      {"calltree,counter=both", "COUNTER"},
  };
  for (const auto& [text, message] : cases) {
    const auto options = options::ParseAgentOptions(text, "");
    ASSERT_FALSE(options) << text;
    EXPECT_TRUE(options.error().message.starts_with(message)) << options.error().message;
  }
}

}  // namespace
}  // namespace jprof::agent
