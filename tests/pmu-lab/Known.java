package jprof.lab;

/**
 * Programs of known work, counted by the thread's own counter: for each kind, after a warm-up,
 * CALLS turns in half() and twice as many in full(), each between two reads. Prints "known KIND
 * CALLS HALF FULL": without probes, FULL - HALF is the exact number of instructions of CALLS turns.
 * The programs use no intrinsics and no code that compiles differently with probes, so that the
 * code is the same with and without them. Arguments: the native library, calls, warm-up turns of 16
 * calls, and "uncounted" for a run under the profiler, whose counter must be the only one.
 */
public final class Known {
  private interface Work {
    long turn(long x);
  }

  private static native void open();

  private static native long count();

  private static native long plus(long x);

  private static long sink;

  // Tiny calls that do nothing.
  private static long tiny(long x) {
    return one(x) + two(x) + one(x + 1);
  }

  private static long one(long x) {
    return x + 1;
  }

  private static long two(long x) {
    return x ^ 2;
  }

  // Tiny calls with more live values, which must be saved across a probe.
  private static long values(long x) {
    return three(x, 5, x + 1) + four((int) x, 7, 9, 11);
  }

  private static long three(long a, long b, long c) {
    return a * b + c;
  }

  private static int four(int a, int b, int c, int d) {
    return (a ^ b) + (c ^ d);
  }

  // Mixed: recursion, loops, natives, and an interface with three implementations: with two, C2
  // would predict the target without probes.
  private static final class Triple implements Work {
    @Override
    public long turn(long x) {
      return x * 3 + 1;
    }
  }

  private static final class Half implements Work {
    @Override
    public long turn(long x) {
      return (x >>> 1) + 7;
    }
  }

  private static final class Flip implements Work {
    @Override
    public long turn(long x) {
      return ~x;
    }
  }

  private static final Work[] WORKS = {new Triple(), new Half(), new Flip()};

  private static long mixed(long x) {
    final long sum = fibonacci(4) + WORKS[(int) (x % 3)].turn(x) + churn(x, 6);
    return (x & 3) == 0 ? plus(sum) : sum;
  }

  private static long recursion(long x) {
    return x + fibonacci(5);
  }

