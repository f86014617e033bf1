//@ group natives
//@ native
/**
 * The tests' JNI library: plain natives, up-calls, exceptions both ways, many arguments,
 * synchronized natives.
 */
final class Natives {
  static native void nop();

  native int add(int a, int b);

  static native double mix(int a, double b, long c, float d, int e, double f, long g, float h, int i, double j);

  static native synchronized int locked(int a);

  /** Calls {@link #back} n times. */
  native void callBack(int n);

  /** Throws without calling Java (ThrowNew makes the exception). */
  static native void throwing();

  /** Calls {@link #backThrows}, lets the exception pass. */
  static native void passing();

  /** Calls {@link #backThrows}, clears the exception. Returns 1 if there was one. */
  static native int clearing();

  /** Bound by RegisterNatives. */
  static native long registered(long x);

  /** Java -> native -> Java ..., n levels of each. */
  static native int ladder(int n);

  static int rung(int n) {
    return n == 0 ? 0 : 1 + ladder(n - 1);
  }

  int backs;

  void back(int i) {
    backs += i >= 0 ? 1 : 0;
  }

  static void backThrows() {
    throw new UnsupportedOperationException();
  }

  static int caught;

  static void catching() {
    try {
      throwing();
    } catch (IllegalStateException e) {
      ++caught;
    }
    try {
      passing();
    } catch (UnsupportedOperationException e) {
      ++caught;
    }
    caught += clearing();
  }

  public static void main(String[] args) {
    System.loadLibrary("e2e_native");
    int n = 20_000;
    Natives natives = new Natives();
    int sum = 0;
    for (int i = 0; i < n; ++i) {
      nop();
      sum += natives.add(i, 1) - i;
      sum += locked(1);
      sum += (int) registered(1L);
      double mixed = mix(1, 2.0, 3L, 4.0f, 5, 6.0, 7L, 8.0f, 9, 10.0);
      if (mixed != 55.0) Expect.that(false, "mix");
    }
    Expect.that(sum == 3 * n, "sum");
    for (int i = 0; i < 100; ++i) natives.callBack(100);
    Expect.that(natives.backs == 10_000, "backs");
    for (int i = 0; i < 5_000; ++i) catching();
    Expect.that(caught == 15_000, "caught");
    for (int i = 0; i < 100; ++i) Expect.that(rung(50) == 50, "ladder");

    Expect.calls("Natives.nop()V", n);
    Expect.calls("Natives.add(II)I", n);
    Expect.calls("Natives.mix(IDJFIDJFID)D", n);
    Expect.calls("Natives.locked(I)I", n);
    Expect.calls("Natives.registered(J)J", n);
    Expect.calls("Natives.callBack(I)V", 100);
    Expect.calls("Natives.back(I)V", 10_000);
    Expect.path(
        10_000, "Natives.main([Ljava/lang/String;)V", "Natives.callBack(I)V", "Natives.back(I)V");
    Expect.calls("Natives.throwing()V", 5_000);
    Expect.calls("Natives.passing()V", 5_000);
    Expect.calls("Natives.clearing()I", 5_000);
    Expect.calls("Natives.backThrows()V", 10_000);
    Expect.path(5_000, "Natives.catching()V", "Natives.passing()V", "Natives.backThrows()V");
    Expect.path(5_000, "Natives.catching()V", "Natives.clearing()I", "Natives.backThrows()V");
    Expect.calls("Natives.rung(I)I", 5_100);
    Expect.calls("Natives.ladder(I)I", 5_000);
  }
}
