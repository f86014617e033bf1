/**
 * Counts until it is killed, for a minute at most, and prints how far it is: "MARK n" after n calls of leaf. For kill -9
 * and reading while it runs.
 */
final class Marker {
  static void leaf() {}

  static void batch(int n) {
    for (int i = 0; i < n; ++i) leaf();
  }

  public static void main(String[] args) {
    long end = System.nanoTime() + 60_000_000_000L;
    for (long total = 0; System.nanoTime() < end; ) {
      batch(1000);
      total += 1000;
      System.out.println("MARK " + total);
    }
  }
}
