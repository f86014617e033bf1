//@ group virtual
//@ jdk 21
//@ native
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Virtual threads pinned by a monitor or a native frame, threads that are not joined, and many
 * short ones that reuse trees.
 */
final class VirtualPinned {
  static native void pinned();

  static void pinnedYield() {
    Thread.yield();
    leaf();
  }

  static void leaf() {}

  static synchronized void monitor() throws InterruptedException {
    leaf();
    Thread.sleep(0, 1000);
    leaf();
  }

  static int task(int x) {
    leaf();
    Thread.yield();
    return x;
  }

  static void forever() {
    leaf();
    while (true) {
      try {
        Thread.sleep(1_000_000);
      } catch (InterruptedException e) {
        // never
      }
    }
  }

  static void interrupted() {
    try {
      Thread.sleep(1_000_000);
    } catch (InterruptedException e) {
      leaf();
    }
  }

  public static void main(String[] args) throws Exception {
    System.loadLibrary("e2e_native");
    List<Thread> all = new ArrayList<>();
    for (int t = 0; t < 50; ++t) {
      all.add(
          Thread.ofVirtual()
              .name("pinned")
              .start(
                  () -> {
                    for (int i = 0; i < 10; ++i) pinned();
                    try {
                      monitor();
                    } catch (InterruptedException e) {
                      // never
                    }
                  }));
    }
    for (Thread t : all) t.join();
    all.clear();
    for (int t = 0; t < 50; ++t) all.add(Thread.ofVirtual().start(VirtualPinned::interrupted));
    for (Thread t : all) t.interrupt();
    for (Thread t : all) t.join();
    long sum = 0;
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Integer>> futures = new ArrayList<>();
      for (int i = 0; i < 3000; ++i) {
        int x = i;
        futures.add(executor.submit(() -> task(x)));
      }
      for (Future<Integer> f : futures) sum += f.get();
    }
    Expect.that(sum == 3000L * 2999 / 2, "tasks");
    Thread left = Thread.ofVirtual().start(VirtualPinned::forever);
    while (left.getState() != Thread.State.TIMED_WAITING) Thread.sleep(1);
    Expect.calls("VirtualPinned.pinned()V", 500);
    Expect.calls("VirtualPinned.pinnedYield()V", 500);
    Expect.path(500, "VirtualPinned.pinned()V", "VirtualPinned.pinnedYield()V", "VirtualPinned.leaf()V");
    Expect.calls("VirtualPinned.monitor()V", 50);
    Expect.calls("VirtualPinned.task(I)I", 3000);
    Expect.calls("VirtualPinned.interrupted()V", 50);
    Expect.calls("VirtualPinned.forever()V", 1);
    Expect.calls("VirtualPinned.leaf()V", 500 + 100 + 50 + 3000 + 1);
    Expect.path(3000, "VirtualPinned.task(I)I", "VirtualPinned.leaf()V");
    Expect.path(100, "VirtualPinned.monitor()V", "VirtualPinned.leaf()V");
  }
}
