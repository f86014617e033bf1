//@ jdk 21
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Virtual threads that run, park and continue, for the walker's test: their stacks end at the start
 * of the thread.
 */
final class StackShapesVirtual {
  static volatile long sink;

  static int work(int n) {
    long sum = n;
    for (int i = 0; i < 20_000; ++i) sum += sum * 31 + i;
    sink = sum;
    return 1;
  }

  static int parking(int n) {
    if (n > 0) return parking(n - 1) + 1;
    LockSupport.parkNanos(1_000);
    return work(n);
  }

  static void running(long millis) {
    long end = System.nanoTime() + millis * 1_000_000;
    while (System.nanoTime() < end) sink += parking(20) + work(1);
  }

  public static void main(String[] args) throws Exception {
    long millis = 8 * Long.parseLong(args[0]);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 6; ++i) threads.add(Thread.ofVirtual().start(() -> running(millis)));
    for (Thread thread : threads) thread.join();
    System.out.println("done");
  }
}
