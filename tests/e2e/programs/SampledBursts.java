import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread that is woken often and runs shortly, as that of a server: much shorter than a tick of
 * the kernel. Three methods run for 1, 2 and 4 times the same work, in random order, with a pause
 * after each. Argument: CPU time in ms. Prints the CPU time of each method in ns, and the number of
 * perf events of the process.
 */
final class SampledBursts {
  private static final int WORK = 40_000;

  static long one(int work) {
    return spin(work);
  }

  static long two(int work) {
    return spin(2 * work);
  }

  static long four(int work) {
    return spin(4 * work);
  }

  static long spin(int steps) {
    long sum = 0;
    for (int i = 0; i < steps; ++i) sum += sum >> 3 ^ i;
    return sum;
  }

  static int perfEvents() throws Exception {
    int events = 0;
    try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
      for (Path descriptor : descriptors) {
        try {
          if (Files.readSymbolicLink(descriptor).toString().contains("[perf_event]")) ++events;
        } catch (NoSuchFileException closed) {
          continue;
        }
      }
    }
    return events;
  }

  public static void main(String[] args) throws Exception {
    final ThreadMXBean bean = ManagementFactory.getThreadMXBean();
    final SplittableRandom random = new SplittableRandom(7);
    final long[] ns = new long[3];
    final long end = bean.getCurrentThreadCpuTime() + Long.parseLong(args[0]) * 1_000_000;
    long sum = 0;
    for (long before = 0; before < end; ) {
      final int method = random.nextInt(3);
      before = bean.getCurrentThreadCpuTime();
      sum += method == 0 ? one(WORK) : method == 1 ? two(WORK) : four(WORK);
      ns[method] += bean.getCurrentThreadCpuTime() - before;
      LockSupport.parkNanos(20_000 + random.nextInt(100_000));
    }
    System.out.println("part one " + ns[0] + "\npart two " + ns[1] + "\npart four " + ns[2]);
    System.out.println("events " + perfEvents());
    if (sum == 42) System.out.println("a chance in 2^64");
  }
}
