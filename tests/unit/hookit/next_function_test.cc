// Functions that a library replaces, in the library behind it.
#include "jprof/hookit/next_function.h"

#include <gtest/gtest.h>

namespace jprof {
namespace {

TEST(NextFunction, HasTheVersionIfThatExists) {
  const char* const name = "pthread_cond_wait";
  void* const known = dlsym(RTLD_NEXT, name);
  EXPECT_EQ(NextFunction<void()>(name).Look(), known);
  EXPECT_EQ(NextFunction<void()>(name, "GLIBC_0.1").Look(), known);
#if defined(__x86_64__) && defined(__GLIBC__)
  void* const first = NextFunction<void()>(name, "GLIBC_2.2.5").Look();
  EXPECT_EQ(first, dlvsym(RTLD_NEXT, name, "GLIBC_2.2.5"));
  EXPECT_NE(first, NextFunction<void()>(name, "GLIBC_2.3.2").Look());
#endif
}

}  // namespace
}  // namespace jprof