  private static int fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
  }

  // Objects: a list is built, traversed and dropped. No simple accessors: C2 inlines them even with
  // -XX:-Inline.
  private static final class Cell {
    private final Cell next;
    private final int value;

    Cell(Cell next, int value) {
      this.next = next;
      this.value = value;
    }

    Cell next(boolean wanted) {
      return wanted ? next : null;
    }

    int plus(int x) {
      return value + x;
    }
  }

  private static long objects(long x) {
    Cell list = null;
    for (int i = 0; i < 8; ++i) {
      list = new Cell(list, (int) x + i);
    }
    long sum = 0;
    for (Cell cell = list; cell != null; cell = cell.next(true)) {
      sum += cell.plus(1);
    }
    return sum;
  }

  // Long: about 1,000 operations per call.
  private static long longer(long x) {
    return churn(x, 150) + churn(x + 1, 150);
  }

  private static long churn(long x, int n) {
    for (int i = 0; i < n; ++i) {
      x ^= x << 13;
      x ^= x >>> 7;
      x ^= x << 17;
    }
    return x;
  }

  // Straight-line methods with the given number of operations. Every second operation needs a range
  // check, which prevents C2 from moving arithmetic across the probe at the method's entry into the
  // caller's interval.
  private static final byte[] BYTES = new byte[64];

  private static long line0(long x, byte[] t) {
    return x ^ t.length;
  }

  private static long line16(long x, byte[] t) {
    x += t[(int) x & 31]; x ^= x << 13; x += t[(int) x & 63]; x ^= x >>> 7;
    x += t[(int) x & 15]; x ^= x << 17; x -= t[(int) x & 31]; x ^= x >>> 9;
    x += t[(int) x & 31]; x ^= x << 13; x += t[(int) x & 63]; x ^= x >>> 7;
    x += t[(int) x & 15]; x ^= x << 17; x -= t[(int) x & 31]; x ^= x >>> 9;
    return x;
  }

  private static long line64(long x, byte[] t) {
    x += t[(int) x & 31]; x ^= x << 13; x += t[(int) x & 63]; x ^= x >>> 7;
    x += t[(int) x & 15]; x ^= x << 17; x -= t[(int) x & 31]; x ^= x >>> 9;
    x += t[(int) x & 31]; x ^= x << 13; x += t[(int) x & 63]; x ^= x >>> 7;
    x += t[(int) x & 15]; x ^= x << 17; x -= t[(int) x & 31]; x ^= x >>> 9;
    x += t[(int) x & 31]; x ^= x << 13; x += t[(int) x & 63]; x ^= x >>> 7;
    x += t[(int) x & 15]; x ^= x << 17; x -= t[(int) x & 31]; x ^= x >>> 9;
    x += t[(int) x & 31]; x ^= x << 13; x += t[(int) x & 63]; x ^= x >>> 7;
    x += t[(int) x & 15]; x ^= x << 17; x -= t[(int) x & 31]; x ^= x >>> 9;
    x += t[(int) x & 31]; x ^= x << 13; x += t[(int) x & 63]; x ^= x >>> 7;
    x += t[(int) x & 15]; x ^= x << 17; x -= t[(int) x & 31]; x ^= x >>> 9;
    x += t[(int) x & 31]; x ^= x << 13; x += t[(int) x & 63]; x ^= x >>> 7;
    x += t[(int) x & 15]; x ^= x << 17; x -= t[(int) x & 31]; x ^= x >>> 9;
    x += t[(int) x & 31]; x ^= x << 13; x += t[(int) x & 63]; x ^= x >>> 7;
    x += t[(int) x & 15]; x ^= x << 17; x -= t[(int) x & 31]; x ^= x >>> 9;
    x += t[(int) x & 31]; x ^= x << 13; x += t[(int) x & 63]; x ^= x >>> 7;
    x += t[(int) x & 15]; x ^= x << 17; x -= t[(int) x & 31]; x ^= x >>> 9;
    return x;
  }

  private static long line128(long x, byte[] t) {
    x += t[(int) x & 31]; x ^= x << 13; x += t[(int) x & 63]; x ^= x >>> 7;
    x += t[(int) x & 15]; x ^= x << 17; x -= t[(int) x & 31]; x ^= x >>> 9;
    x += t[(int) x & 31]; x ^= x << 13; x += t[(int) x & 63]; x ^= x >>> 7;
    x += t[(int) x & 15]; x ^= x << 17; x -= t[(int) x & 31]; x ^= x >>> 9;
    x += t[(int) x & 31]; x ^= x << 13; x += t[(int) x & 63]; x ^= x >>> 7;
    x += t[(int) x & 15]; x ^= x << 17; x -= t[(int) x & 31]; x ^= x >>> 9;
    x += t[(int) x & 31]; x ^= x << 13; x += t[(int) x & 63]; x ^= x >>> 7;
    x += t[(int) x & 15]; x ^= x << 17; x -= t[(int) x & 31]; x ^= x >>> 9;
    x += t[(int) x & 31]; x ^= x << 13; x += t[(int) x & 63]; x ^= x >>> 7;
    x += t[(int) x & 15]; x ^= x << 17; x -= t[(int) x & 31]; x ^= x >>> 9;
    x += t[(int) x & 31]; x ^= x << 13; x += t[(int) x & 63]; x ^= x >>> 7;
    x += t[(int) x & 15]; x ^= x << 17; x -= t[(int) x & 31]; x ^= x >>> 9;
    x += t[(int) x & 31]; x ^= x << 13; x += t[(int) x & 63]; x ^= x >>> 7;
    x += t[(int) x & 15]; x ^= x << 17; x -= t[(int) x & 31]; x ^= x >>> 9;
    x += t[(int) x & 31]; x ^= x << 13; x += t[(int) x & 63]; x ^= x >>> 7;
    x += t[(int) x & 15]; x ^= x << 17; x -= t[(int) x & 31]; x ^= x >>> 9;
    x += t[(int) x & 31]; x ^= x << 13; x += t[(int) x & 63]; x ^= x >>> 7;
    x += t[(int) x & 15]; x ^= x << 17; x -= t[(int) x & 31]; x ^= x >>> 9;
    x += t[(int) x & 31]; x ^= x << 13; x += t[(int) x & 63]; x ^= x >>> 7;
    x += t[(int) x & 15]; x ^= x << 17; x -= t[(int) x & 31]; x ^= x >>> 9;
    x += t[(int) x & 31]; x ^= x << 13; x += t[(int) x & 63]; x ^= x >>> 7;
    x += t[(int) x & 15]; x ^= x << 17; x -= t[(int) x & 31]; x ^= x >>> 9;
    x += t[(int) x & 31]; x ^= x << 13; x += t[(int) x & 63]; x ^= x >>> 7;
    x += t[(int) x & 15]; x ^= x << 17; x -= t[(int) x & 31]; x ^= x >>> 9;
    x += t[(int) x & 31]; x ^= x << 13; x += t[(int) x & 63]; x ^= x >>> 7;
    x += t[(int) x & 15]; x ^= x << 17; x -= t[(int) x & 31]; x ^= x >>> 9;
    x += t[(int) x & 31]; x ^= x << 13; x += t[(int) x & 63]; x ^= x >>> 7;
    x += t[(int) x & 15]; x ^= x << 17; x -= t[(int) x & 31]; x ^= x >>> 9;
    x += t[(int) x & 31]; x ^= x << 13; x += t[(int) x & 63]; x ^= x >>> 7;
    x += t[(int) x & 15]; x ^= x << 17; x -= t[(int) x & 31]; x ^= x >>> 9;
    x += t[(int) x & 31]; x ^= x << 13; x += t[(int) x & 63]; x ^= x >>> 7;
    x += t[(int) x & 15]; x ^= x << 17; x -= t[(int) x & 31]; x ^= x >>> 9;
    return x;
  }

  // One loop for each kind: a call site with a single target.
  private static void tinyTurns(int turns) {
    for (int i = 0; i < turns; ++i) {
      sink += tiny(i);
    }
  }

  private static void valuesTurns(int turns) {
    for (int i = 0; i < turns; ++i) {
      sink += values(i);
    }
  }

  private static void mixedTurns(int turns) {
    for (int i = 0; i < turns; ++i) {
      sink += mixed(i);
    }
  }

  private static void recursionTurns(int turns) {
    for (int i = 0; i < turns; ++i) {
      sink += recursion(i);
    }
  }

  private static void objectsTurns(int turns) {
    for (int i = 0; i < turns; ++i) {
      sink += objects(i);
    }
  }

  private static void longerTurns(int turns) {
    for (int i = 0; i < turns; ++i) {
      sink += longer(i);
    }
  }

  private static void line0Turns(int turns) {
    for (int i = 0; i < turns; ++i) {
      sink += line0(i, BYTES);
    }
  }

  private static void line16Turns(int turns) {
    for (int i = 0; i < turns; ++i) {
      sink += line16(i, BYTES);
    }
  }

  private static void line64Turns(int turns) {
    for (int i = 0; i < turns; ++i) {
      sink += line64(i, BYTES);
    }
  }

  private static void line128Turns(int turns) {
    for (int i = 0; i < turns; ++i) {
      sink += line128(i, BYTES);
    }
  }

  private static void run(int kind, int turns) {
    switch (kind) {
      case 0: tinyTurns(turns); break;
      case 1: valuesTurns(turns); break;
      case 2: mixedTurns(turns); break;
      case 3: recursionTurns(turns); break;
      case 4: objectsTurns(turns); break;
      case 5: longerTurns(turns); break;
      case 6: line0Turns(turns); break;
      case 7: line16Turns(turns); break;
      case 8: line64Turns(turns); break;
      default: line128Turns(turns);
    }
  }

  private static void warm(int kind, int times) {
    for (int i = 0; i < times; ++i) {
      run(kind, 16);
    }
  }

  private static void half(int kind, int calls) {
    run(kind, calls);
  }

  private static void full(int kind, int calls) {
    run(kind, 2 * calls);
  }

  private static final String[] KINDS = {
    "tiny", "values", "mixed", "recursion", "objects", "longer", "line0", "line16", "line64", "line128",
  };

  public static void main(String[] args) {
    System.load(args[0]);
    final int calls = Integer.parseInt(args[1]), times = Integer.parseInt(args[2]);
    if (args.length == 3) {
      open();
    }
    for (int kind = 0; kind < KINDS.length; ++kind) {
      warm(kind, times);
    }
    for (int kind = 0; kind < KINDS.length; ++kind) {
      final long start = count();
      half(kind, calls);
      final long middle = count();
      full(kind, calls);
      final long end = count();
      System.out.println("known " + KINDS[kind] + " " + calls + " " + (middle - start) + " " + (end - middle));
    }
  }
}
