/** Fills a heap with 48 MB of live arrays, in several threads. */
public class Live {
  static final byte[][] kept = new byte[480][];

  public static void main(String[] words) throws Exception {
    Thread[] threads = new Thread[4];
    for (int t = 0; t < threads.length; t++) {
      final int first = t * 120;
      threads[t] = new Thread(() -> {
        for (int i = 0; i < 120; i++) kept[first + i] = new byte[100_000];
      });
      threads[t].start();
    }
    for (Thread thread : threads) thread.join();
    long sum = 0;
    for (int i = 0; i < 2_000_000; i++) sum += kept[i % 480][i % 1000] + Integer.toString(i).length();
    System.out.println("sum " + sum);
  }
}
