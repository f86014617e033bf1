//@ group sync
/** Synchronized methods, static and not, contended, waiting, and left by exceptions. */
final class Sync {
  static int total;
  int mine;

  static synchronized void staticSync() {
    ++total;
  }

  synchronized void instanceSync() {
    ++mine;
  }

  synchronized int recursive(int n) {
    return n == 0 ? 0 : 1 + recursive(n - 1);
  }

  synchronized void throwing(int i) {
    if (i % 2 == 0) throw new IllegalArgumentException();
  }

  static synchronized int staticThrowing(int i, int zero) {
    return i / zero;
  }

  void block(int i) {
    synchronized (this) {
      if (i % 2 == 0) throw new IllegalArgumentException();
      mine += 0;
    }
  }

  int tickets;

  synchronized void produce() {
    ++tickets;
    notifyAll();
  }

  synchronized void consume() throws InterruptedException {
    while (tickets == 0) wait();
    --tickets;
  }

  static void work(Sync shared, int n) {
    for (int i = 0; i < n; ++i) {
      staticSync();
      shared.instanceSync();
      try {
        shared.throwing(i);
      } catch (IllegalArgumentException e) {
        // by construction
      }
      try {
        shared.block(i);
      } catch (IllegalArgumentException e) {
        // by construction
      }
    }
  }

  public static void main(String[] args) throws Exception {
    int threads = 4, n = 20_000;
    Sync shared = new Sync();
    Thread[] all = new Thread[threads];
    for (int t = 0; t < threads; ++t) {
      all[t] = new Thread(() -> work(shared, n), "worker-" + t);
      all[t].start();
    }
    for (Thread t : all) t.join();
    Expect.that(total == threads * n && shared.mine == threads * n, "totals");

    for (int i = 0; i < 200; ++i) shared.recursive(100);
    int caught = 0;
    for (int i = 0; i < n; ++i) {
      try {
        staticThrowing(i, 0);
      } catch (ArithmeticException e) {
        ++caught;
      }
    }
    Expect.that(caught == n, "static throwing");

    int goods = 2000;
    Thread producer =
        new Thread(
            () -> {
              for (int i = 0; i < goods; ++i) shared.produce();
            },
            "producer");
    producer.start();
    for (int i = 0; i < goods; ++i) shared.consume();
    producer.join();

    Expect.calls("Sync.work(LSync;I)V", threads);
    Expect.calls("Sync.staticSync()V", threads * n);
    Expect.calls("Sync.instanceSync()V", threads * n);
    Expect.calls("Sync.throwing(I)V", threads * n);
    Expect.calls("Sync.block(I)V", threads * n);
    Expect.calls("Sync.recursive(I)I", 200 * 101);
    Expect.calls("Sync.staticThrowing(II)I", n);
    Expect.calls("Sync.produce()V", goods);
    Expect.calls("Sync.consume()V", goods);
    for (int t = 0; t < threads; ++t) {
      Expect.thread("worker-" + t, "Sync.staticSync()V", n);
      Expect.thread("worker-" + t, "Sync.throwing(I)V", n);
    }
    Expect.thread("producer", "Sync.produce()V", goods);
    Expect.thread("main", "Sync.consume()V", goods);
  }
}
