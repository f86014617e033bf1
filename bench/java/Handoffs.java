import java.util.concurrent.SynchronousQueue;

/**
 * Pairs of threads that hand a number to each other, and work in between: Handoffs PAIRS ROUNDS.
 * Each round is two dispatches or more.
 */
public final class Handoffs {
  private static final int WORK = 20_000; // steps, some 20 us
  private static volatile long sink;

  private static long work(long x) {
    for (int i = 0; i < WORK; i++) x = x * 31 + i;
    return x;
  }

  public static void main(String[] arguments) throws Exception {
    final int rounds = Integer.parseInt(arguments[1]);
    final Thread[] threads = new Thread[2 * Integer.parseInt(arguments[0])];
    for (int i = 0; i < threads.length; i += 2) {
      final SynchronousQueue<Long> queue = new SynchronousQueue<>();
      threads[i] = new Thread(() -> {
        try {
          for (int k = 0; k < rounds; k++) queue.put(work(k));
        } catch (InterruptedException e) {
          throw new IllegalStateException(e);
        }
      });
      threads[i + 1] = new Thread(() -> {
        try {
          for (int k = 0; k < rounds; k++) sink = work(queue.take());
        } catch (InterruptedException e) {
          throw new IllegalStateException(e);
        }
      });
    }
    for (Thread thread : threads) thread.start();
    for (Thread thread : threads) thread.join();
  }
}
