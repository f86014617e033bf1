//@ group virtual
//@ jdk 21
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** 200 virtual threads that yield, sleep and park on deep stacks, and throw through them. */
final class Virtual {
  static final ReentrantLock LOCK = new ReentrantLock();
  static int guarded;

  static void yielding(int n) {
    for (int i = 0; i < n; ++i) {
      before();
      Thread.yield();
      afterwards();
    }
  }

  static void before() {}

  static void afterwards() {}

  static void sleeping(int n) throws InterruptedException {
    for (int i = 0; i < n; ++i) {
      before();
      Thread.sleep(1);
      afterwards();
    }
  }

  static void parking(int n) {
    for (int i = 0; i < n; ++i) {
      before();
      LockSupport.parkNanos(1000);
      afterwards();
    }
  }

  static void locking(int n) {
    for (int i = 0; i < n; ++i) {
      LOCK.lock();
      try {
        guard();
      } finally {
        LOCK.unlock();
      }
    }
  }

  static void guard() {
    ++guarded;
    if (guarded % 16 == 0) Thread.yield();
  }

  static void deep(int n) {
    if (n == 0) {
      Thread.yield();
      throw new IllegalStateException();
    }
    deep(n - 1);
  }

  static int caught(int n) {
    try {
      deep(n);
      return 0;
    } catch (IllegalStateException e) {
      return handler();
    }
  }

  static int handler() {
    return 1;
  }

  static void body() {
    yielding(20);
    try {
      sleeping(3);
    } catch (InterruptedException e) {
      // never
    }
    parking(5);
    locking(10);
    for (int i = 0; i < 5; ++i) caught(30);
  }

  public static void main(String[] args) throws Exception {
    int threads = 200;
    List<Thread> all = new ArrayList<>();
    for (int t = 0; t < threads; ++t) all.add(Thread.ofVirtual().start(Virtual::body));
    for (Thread t : all) t.join();
    Expect.that(guarded == threads * 10, "guarded");
    Expect.calls("Virtual.body()V", threads);
    Expect.calls("Virtual.yielding(I)V", threads);
    Expect.calls("Virtual.sleeping(I)V", threads);
    Expect.calls("Virtual.parking(I)V", threads);
    Expect.calls("Virtual.locking(I)V", threads);
    Expect.calls("Virtual.before()V", threads * 28L);
    Expect.calls("Virtual.afterwards()V", threads * 28L);
    Expect.calls("Virtual.guard()V", threads * 10L);
    Expect.calls("Virtual.caught(I)I", threads * 5L);
    Expect.calls("Virtual.deep(I)V", threads * 5L * 31);
    Expect.calls("Virtual.handler()I", threads * 5L);
    String body = "Virtual.body()V";
    Expect.path(threads * 20L, body, "Virtual.yielding(I)V", "Virtual.before()V");
    Expect.path(threads * 20L, body, "Virtual.yielding(I)V", "Virtual.afterwards()V");
    Expect.path(threads * 3L, body, "Virtual.sleeping(I)V", "Virtual.afterwards()V");
    Expect.path(threads * 5L, body, "Virtual.parking(I)V", "Virtual.afterwards()V");
    Expect.path(threads * 10L, body, "Virtual.locking(I)V", "Virtual.guard()V");
    Expect.path(threads * 5L, body, "Virtual.caught(I)I", "Virtual.handler()I");
    Expect.path(threads * 5L, body, "Virtual.caught(I)I", "Virtual.deep(I)V");
  }
}
