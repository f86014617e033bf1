#include "jprof/hotspot/objects/allocation_probe.h"

#include <gtest/gtest.h>

namespace jprof::hotspot {
namespace {

TEST(AllocationProbe, TheNameOfAFunctionStatesItsArguments) {
  const struct {
    const char* name;
    std::optional<AllocationArguments> arguments;
  } cases[] = {
      // JDK 17: the size is an int, which compiled code does not pass.
      {"_ZN13SharedRuntime19dtrace_object_allocEP7oopDesci", AllocationArguments{}},
      {"_ZN13SharedRuntime24dtrace_object_alloc_baseEP6ThreadP7oopDesci",
       AllocationArguments{.has_thread = true}},
      // JDK 21 and later.
      {"_ZN13SharedRuntime19dtrace_object_allocEP7oopDesc", AllocationArguments{}},
      {"_ZN13SharedRuntime19dtrace_object_allocEP10JavaThreadP7oopDesc",
       AllocationArguments{.has_thread = true}},
      {"_ZN13SharedRuntime19dtrace_object_allocEP10JavaThreadP7oopDescm",
       AllocationArguments{.has_thread = true, .has_size = true}},
      // Others.
      {"_ZN13SharedRuntime19dtrace_object_allocEP10JavaThreadP7oopDescmb", std::nullopt},
      {"_ZN13SharedRuntime19dtrace_object_allocEv", std::nullopt},
      {"_ZN11OptoRuntime24dtrace_object_alloc_TypeEv", std::nullopt},
  };
  for (const auto& [name, arguments] : cases) EXPECT_EQ(ArgumentsOf(name), arguments) << name;
}

}  // namespace
}  // namespace jprof::hotspot
