import java.lang.management.ManagementFactory;

/**
 * Takes monitors that no other thread wants, and prints the CPU time of each: in a block, in a
 * synchronized method, and a second time inside a block. args[0]: turns of a round.
 */
final class LockLoops {
  private static final int ROUNDS = 5;
  private static volatile LockLoops shared = new LockLoops();

  private long sum;

  private synchronized void add(long x) {
    sum += x;
  }

  private static void blocks(int turns) {
    LockLoops lock = shared;
    for (int i = 0; i < turns; i++) {
      synchronized (lock) {
        lock.sum += i;
      }
    }
  }

  private static void methods(int turns) {
    LockLoops lock = shared;
    for (int i = 0; i < turns; i++) {
      lock.add(i);
    }
  }

  private static void again(int turns) {
    LockLoops lock = shared;
    synchronized (lock) {
      for (int i = 0; i < turns; i++) {
        synchronized (lock) {
          lock.sum += i;
        }
      }
    }
  }

  private static double nanos(Runnable round, int turns) {
    double least = Double.MAX_VALUE;
    for (int i = 0; i < ROUNDS; i++) {
      long begin = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
      round.run();
      long end = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
      least = Math.min(least, (double) (end - begin) / turns);
    }
    return least;
  }

  public static void main(String[] args) {
    int turns = Integer.parseInt(args[0]);
    System.out.printf("block %.2f%n", nanos(() -> blocks(turns), turns));
    System.out.printf("method %.2f%n", nanos(() -> methods(turns), turns));
    System.out.printf("again %.2f%n", nanos(() -> again(turns), turns));
  }
}
