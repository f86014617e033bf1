//@ group exits
//@ exit 5
//@ open main
/**
 * Runtime.halt: no shutdown hooks and no orderly end of the VM; the file contains all counts up to
 * that point.
 */
final class Halt {
  static void work(int n) {
    for (int i = 0; i < n; ++i) leaf(i);
  }

  static void leaf(int i) {}

  static void stop() {
    System.out.flush();
    Runtime.getRuntime().halt(5);
  }

  public static void main(String[] args) {
    work(100_000);
    Expect.calls("Halt.work(I)V", 1);
    Expect.calls("Halt.leaf(I)V", 100_000);
    Expect.calls("Halt.stop()V", 1);
    stop();
  }
}
