import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;

/** args[0] threads, all alive at once; half of them are still alive when the program exits. */
final class LiveThreads {
  static int down(int n) {
    return n == 0 ? 0 : 1 + down(n - 1);
  }

  static void rest(int t, CountDownLatch done) throws Exception {
    done.countDown();
    if (t % 2 == 0) Thread.sleep(1_000_000);
  }

  static void body(int t, CyclicBarrier barrier, CountDownLatch done) {
    try {
      barrier.await();
      for (int i = 0; i < 20; ++i) down(50);
      barrier.await();
      rest(t, done);
    } catch (Exception e) {
      Expect.that(false, e.toString());
    }
  }

  public static void main(String[] args) throws Exception {
    int threads = Integer.parseInt(args[0]);
    CyclicBarrier barrier = new CyclicBarrier(threads);
    CountDownLatch done = new CountDownLatch(threads);
    for (int t = 0; t < threads; ++t) {
      int index = t;
      Thread thread = new Thread(null, () -> body(index, barrier, done), "live-" + t, 256 << 10);
      thread.setDaemon(true);
      thread.start();
    }
    done.await();
    Expect.calls("LiveThreads.down(I)I", threads * 20L * 51);
    Expect.thread("live-0", "LiveThreads.down(I)I", 20L * 51);
    Expect.thread("live-" + (threads - 1), "LiveThreads.down(I)I", 20L * 51);
    System.out.flush();
    System.exit(0);
  }
}
