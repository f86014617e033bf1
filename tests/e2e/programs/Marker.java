/**
 * Counts until it is killed, for at most a minute, and prints its progress: "MARK n" after n calls
 * of leaf. For tests of kill -9 and of reading a profile during the recording.
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
