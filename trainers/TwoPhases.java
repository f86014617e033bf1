package jprof.trainers;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Two phases that do the same work: one in many tiny calls, one in a plain loop. A profiler that leaves its own
 * cost in shows the first far too big. Arguments: tiny calls and plain iterations in thousands (so that a
 * script can make the phases equally long), and the steps of work in one. Prints each phase's CPU time in ns.
 */
public final class TwoPhases {
  private static final int CHUNK = 1000;

  private static long work(long x, int steps) {
    for (int i = 0; i < steps; ++i) {
      x ^= x << 13;
      x ^= x >>> 7;
      x ^= x << 17;
    }
    return x;
  }

  private static long tinyChunk(long x, int steps) {
    for (int i = 0; i < CHUNK; ++i) {
      x = work(x, steps);
    }
    return x;
  }

  private static long plainChunk(long x, int steps) {
    for (int i = 0; i < CHUNK; ++i) {
      for (int j = 0; j < steps; ++j) {
        x ^= x << 13;
        x ^= x >>> 7;
        x ^= x << 17;
      }
    }
    return x;
  }

  private static long tiny(int chunks, int steps) {
    long x = 1;
    for (int i = 0; i < chunks; ++i) {
      x = tinyChunk(x, steps);
    }
    return x;
  }

  private static long plain(int chunks, int steps) {
    long x = 1;
    for (int i = 0; i < chunks; ++i) {
      x = plainChunk(x, steps);
    }
    return x;
  }

  private static long warmUp(int steps) {
    return tiny(100, steps) + plain(100, steps);
  }

  private static long measure(int tinyChunks, int plainChunks, int steps) {
    final ThreadMXBean clock = ManagementFactory.getThreadMXBean();
    final long start = clock.getCurrentThreadCpuTime();
    long x = tiny(tinyChunks, steps);
    final long middle = clock.getCurrentThreadCpuTime();
    x += plain(plainChunks, steps);
    final long end = clock.getCurrentThreadCpuTime();
    System.out.println("tiny " + (middle - start) + " plain " + (end - middle));
    return x;
  }

  public static void main(String[] args) {
    final int steps = Integer.parseInt(args[2]);
    long x = 0;
    for (int i = 0; i < 100; ++i) {
      x += warmUp(steps);
    }
    x += measure(Integer.parseInt(args[0]), Integer.parseInt(args[1]), steps);
    System.out.println("sum " + x);  // so that no work is dead
  }
}
