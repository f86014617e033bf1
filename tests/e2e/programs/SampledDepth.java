import java.lang.management.ManagementFactory;

/**
 * Measures the cost of callstack sampling: a fixed amount of work at the bottom of a stack of fixed
 * depth. Prints "cpu NANOSECONDS" of the thread. Arguments: frames, millions of steps.
 */
public final class SampledDepth {
  public static void main(String[] args) {
    final int frames = Integer.parseInt(args[0]);
    final long steps = Long.parseLong(args[1]) * 1_000_000;
    long sum = 0;
    for (int i = 0; i < 20_000_000 / (frames + 100); ++i) sum += down(frames, 100); // until all methods are compiled
    final var threads = ManagementFactory.getThreadMXBean();
    final long before = threads.getCurrentThreadCpuTime();
    sum += down(frames, steps);
    System.out.println("cpu " + (threads.getCurrentThreadCpuTime() - before));
    if (sum == 42) System.out.println("never");
  }

  private static long down(int depth, long n) {
    return depth == 0 ? spin(n) : 1 + down(depth - 1, n);
  }

  private static long spin(long n) {
    long x = n;
    for (long i = 0; i < n; ++i) {
      x ^= x << 13;
      x ^= x >>> 7;
      x ^= x << 17;
    }
    return x;
  }
}
