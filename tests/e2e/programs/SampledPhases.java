import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Two parts that each keep the CPU busy, with a pause between them. Arguments: duration of the
 * first, start of the second and duration of the second, in ms. Prints the CPU time of each in ns.
 */
final class SampledPhases {
  static long first(long ms) {
    return spin(ms);
  }

  static long second(long ms) {
    return spin(ms);
  }

  static long spin(long ms) {
    long sum = 0;
    for (final long end = System.nanoTime() + ms * 1_000_000; System.nanoTime() < end; ) {
      for (int i = 0; i < 100_000; ++i) sum += sum >> 3 ^ i;
    }
    return sum;
  }

  public static void main(String[] args) throws Exception {
    final long begin = System.nanoTime();
    final ThreadMXBean bean = ManagementFactory.getThreadMXBean();
    final long before = bean.getCurrentThreadCpuTime();
    long sum = first(Long.parseLong(args[0]));
    final long middle = bean.getCurrentThreadCpuTime();
    Thread.sleep(Math.max(0, Long.parseLong(args[1]) - (System.nanoTime() - begin) / 1_000_000));
    final long again = bean.getCurrentThreadCpuTime();
    sum += second(Long.parseLong(args[2]));
    final long end = bean.getCurrentThreadCpuTime();
    System.out.println("part first " + (middle - before) + "\npart second " + (end - again));
    if (sum == 42) System.out.println("a chance in 2^64");
  }
}
