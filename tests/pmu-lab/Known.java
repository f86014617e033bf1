package jprof.lab;

/**
 * Programs of known work, counted by this thread's own counter: for each kind, after a warm-up, CALLS turns in half() and
 * twice as many in full(), each between two readings. Prints "known KIND CALLS HALF FULL": without probes, FULL - HALF is
 * what CALLS turns execute, to the instruction. No intrinsics, and nothing that probes keep from being compiled as it
 * is: so the code is the same with and without them. Arguments: the native library, calls, turns of 32 to warm up.
 */
public final class Known {
  private interface Work {
    long turn(long x);
  }

  private static native void open();

  private static native long count();

  private static native long plus(long x);

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

  // Tiny calls with more to carry: what lives across a probe has to be saved.
  private static long values(long x) {
    return three(x, 5, x + 1) + four((int) x, 7, 9, 11);
  }

  private static long three(long a, long b, long c) {
    return a * b + c;
  }

  private static int four(int a, int b, int c, int d) {
    return (a ^ b) + (c ^ d);
  }

  // Mixed: recursion, an interface with two implementations, arrays, natives.
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

  private static final Work[] WORKS = {new Triple(), new Half()};
  private static final int[] TABLE = new int[256];

  private static long mixed(long x) {
    final long sum = fibonacci(4) + WORKS[(int) (x & 1)].turn(x) + scan(12);
    return (x & 3) == 0 ? plus(sum) : sum;
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

  // Objects: a list built, walked and dropped; constructors and accessors.
  private static final class Cell {
    private final Cell next;
    private final int value;

    Cell(Cell next, int value) {
      this.next = next;
      this.value = value;
    }

    Cell next() {
      return next;
    }

    int value() {
      return value;
    }
  }

  private static long objects(long x) {
    Cell list = null;
    for (int i = 0; i < 8; ++i) {
      list = new Cell(list, (int) x + i);
    }
    long sum = 0;
    for (Cell cell = list; cell != null; cell = cell.next()) {
      sum += cell.value();
    }
    return sum;
  }

  // Long: some 1,000 operations a call.
  private static long longer(long x) {
    return scan(200) + churn(x, 200);
  }

  private static long churn(long x, int n) {
    for (int i = 0; i < n; ++i) {
      x ^= x << 13;
      x ^= x >>> 7;
      x ^= x << 17;
    }
    return x;
  }

  // Straight-line methods of so many operations.
  private static long line0(long x) {
    return x;
  }

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

  private static long line256(long x) {
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
      sink += line0(i);
    }
  }

  private static void line32Turns(int turns) {
    for (int i = 0; i < turns; ++i) {
      sink += line32(i);
    }
  }

  private static void line128Turns(int turns) {
    for (int i = 0; i < turns; ++i) {
      sink += line128(i);
    }
  }

  private static void line256Turns(int turns) {
    for (int i = 0; i < turns; ++i) {
      sink += line256(i);
    }
  }

  private static void run(int kind, int turns) {
    switch (kind) {
      case 0: tinyTurns(turns); break;
      case 1: valuesTurns(turns); break;
      case 2: mixedTurns(turns); break;
      case 3: objectsTurns(turns); break;
      case 4: longerTurns(turns); break;
      case 5: line0Turns(turns); break;
      case 6: line32Turns(turns); break;
      case 7: line128Turns(turns); break;
      default: line256Turns(turns);
    }
  }

  private static void warm(int kind, int times) {
    for (int i = 0; i < times; ++i) {
      run(kind, 32);
    }
  }

  private static void half(int kind, int calls) {
    run(kind, calls);
  }

  private static void full(int kind, int calls) {
    run(kind, 2 * calls);
  }

  private static final String[] KINDS = {"tiny", "values", "mixed", "objects", "longer", "line0", "line32", "line128", "line256"};

  public static void main(String[] args) {
    System.load(args[0]);
    final int calls = Integer.parseInt(args[1]), times = Integer.parseInt(args[2]);
    open();
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
