import java.lang.management.ManagementFactory;

/**
 * Two phases of about the same CPU time: one makes 400 million calls of a tiny method, the other one
 * calls nothing. Prints the CPU time of both in nanoseconds and the number of calls.
 *
 * <p>"unrolled": C2 unrolls the loop of the first phase, and keeps no record of which instructions
 * of it are the tiny method's. Without it the loop ends when the method says so: it is not unrolled.
 */
class TwoPhases {
  static final int CALLS = 400_000_000;
  static int sink;

  static int tiny(int x) {
    return (x ^ x >>> 7) * 0x9e3779b1;
  }

  static long step(long x) {
    x = x * 0x9e3779b97f4a7c15L + 0x7f4a7c15L ^ x >>> 29;
    x = x * 0xbf58476d1ce4e5b9L + 0x632be59bL ^ x >>> 32;
    return x * 0x94d049bb133111ebL + 0x2545f491L ^ x >>> 27;
  }

  static int unrolled(int count) {
    int x = 1;
    for (int i = 0; i < count; i++) x = tiny(x) + i;
    return x;
  }

  static int calls(int count) {
    long x = 1;
    while (count > 0) {
      x = step(x);
      if (x != 0) count--;
    }
    return (int) x;
  }

  static int loop(int count) {
    long x = 3;
    while (count > 0) {
      x = x * 0x85ebca6b7f4a7c15L + 0x7f4a7c15L ^ x >>> 31;
      x = x * 0xff51afd7ed558ccdL + 0x632be59bL ^ x >>> 30;
      x = x * 0xc4ceb9fe1a85ec53L + 0x2545f491L ^ x >>> 33;
      if (x != 0) count--;
    }
    return (int) x;
  }

  static long cpu() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  public static void main(String[] args) {
    boolean unrolled = args.length > 0 && args[0].equals("unrolled");
    sink += unrolled(20_000) + calls(20_000) + loop(20_000);
    long start = cpu();
    sink += unrolled ? unrolled(CALLS) : calls(CALLS);
    long middle = cpu();
    sink += loop(CALLS);
    long end = cpu();
    System.out.println("calls " + (middle - start) + " loop " + (end - middle) + " count " + CALLS);
  }
}
