//@ group exits
//@ exit 1
/**
 * main ends with an exception while another thread continues: the VM ends with status 1 after that
 * thread.
 */
final class Uncaught {
  static void later() {
    try {
      Thread.sleep(50);
    } catch (InterruptedException e) {
      // never
    }
    for (int i = 0; i < 1000; ++i) leaf();
  }

  static void leaf() {}

  static void fail(int n) {
    if (n == 0) throw new IllegalStateException("expected");
    fail(n - 1);
  }

  public static void main(String[] args) {
    new Thread(Uncaught::later, "later").start();
    Expect.calls("Uncaught.later()V", 1);
    Expect.calls("Uncaught.leaf()V", 1000);
    Expect.thread("later", "Uncaught.leaf()V", 1000);
    Expect.calls("Uncaught.fail(I)V", 101);
    fail(100);
  }
}
