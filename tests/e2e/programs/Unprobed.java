/**
 * Has its probes removed from all that is compiled after the method `probed`. Run with -Xbatch: a
 * method that is compiled then runs no longer in the interpreter.
 */
final class Unprobed {
  static native void removeProbes();

  static int probed(int n) {
    return n * 31;
  }

  static int unprobed(int n) {
    return n * 33;
  }

  public static void main(String[] args) {
    System.load(System.getProperty("Unprobed.natives"));
    int sum = 0;
    for (int i = 0; i < 30_000; ++i) sum += probed(i);
    removeProbes();
    for (int i = 0; i < 30_000; ++i) sum += unprobed(i);
    System.out.println(sum);
  }
}
