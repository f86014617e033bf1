package jprof.lab;

/**
 * Programs of known work, counted by this thread's own counter: after a warm-up, CALLS turns of the kind in half() and
 * twice as many in full(), each between two readings. Prints "known KIND CALLS HALF FULL": without probes, FULL - HALF is
 * what CALLS turns execute, to the instruction. Arguments: the native library, kind, calls, turns of 32 to warm up.
 */
public final class Known {
  private interface Work {
    long turn(long x);
  }

  private static native void open();

  private static native long count();

  private static long sink;

  // Tiny calls: nothing but calling.
  private static long tiny(long x) {
    return one(x) + two(x) + one(x + 1);
  }

  private static long one(long x) {
    return x + 1;
  }

  private static long two(long x) {
    return x ^ 2;
  }

  // Mixed: recursion, an interface with two implementations, objects, arrays, a native now and then.
  private static final Work[] WORKS = {x -> x * 3 + 1, x -> (x >>> 1) + 7};
  private static final int[] TABLE = new int[64];

  private static long mixed(long x) {
    long sum = fibonacci(4) + WORKS[(int) (x & 1)].turn(x) + scan(12);
    if ((x & 15) == 0) {
      sum += new int[] {(int) x, 2}.clone().length + Runtime.getRuntime().availableProcessors();
    }
    return sum;
  }

  private static int fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
  }

  private static int scan(int n) {
    int sum = 0;
    for (int i = 0; i < n; ++i) {
      sum += TABLE[i] ^ i;
    }
    return sum;
  }

  // Long: some 1,000 operations a call.
  private static long longer(long x) {
    return scan(64) + churn(x, 200);
  }

  private static long churn(long x, int n) {
    for (int i = 0; i < n; ++i) {
      x ^= x << 13;
      x ^= x >>> 7;
      x ^= x << 17;
    }
    return x;
  }

  // Straight-line methods.
  private static long line32(long x) {
    x ^= x << 13; x ^= x >>> 7; x ^= x << 17; x += 3; x ^= x << 5; x ^= x >>> 9; x ^= x << 21; x += 5;
    x ^= x << 11; x ^= x >>> 3; x ^= x << 19; x += 7; x ^= x << 23; x ^= x >>> 8; x ^= x << 15; x += 9;
    x ^= x << 13; x ^= x >>> 7; x ^= x << 17; x += 3; x ^= x << 5; x ^= x >>> 9; x ^= x << 21; x += 5;
    x ^= x << 11; x ^= x >>> 3; x ^= x << 19; x += 7; x ^= x << 23; x ^= x >>> 8; x ^= x << 15; x += 9;
    return x;
  }

  private static long line128(long x) {
    x ^= x << 13; x ^= x >>> 7; x ^= x << 17; x += 3; x ^= x << 5; x ^= x >>> 9; x ^= x << 21; x += 5;
    x ^= x << 11; x ^= x >>> 3; x ^= x << 19; x += 7; x ^= x << 23; x ^= x >>> 8; x ^= x << 15; x += 9;
    x ^= x << 13; x ^= x >>> 7; x ^= x << 17; x += 3; x ^= x << 5; x ^= x >>> 9; x ^= x << 21; x += 5;
    x ^= x << 11; x ^= x >>> 3; x ^= x << 19; x += 7; x ^= x << 23; x ^= x >>> 8; x ^= x << 15; x += 9;
    x ^= x << 13; x ^= x >>> 7; x ^= x << 17; x += 3; x ^= x << 5; x ^= x >>> 9; x ^= x << 21; x += 5;
    x ^= x << 11; x ^= x >>> 3; x ^= x << 19; x += 7; x ^= x << 23; x ^= x >>> 8; x ^= x << 15; x += 9;
    x ^= x << 13; x ^= x >>> 7; x ^= x << 17; x += 3; x ^= x << 5; x ^= x >>> 9; x ^= x << 21; x += 5;
    x ^= x << 11; x ^= x >>> 3; x ^= x << 19; x += 7; x ^= x << 23; x ^= x >>> 8; x ^= x << 15; x += 9;
    x ^= x << 13; x ^= x >>> 7; x ^= x << 17; x += 3; x ^= x << 5; x ^= x >>> 9; x ^= x << 21; x += 5;
    x ^= x << 11; x ^= x >>> 3; x ^= x << 19; x += 7; x ^= x << 23; x ^= x >>> 8; x ^= x << 15; x += 9;
    x ^= x << 13; x ^= x >>> 7; x ^= x << 17; x += 3; x ^= x << 5; x ^= x >>> 9; x ^= x << 21; x += 5;
    x ^= x << 11; x ^= x >>> 3; x ^= x << 19; x += 7; x ^= x << 23; x ^= x >>> 8; x ^= x << 15; x += 9;
    x ^= x << 13; x ^= x >>> 7; x ^= x << 17; x += 3; x ^= x << 5; x ^= x >>> 9; x ^= x << 21; x += 5;
    x ^= x << 11; x ^= x >>> 3; x ^= x << 19; x += 7; x ^= x << 23; x ^= x >>> 8; x ^= x << 15; x += 9;
    x ^= x << 13; x ^= x >>> 7; x ^= x << 17; x += 3; x ^= x << 5; x ^= x >>> 9; x ^= x << 21; x += 5;
    x ^= x << 11; x ^= x >>> 3; x ^= x << 19; x += 7; x ^= x << 23; x ^= x >>> 8; x ^= x << 15; x += 9;
    return x;
  }

  // One loop for each kind: a call site that only ever sees one target.
  private static void run(int kind, int calls) {
    switch (kind) {
      case 0: runTiny(calls); break;
      case 1: runMixed(calls); break;
      case 2: runLonger(calls); break;
      case 3: runLine32(calls); break;
      default: runLine128(calls);
    }
  }

  private static void runTiny(int calls) {
    for (int i = 0; i < calls; ++i) {
      sink += tiny(i);
    }
  }

  private static void runMixed(int calls) {
    for (int i = 0; i < calls; ++i) {
      sink += mixed(i);
    }
  }

  private static void runLonger(int calls) {
    for (int i = 0; i < calls; ++i) {
      sink += longer(i);
    }
  }

  private static void runLine32(int calls) {
    for (int i = 0; i < calls; ++i) {
      sink += line32(i);
    }
  }

  private static void runLine128(int calls) {
    for (int i = 0; i < calls; ++i) {
      sink += line128(i);
    }
  }

  private static void warm(int kind, int turns) {
    for (int i = 0; i < turns; ++i) {
      run(kind, 32);
    }
  }

  private static void half(int kind, int calls) {
    run(kind, calls);
  }

  private static void full(int kind, int calls) {
    run(kind, 2 * calls);
  }

  private static final String[] KINDS = {"tiny", "mixed", "longer", "line32", "line128"};

  public static void main(String[] args) {
    System.load(args[0]);
    final int kind = java.util.Arrays.asList(KINDS).indexOf(args[1]);
    final int calls = Integer.parseInt(args[2]);
    open();
    warm(kind, Integer.parseInt(args[3]));
    final long start = count();
    half(kind, calls);
    final long middle = count();
    full(kind, calls);
    final long end = count();
    System.out.println("known " + args[1] + " " + calls + " " + (middle - start) + " " + (end - middle));
  }
}
