// What the programs of tests/e2e/hooks_test.py expect of their profiles, in the form that
// tests/e2e/expectations.py reads. Their functions are named by the program's module.
#pragma once

#include <stdio.h>

#define PLAIN __attribute__((no_instrument_function))
#define OUT_OF_LINE __attribute__((noinline))
// Keeps a call or a loop that has no other effect.
#define KEEP __asm__ volatile("" ::: "memory")

static inline PLAIN void Expect(const char* function, long calls) {
  printf("EXPECT " MODULE ".%s %ld\n", function, calls);
}
static inline PLAIN void ExpectPath(const char* caller, const char* function, long calls) {
  printf("EXPECTPATH " MODULE ".%s > " MODULE ".%s %ld\n", caller, function, calls);
}
static inline PLAIN void ExpectOn(const char* thread, const char* function, long calls) {
  printf("EXPECTTHREAD %s | " MODULE ".%s %ld\n", thread, function, calls);
}
