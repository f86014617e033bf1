//@ jdk 21
import java.util.function.LongSupplier;

/**
 * For callstack sampling: virtual threads whose methods spin at 1:2:4 at the bottom of 50 frames and yield in between.
 * Arguments: rounds, iterations of the shortest.
 */
public final class SampledVirtual {
  public static void main(String[] args) throws Exception {
    final int rounds = Integer.parseInt(args[0]);
    final long n = Long.parseLong(args[1]);
    for (int round = 0; round < rounds; ++round) {
      final Thread[] threads = {
        Thread.ofVirtual().name("one").start(() -> yielding(() -> one(50, n))),
        Thread.ofVirtual().name("two").start(() -> yielding(() -> two(50, 2 * n))),
        Thread.ofVirtual().name("four").start(() -> yielding(() -> four(50, 4 * n)))
      };
      for (Thread thread : threads) thread.join();
    }
    System.out.println("done");
  }

  private static void yielding(LongSupplier part) {
    part.getAsLong();
    Thread.yield();
    part.getAsLong();
  }

  private static long one(int depth, long n) {
    return depth == 0 ? spin(n) : 1 + one(depth - 1, n);
  }

  private static long two(int depth, long n) {
    return depth == 0 ? spin(n) : 1 + two(depth - 1, n);
  }

  private static long four(int depth, long n) {
    return depth == 0 ? spin(n) : 1 + four(depth - 1, n);
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
