//@ group exceptions
/**
 * Exceptions that the JVM raises itself: null, zero division, bounds, store, cast, negative size,
 * in hot code.
 */
final class Implicit {
  int field = 1;

  static int nullField(Implicit o) {
    return o.field;
  }

  int virtualCall() {
    return field;
  }

  static int nullCall(Implicit o) {
    return o.virtualCall();
  }

  static int divide(int a, int b) {
    return a / b;
  }

  static int bounds(int[] a, int i) {
    return a[i];
  }

  static void store(Object[] a, Object value) {
    a[0] = value;
  }

  static String cast(Object o) {
    return (String) o;
  }

  static int[] negative(int size) {
    return new int[size];
  }

  static void unlock(Object o) {
    synchronized (o) {
      held();
    }
  }

  static void held() {}

  static int outer(int i) {
    return nullField(i % 10 == 0 ? null : INSTANCE);
  }

  static void monitorState(Object o) {
    o.notify();
  }

  static final Implicit INSTANCE = new Implicit();
  static int[] kinds = new int[8];

  static void once(int i) {
    boolean bad = i % 10 == 0;
    try {
      outer(i);
    } catch (NullPointerException e) {
      ++kinds[0];
    }
    try {
      nullCall(bad ? null : INSTANCE);
    } catch (NullPointerException e) {
      ++kinds[1];
    }
    try {
      divide(7, bad ? 0 : 7);
    } catch (ArithmeticException e) {
      ++kinds[2];
    }
    try {
      bounds(new int[] {1, 2}, bad ? 2 : 1);
    } catch (ArrayIndexOutOfBoundsException e) {
      ++kinds[3];
    }
    try {
      store(new String[1], bad ? INSTANCE : "s");
    } catch (ArrayStoreException e) {
      ++kinds[4];
    }
    try {
      cast(bad ? INSTANCE : "s");
    } catch (ClassCastException e) {
      ++kinds[5];
    }
    try {
      negative(bad ? -1 : 1);
    } catch (NegativeArraySizeException e) {
      ++kinds[6];
    }
    try {
      unlock(bad ? null : INSTANCE);
    } catch (NullPointerException e) {
      ++kinds[7];
    }
  }

  public static void main(String[] args) {
    int n = 60_000;
    for (int i = 0; i < n; ++i) once(i);
    for (int kind : kinds) Expect.that(kind == n / 10, "caught " + kind);
    int illegal = 0;
    for (int i = 0; i < 1000; ++i) {
      try {
        monitorState(INSTANCE);
      } catch (IllegalMonitorStateException e) {
        ++illegal;
      }
    }
    Expect.that(illegal == 1000, "monitor");
    Expect.calls("Implicit.once(I)V", n);
    Expect.calls("Implicit.outer(I)I", n);
    Expect.calls("Implicit.nullField(LImplicit;)I", n);
    Expect.calls("Implicit.nullCall(LImplicit;)I", n);
    Expect.calls("Implicit.virtualCall()I", n - n / 10);
    Expect.calls("Implicit.divide(II)I", n);
    Expect.calls("Implicit.bounds([II)I", n);
    Expect.calls("Implicit.store([Ljava/lang/Object;Ljava/lang/Object;)V", n);
    Expect.calls("Implicit.cast(Ljava/lang/Object;)Ljava/lang/String;", n);
    Expect.calls("Implicit.negative(I)[I", n);
    Expect.calls("Implicit.unlock(Ljava/lang/Object;)V", n);
    Expect.calls("Implicit.held()V", n - n / 10);
    Expect.calls("Implicit.monitorState(Ljava/lang/Object;)V", 1000);
    Expect.path(n, "Implicit.once(I)V", "Implicit.outer(I)I", "Implicit.nullField(LImplicit;)I");
  }
}
