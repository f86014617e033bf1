import java.util.concurrent.Semaphore;

/**
 * args[0] threads, args[1] of them alive at a time, each doing the same work: args[2] units of
 * about a millisecond. Prints the sum of what they computed, which is the same in every run.
 */
final class ManyThreads {
  private static volatile long sum;

  private static long work(long x) {
    for (int i = 0; i < 1_000_000; ++i) x = x * 6364136223846793005L + 1442695040888963407L;
    return x;
  }

  public static void main(String[] args) throws InterruptedException {
    int threads = Integer.parseInt(args[0]);
    int alive = Integer.parseInt(args[1]);
    int units = Integer.parseInt(args[2]);
    for (int i = 0; i < 20; ++i) sum = work(i);  // warm-up until it is compiled
    long[] results = new long[threads];
    Semaphore places = new Semaphore(alive);
    Thread[] all = new Thread[threads];
    for (int t = 0; t < threads; ++t) {
      int mine = t;
      places.acquire();
      all[t] = new Thread(null, () -> {
        long x = mine;
        for (int i = 0; i < units; ++i) x = work(x);
        results[mine] = x;
        places.release();
      }, "many-" + t, 256 * 1024);
      all[t].start();
    }
    long total = 0;
    for (int t = 0; t < threads; ++t) {
      all[t].join();
      total += results[t];
    }
    System.out.println(threads + " threads: " + total);
  }
}
