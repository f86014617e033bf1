import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;

/**
 * Loops that do little but call a method. Each warms up for args[0] seconds, at least 20 times, and
 * is then measured 11 times. Prints "loop NAME NANOSECONDS METHOD CALLS RESULT" of each: the median
 * CPU time of one call, and how often METHOD was called in all. Run it with
 * -XX:CompileCommand=dontinline,WovenLoops::outlined.
 */
final class WovenLoops {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final int WARM = 20, MEASURED = 11, ITERATIONS = 1_000_000, FIB = 25;
  private static final Point[] POINTS = new Point[1024];

  private static final class Point {
    private final int x;

    Point(int x) {
      this.x = x;
    }

    int x() {
      return x;
    }
  }

  private interface Loop {
    long run(int iterations);
  }

  static int step(int x) {
    return x * 0x9e3779b1;
  }

  static int outlined(int x) {
    return x * 0x9e3779b1;
  }

  static int first(int x) {
    return second(x) + 1;
  }

  static int second(int x) {
    return third(x) ^ 5;
  }

  static int third(int x) {
    return fourth(x) + 3;
  }

  static int fourth(int x) {
    return x ^ x >>> 7;
  }

  static int fib(int n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
  }

  static long inlinedLoop(int iterations) {
    int x = 1;
    for (int i = 0; i < iterations; i++) x = step(x) + i;
    return x;
  }

  static long outlinedLoop(int iterations) {
    int x = 1;
    for (int i = 0; i < iterations; i++) x = outlined(x) + i;
    return x;
  }

  static long getterLoop(int iterations) {
    Point[] points = POINTS;
    long sum = 0;
    for (int i = 0; i < iterations; i++) sum += points[i & 1023].x();
    return sum;
  }

  static long chainLoop(int iterations) {
    int x = 1;
    for (int i = 0; i < iterations; i++) x = first(x) + i;
    return x;
  }

  static long fibLoop(int iterations) {
    return fib(FIB);
  }

  static long callsOfFib(int n) {
    long calls = 1, next = 1;
    for (int i = 1; i < n; i++) {
      long sum = calls + next + 1;
      calls = next;
      next = sum;
    }
    return next;
  }

  /** Each run makes `calls` calls, 1/share of them of the method. */
  static void time(String name, String method, long calls, int share, Loop loop, double seconds) {
    long until = System.nanoTime() + (long) (seconds * 1e9), result = 0, runs = 0;
    for (; runs < WARM || System.nanoTime() < until; runs++) result = loop.run(ITERATIONS);
    long[] times = new long[MEASURED];
    for (int i = 0; i < MEASURED; i++, runs++) {
      long begin = THREADS.getCurrentThreadCpuTime();
      result = loop.run(ITERATIONS);
      times[i] = THREADS.getCurrentThreadCpuTime() - begin;
    }
    Arrays.sort(times);
    System.out.printf("loop %s %.4f %s %d %d%n", name, times[MEASURED / 2] / (double) calls, method,
        runs * calls / share, result);
  }

  public static void main(String[] args) {
    double seconds = Double.parseDouble(args[0]);
    for (int i = 0; i < POINTS.length; i++) POINTS[i] = new Point(i * 7919 % 997);
    time("inlined", "WovenLoops.step", ITERATIONS, 1, WovenLoops::inlinedLoop, seconds);
    time("getter", "WovenLoops$Point.x", ITERATIONS, 1, WovenLoops::getterLoop, seconds);
    time("chain-of-4", "WovenLoops.fourth", 4L * ITERATIONS, 4, WovenLoops::chainLoop, seconds);
    time("not-inlined", "WovenLoops.outlined", ITERATIONS, 1, WovenLoops::outlinedLoop, seconds);
    time("fib", "WovenLoops.fib", callsOfFib(FIB), 1, WovenLoops::fibLoop, seconds);
  }
}
