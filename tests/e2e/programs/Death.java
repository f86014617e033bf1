//@ group threads
import java.util.concurrent.CountDownLatch;

/**
 * Asynchronous ends: Thread.stop if the JVM supports it, interrupts, ThreadDeath thrown by the
 * program.
 */
final class Death {
  static volatile boolean stopped;
  static volatile int spins;

  static void spin(CountDownLatch started) {
    started.countDown();
    while (!stopped) ++spins;
  }

  static void spinDeep(int n, CountDownLatch started) {
    if (n == 0) {
      spin(started);
    } else {
      spinDeep(n - 1, started);
    }
  }

  static void sleeper() throws InterruptedException {
    Thread.sleep(100_000);
  }

  static void byHand(int n) {
    if (n == 0) throw new ThreadDeath();
    byHand(n - 1);
  }

  static int after() {
    return 1;
  }

  @SuppressWarnings({"removal", "deprecation"})
  public static void main(String[] args) throws Exception {
    for (int round = 0; round < 5; ++round) {
      stopped = false;
      CountDownLatch started = new CountDownLatch(1);
      Thread thread =
          new Thread(
              () -> {
                try {
                  spinDeep(20, started);
                } catch (ThreadDeath e) {
                  // if Thread.stop works
                }
                after();
              },
              "stopped");
      thread.start();
      started.await();
      try {
        thread.stop();
      } catch (UnsupportedOperationException e) {
        stopped = true;
      }
      thread.join();
      Thread sleeping =
          new Thread(
              () -> {
                try {
                  sleeper();
                } catch (InterruptedException e) {
                  after();
                }
              });
      sleeping.start();
      sleeping.interrupt();
      sleeping.join();
      Thread dying = new Thread(() -> byHand(10), "dying");
      dying.start();
      dying.join();
    }
    Expect.calls("Death.spin(Ljava/util/concurrent/CountDownLatch;)V", 5);
    Expect.calls("Death.spinDeep(ILjava/util/concurrent/CountDownLatch;)V", 5 * 21);
    Expect.calls("Death.sleeper()V", 5);
    Expect.calls("Death.byHand(I)V", 5 * 11);
    Expect.calls("Death.after()I", 10);
  }
}
