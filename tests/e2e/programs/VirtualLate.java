//@ group virtual
//@ jdk 21
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The first virtual thread begins when compiled code of platform threads is running, and runs the
 * same methods: code that was compiled when there was no virtual thread.
 */
final class VirtualLate {
  static final int BATCH = 20_000, VIRTUAL = 50;
  static volatile boolean stop;
  static final AtomicLong batches = new AtomicLong();

  static long mix(long x) {
    return x * 0x9e3779b97f4a7c15L ^ x >>> 29;
  }

  static long batch(long x) {
    for (int i = 0; i < BATCH; ++i) x = mix(x);
    batches.incrementAndGet();
    return x;
  }

  static void platform() {
    long x = 1;
    for (int i = 0; i < 40 || !stop; ++i) x = batch(x);
    if (x == 42) System.out.println("a chance in 2^64");
  }

  static void virtual() {
    long x = 2;
    for (int i = 0; i < 4; ++i) {
      x = batch(x);
      Thread.yield();
    }
    if (x == 42) System.out.println("a chance in 2^64");
  }

  public static void main(String[] args) throws Exception {
    final Thread other = new Thread(VirtualLate::platform, "other");
    other.start();
    long x = 3;
    for (int i = 0; i < 40; ++i) x = batch(x);
    final List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < VIRTUAL; ++i) threads.add(Thread.startVirtualThread(VirtualLate::virtual));
    for (Thread thread : threads) thread.join();
    stop = true;
    other.join();
    if (x == 42) System.out.println("a chance in 2^64");
    Expect.calls("VirtualLate.virtual()V", VIRTUAL);
    Expect.calls("VirtualLate.platform()V", 1);
    Expect.calls("VirtualLate.batch(J)J", (int) batches.get());
    Expect.calls("VirtualLate.mix(J)J", (int) (batches.get() * BATCH));
    Expect.path(4 * VIRTUAL, "VirtualLate.virtual()V", "VirtualLate.batch(J)J");
    Expect.path(4 * VIRTUAL * BATCH, "VirtualLate.virtual()V", "VirtualLate.batch(J)J",
        "VirtualLate.mix(J)J");
  }
}
