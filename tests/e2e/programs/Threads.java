//@ group threads
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;

/**
 * Short threads, named threads, pools, a thread of the program at the end of the VM, daemons that
 * never return, uncaught exceptions.
 */
final class Threads {
  static void task(int calls) {
    for (int i = 0; i < calls; ++i) leaf();
  }

  static void leaf() {}

  static int pooled(int x) {
    leaf();
    return x;
  }

  static void endless(CountDownLatch ready) {
    daemonLeaf();
    ready.countDown();
    while (true) LockSupport.park();
  }

  static void daemonLeaf() {}

  static void dies() {
    doomed(3);
  }

  static void doomed(int n) {
    if (n == 0) throw new IllegalStateException("expected");
    doomed(n - 1);
  }

  static void hook() {
    leaf();
  }

  static final Thread EARLY = new Thread(() -> task(777), "early");

  static {
    EARLY.start();
  }

  public static void main(String[] args) throws Exception {
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < 100; ++t) {
      Thread thread = new Thread(() -> task(100), t % 2 == 0 ? "even" : "odd");
      threads.add(thread);
      thread.start();
    }
    CountDownLatch ready = new CountDownLatch(5);
    for (int t = 0; t < 5; ++t) {
      Thread daemon = new Thread(() -> endless(ready), "daemon-" + t);
      daemon.setDaemon(true);
      daemon.start();
    }
    ready.await();
    for (int t = 0; t < 3; ++t) {
      Thread thread = new Thread(Threads::dies, "dies");
      thread.setUncaughtExceptionHandler((where, error) -> uncaught());
      thread.start();
      thread.join();
    }
    ExecutorService pool = Executors.newFixedThreadPool(3);
    List<Future<Integer>> futures = new ArrayList<>();
    for (int i = 0; i < 2000; ++i) {
      int x = i;
      futures.add(pool.submit(() -> pooled(x)));
    }
    long sum = 0;
    for (Future<Integer> f : futures) sum += f.get();
    Expect.that(sum == 2000L * 1999 / 2, "pool");
    pool.shutdown();
    for (Thread t : threads) t.join();
    EARLY.join();
    // Runs while the VM ends, after this list was printed.
    Runtime.getRuntime().addShutdownHook(new Thread(Threads::hook, "hook"));

    Expect.calls("Threads.task(I)V", 101);
    Expect.calls("Threads.leaf()V", 100 * 100 + 777 + 2000 + 1);
    Expect.thread("early", "Threads.leaf()V", 777);
    Expect.thread("even", "Threads.leaf()V", 5000);
    Expect.thread("odd", "Threads.leaf()V", 5000);
    Expect.thread("hook", "Threads.leaf()V", 1);
    Expect.calls("Threads.pooled(I)I", 2000);
    Expect.calls("Threads.endless(Ljava/util/concurrent/CountDownLatch;)V", 5);
    Expect.calls("Threads.daemonLeaf()V", 5);
    Expect.thread("daemon-3", "Threads.daemonLeaf()V", 1);
    Expect.calls("Threads.dies()V", 3);
    Expect.calls("Threads.doomed(I)V", 12);
    Expect.calls("Threads.uncaught()V", 3);
    Expect.calls("Threads.<clinit>()V", 1);
    System.out.flush();
  }

  static void uncaught() {}
}
