// The profile most report tests look at: two threads, recursion, a method that is compiled on the way, a static
// method, an exception-like exit, a call still open.
#pragma once

#include "tests/unit/profile/synthetic_profile.h"

namespace jprof::reports {

inline profile::SyntheticProfile DemoProfile() {
  using enum MethodType;
  profile::SyntheticProfile demo;
  const uint32_t main = demo.AddMethod("Demo", "main", "([Ljava/lang/String;)V", profile::kMethodStatic);
  const uint32_t fib = demo.AddMethod("Demo", "fib", "(I)I", profile::kMethodStatic);
  const uint32_t append = demo.AddMethod("java/lang/StringBuffer", "append", "(J)Ljava/lang/StringBuffer;");
  const uint32_t read = demo.AddMethod("java/io/FileInputStream", "read0", "()I", profile::kMethodNative);

  const size_t worker = demo.AddThread("worker", 101);
  demo.Enter(worker, read, kNative, 10);
  demo.Exit(worker, 500);

  const size_t thread = demo.AddThread("main", 100);
  demo.Enter(thread, main, kInterpreted, 100);
  for (int i = 0; i < 3; ++i) {
    const MethodType tier = i == 0 ? kInterpreted : kJitted;  // append is compiled after its first call
    demo.Enter(thread, append, tier, 20);
    demo.Exit(thread, 1000);
  }
  demo.Enter(thread, fib, kRejitted, 30);
  demo.Enter(thread, fib, kRejitted, 5);
  demo.Enter(thread, fib, kRejitted, 5);
  demo.Exit(thread, 7);
  demo.Exit(thread, 3);
  demo.Exit(thread, 2);
  demo.Enter(thread, read, kNative, 40);  // has not returned
  demo.Current(thread).dispatches = 2;
  demo.threads[worker].healed = 1;
  return demo;
}

}  // namespace jprof::reports
