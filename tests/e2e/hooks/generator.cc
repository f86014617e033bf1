// Coroutines of C++20, which have no stack of their own: each resumption is a call.
#include <coroutine>

#include "expect.h"

struct Numbers {
  struct promise_type {
    int value = 0;
    Numbers get_return_object() {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int next) {
      value = next;
      return {};
    }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> handle;
};

static OUT_OF_LINE int Inner(int n) {
  KEEP;
  return n;
}
static Numbers Counts(int from, int count) {
  for (int i = 0; i < count; ++i) co_yield Inner(from + i);
}
static OUT_OF_LINE bool Next(Numbers& numbers) {
  numbers.handle.resume();
  return !numbers.handle.done();
}

int main() {
  Numbers one = Counts(0, 1000), two = Counts(1000, 1000);
  long sum = 0;
  while (Next(one) && Next(two)) sum += one.handle.promise().value + two.handle.promise().value;
  while (Next(two)) sum += two.handle.promise().value;
  one.handle.destroy();
  two.handle.destroy();
  Expect("Inner(int)", 2000);
  return sum == 1999000 ? 0 : 1;
}
