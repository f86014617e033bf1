import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Keeps the CPU busy while native code takes a signal over, or blocks it, in the middle. Arguments:
 * what it does (take, block), the number of the signal, the CPU time before and after, in ms.
 */
final class SampledSignals {
  static native void take(int signal);

  static native void block(int signal);

  static long burn(long ms) {
    final ThreadMXBean bean = ManagementFactory.getThreadMXBean();
    final long end = bean.getCurrentThreadCpuTime() + ms * 1_000_000;
    long sum = 0;
    while (bean.getCurrentThreadCpuTime() < end) {
      for (int i = 0; i < 100_000; ++i) sum += sum >> 3 ^ i;
    }
    return sum;
  }

  public static void main(String[] args) {
    System.load(System.getProperty("SampledSignals.natives"));
    final int signal = Integer.parseInt(args[1]);
    long sum = burn(Long.parseLong(args[2]));
    if (args[0].equals("take")) take(signal);
    if (args[0].equals("block")) block(signal);
    sum += burn(Long.parseLong(args[3]));
    System.out.println(sum == 42 ? "a chance in 2^64" : "done");
  }
}
