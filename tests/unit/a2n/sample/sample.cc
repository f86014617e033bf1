// The sample for image_test: Middle is inlined into Outer, and Inner into Middle. The tests find
// the lines by their marks.
#include <cstdio>

namespace sample {

static volatile int sink = 0;

struct Worker {
  [[gnu::always_inline]] static inline void Inner(int value) {
    sink = value * 3;  // mark: inner
  }
};

[[gnu::always_inline]] static inline void Middle(int value) {
  Worker::Inner(value + 1);  // mark: middle
}

extern "C" [[gnu::noinline, gnu::used]] void OuterOfSample(int value) {
  Middle(value);  // mark: outer
}

[[gnu::noinline, gnu::used]] void Named(int value) { sink = value; }

}  // namespace sample

int main(int argc, char**) {
  sample::OuterOfSample(argc);
  sample::Named(argc);
  std::printf("%d\n", sample::sink);
  return 0;
}
