import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Keeps the CPU busy while native code takes a signal over, or blocks it, or closes all
 * descriptors, in the middle. Arguments: what it does (take, block, close), the number of the signal
 * or of the first descriptor, the CPU time before and after, in ms.
 */
final class SampledSignals {
  static native void take(int signal);

  static native void block(int signal);

  static native void close(int first);

  static native int kept();

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
    if (args[0].equals("close")) close(signal);
    sum += burn(Long.parseLong(args[3]));
    if (args[0].equals("close")) System.out.println(kept() + " of its descriptors");
    System.out.println(sum == 42 ? "a chance in 2^64" : "done");
  }
}
