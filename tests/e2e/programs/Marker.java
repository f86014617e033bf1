/** Counts for ever and prints how far it is: "MARK n" after n calls of leaf. For kill -9 and reading while it runs. */
final class Marker {
  static void leaf() {}

  static void batch(int n) {
    for (int i = 0; i < n; ++i) leaf();
  }

  public static void main(String[] args) {
    for (long total = 0; ; ) {
      batch(1000);
      total += 1000;
      System.out.println("MARK " + total);
    }
  }
}
