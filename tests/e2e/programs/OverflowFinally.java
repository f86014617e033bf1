//@ group overflow
//@ allow healed unmatched
//@ jvm -Xss512k
/**
 * Handlers that run at the end of the stack need no stack themselves, and must run as without a
 * profiler; methods that catch the error and return must do so.
 */
final class OverflowFinally {
  static final int TIMES = 40;
  static long entered, left, caught, recovered, pairs;

  static void cleanUp() {
    try {
      ++entered;
      cleanUp();
    } finally {
      ++left;
    }
  }

  static void recover() {
    try {
      recover();
    } catch (StackOverflowError e) {
      ++caught;
    }
  }

  static double value() {
    try {
      return value() + 1;
    } catch (StackOverflowError e) {
      ++recovered;
      return 7;
    }
  }

  // The one that catches is inlined into the one that does not.
  static long outer() {
    return 1 + inner();
  }

  static long inner() {
    try {
      return outer();
    } catch (StackOverflowError e) {
      ++pairs;
      return 0;
    }
  }

  public static void main(String[] args) throws InterruptedException {
    Thread deep = new Thread(null, OverflowFinally::overflow, "deep", 400 << 10);
    deep.start();
    deep.join();
    Expect.that(entered == left, (entered - left) + " finally clauses were skipped");
    Expect.that(caught == TIMES, caught + " errors were caught instead of " + TIMES);
    Expect.that(recovered == TIMES, recovered + " errors were caught instead of " + TIMES);
    Expect.that(pairs == TIMES, pairs + " errors were caught instead of " + TIMES);
    Expect.calls("OverflowFinally.main([Ljava/lang/String;)V", 1);
  }

  static void overflow() {
    for (int i = 0; i < TIMES; ++i) {
      try {
        cleanUp();
      } catch (StackOverflowError e) {
        // Expected.
      }
      recover();
      Expect.that(value() >= 7, "value");
      outer();
    }
  }
}
