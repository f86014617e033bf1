/** Frequent short calls, and a method that is called rarely and takes long. All calls are known. */
final class Estimates {
  static final int ROUNDS = 200_000;
  static volatile int sink;

  static int leaf(int x) {
    return (x ^ x >>> 7) * 0x9e3779b1;
  }

  static int middle(int x) {
    return leaf(leaf(x) + 1);
  }

  /** Takes about 10 ms. */
  static void rare() {
    long end = java.lang.management.ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() + 10_000_000;
    while (java.lang.management.ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() < end) {
      int x = sink;
      for (int i = 0; i < 10_000; ++i) x = (x ^ x >>> 7) * 0x9e3779b1;
      sink = x;
    }
  }

  static int loop() {
    int x = 1;
    for (int i = 0; i < ROUNDS; ++i) {
      x = middle(x);
      if (i % (ROUNDS / 10) == 0) rare();
    }
    return x;
  }

  public static void main(String[] args) {
    sink = loop();
  }
}
