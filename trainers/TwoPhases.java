package jprof.trainers;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Random;

/**
 * Two phases that do the same work: one in many tiny calls, one in a plain loop. A profiler that
 * does not subtract its own overhead shows the first far too large. Arguments: tiny calls and plain
 * repetitions in thousands (so that a script can make the phases equally long), the kind of work,
 * and the amount per call. Prints each phase's CPU time in ns.
 *
 * <p>scan: sums numbers in a text, N at a time: loads and branches, some mispredicted, like most
 * code.
 *
 * <p>chain: N steps that each depend on the previous one: the processor executes the probes in the
 * gaps, so their cost cannot be measured.
 */
public final class TwoPhases {
  private static final int CHUNK = 1000;

  private static final byte[] TEXT = text();

  private static byte[] text() {
    final Random random = new Random(1);
    final StringBuilder text = new StringBuilder();
    while (text.length() < 1 << 14) {
      text.append(random.nextInt(1 << (3 + random.nextInt(20)))).append(' ');
    }
    return text.toString().getBytes();
  }

  private final int amount;
  private int at;
  private long sum = 1;

  private TwoPhases(int amount) {
    this.amount = amount;
  }

  private void scan() {
    for (int i = 0; i < amount; ++i) {
      int number = 0;
      for (byte c = TEXT[at]; c != ' '; c = TEXT[at]) {
        number = number * 10 + c - '0';
        ++at;
      }
      at = at + 1 < TEXT.length ? at + 1 : 0;
      sum += number;
    }
  }

  private void tinyScans() {
    for (int j = 0; j < CHUNK; ++j) {
      scan();
    }
  }

  private void plainScans() {
    for (int j = 0; j < CHUNK; ++j) {
      for (int i = 0; i < amount; ++i) {
        int number = 0;
        for (byte c = TEXT[at]; c != ' '; c = TEXT[at]) {
          number = number * 10 + c - '0';
          ++at;
        }
        at = at + 1 < TEXT.length ? at + 1 : 0;
        sum += number;
      }
    }
  }

  private static long chain(long x, int steps) {
    for (int i = 0; i < steps; ++i) {
      x ^= x << 13;
      x ^= x >>> 7;
      x ^= x << 17;
    }
    return x;
  }

  private void tinyChains() {
    for (int j = 0; j < CHUNK; ++j) {
      sum = chain(sum, amount);
    }
  }

  private void plainChains() {
    for (int j = 0; j < CHUNK; ++j) {
      long x = sum;
      for (int i = 0; i < amount; ++i) {
        x ^= x << 13;
        x ^= x >>> 7;
        x ^= x << 17;
      }
      sum = x;
    }
  }

  private void tiny(boolean chain, int chunks) {
    for (int i = 0; i < chunks; ++i) {
      if (chain) {
        tinyChains();
      } else {
        tinyScans();
      }
    }
  }

  private void plain(boolean chain, int chunks) {
    for (int i = 0; i < chunks; ++i) {
      if (chain) {
        plainChains();
      } else {
        plainScans();
      }
    }
  }

  private void measure(boolean chain, int tinyChunks, int plainChunks) {
    final ThreadMXBean clock = ManagementFactory.getThreadMXBean();
    final long start = clock.getCurrentThreadCpuTime();
    tiny(chain, tinyChunks);
    final long middle = clock.getCurrentThreadCpuTime();
    plain(chain, plainChunks);
    final long end = clock.getCurrentThreadCpuTime();
    System.out.println("tiny " + (middle - start) + " plain " + (end - middle));
  }

  private void warmUp(boolean chain) {
    for (int i = 0; i < 100; ++i) {
      tiny(chain, 100);
      plain(chain, 100);
    }
  }

  public static void main(String[] args) {
    final boolean chain = args[2].equals("chain");
    final TwoPhases program = new TwoPhases(Integer.parseInt(args[3]));
    program.warmUp(chain);
    program.measure(chain, Integer.parseInt(args[0]), Integer.parseInt(args[1]));
    System.out.println("sum " + program.sum);  // so that the work is not eliminated
  }
}
