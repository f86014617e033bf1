//@ group overflow
//@ allow healed unmatched
//@ jvm -Xss512k
/**
 * StackOverflowError: HotSpot does not send complete pairs of events for the affected frames, so
 * the profile may correct its stack there; later calls must be exact and at the right level.
 */
final class Overflow {
  static int depth;

  static void endless() {
    ++depth;
    endless();
  }

  static boolean overflow() {
    try {
      endless();
      return false;
    } catch (StackOverflowError e) {
      return true;
    }
  }

  static void leaf() {}

  static void after(int n) {
    for (int i = 0; i < n; ++i) leaf();
  }

  public static void main(String[] args) {
    for (int i = 0; i < 20; ++i) {
      Expect.that(overflow(), "overflow");
      after(1000);
    }
    Expect.calls("Overflow.overflow()Z", 20);
    Expect.calls("Overflow.after(I)V", 20);
    Expect.calls("Overflow.leaf()V", 20_000);
    Expect.path(
        20_000, "Overflow.main([Ljava/lang/String;)V", "Overflow.after(I)V", "Overflow.leaf()V");
  }
}
