// C++ exceptions: through several frames, nested, rethrown, out of constructors, with destructors
// that run meanwhile; and what is called afterwards from frames of other sizes.
#include <exception>
#include <stdexcept>

#include "expect.h"

namespace {

constexpr int kRounds = 500;
volatile long leaf_calls = 0;

OUT_OF_LINE void Leaf() { leaf_calls = leaf_calls + 1; }
OUT_OF_LINE void Small() { Leaf(); }
OUT_OF_LINE void Big() {
  volatile char room[3000];
  room[0] = 1;
  Leaf();
}
OUT_OF_LINE void Throws(int value) {
  if (value >= 0) throw value;
}
OUT_OF_LINE void Deep(int more) {
  volatile char room[64];
  room[0] = 1;
  if (more == 0) {
    Throws(1);
  } else {
    Deep(more - 1);
  }
  KEEP;
}
OUT_OF_LINE void Catches(int depth) {
  try {
    Deep(depth);
  } catch (int) {
    Small();
    Big();
  }
  Big();
  Small();
}
OUT_OF_LINE void CatchesAtOnce() {
  try {
    Throws(2);
  } catch (int) {
    Small();
  }
  Big();
}

OUT_OF_LINE void Rethrows() {
  try {
    Throws(3);
  } catch (int) {
    Small();
    throw;
  }
}
OUT_OF_LINE void Nested() {
  try {
    try {
      Rethrows();
    } catch (int value) {
      Big();
      throw std::runtime_error("other");
    }
  } catch (const std::exception&) {
    Small();
    try {
      Throws(4);
    } catch (...) {
      Big();
    }
  }
  Small();
}

struct Guard {
  OUT_OF_LINE Guard() { Small(); }
  OUT_OF_LINE ~Guard() { Big(); }
};
struct Broken {
  Guard guard;
  OUT_OF_LINE Broken() { Throws(5); }
};
OUT_OF_LINE void Constructs() {
  const Guard before;
  const Broken broken;
  KEEP;
}
OUT_OF_LINE void CatchesConstructor() {
  try {
    Constructs();
  } catch (int) {
    Small();
  }
  Big();
}

OUT_OF_LINE void Keeps() {
  std::exception_ptr kept;
  try {
    Throws(6);
  } catch (...) {
    kept = std::current_exception();
  }
  try {
    std::rethrow_exception(kept);
  } catch (int) {
    Big();
  }
  Small();
}

}  // namespace

int main() {
  for (int i = 0; i < kRounds; ++i) {
    Catches(i % 5);
    CatchesAtOnce();
    Nested();
    CatchesConstructor();
    Keeps();
  }
  const char* const kSmall = "(anonymous namespace)::Small()";
  const char* const kBig = "(anonymous namespace)::Big()";
  const auto calls = [&](const char* caller, long small, long big) PLAIN {
    ExpectPath(caller, kSmall, small * kRounds);
    ExpectPath(caller, kBig, big * kRounds);
  };
  calls("(anonymous namespace)::Catches(int)", 2, 2);
  calls("(anonymous namespace)::CatchesAtOnce()", 1, 1);
  calls("(anonymous namespace)::Nested()", 2, 2);
  calls("(anonymous namespace)::CatchesConstructor()", 1, 1);
  calls("(anonymous namespace)::Keeps()", 1, 1);
  ExpectPath("(anonymous namespace)::Rethrows()", kSmall, kRounds);
  ExpectPath("(anonymous namespace)::Guard::Guard()", kSmall, 2 * kRounds);
  // Destructors of what is left by an exception: of a part of an object, and of a variable.
  const char* const kDestructor = "(anonymous namespace)::Guard::~Guard()";
  ExpectPath("(anonymous namespace)::Broken::Broken()", kDestructor, kRounds);
  ExpectPath("(anonymous namespace)::Constructs()", kDestructor, kRounds);
  ExpectPath(kDestructor, kBig, 2 * kRounds);
  ExpectPath(kSmall, "(anonymous namespace)::Leaf()", 10 * kRounds);
  ExpectPath(kBig, "(anonymous namespace)::Leaf()", 9 * kRounds);
  ExpectPath("main", "(anonymous namespace)::Catches(int)", kRounds);
  ExpectPath("main", "(anonymous namespace)::Keeps()", kRounds);
  Expect("(anonymous namespace)::Throws(int)", 6 * kRounds);
  Expect("(anonymous namespace)::Leaf()", leaf_calls);
  return 0;
}
