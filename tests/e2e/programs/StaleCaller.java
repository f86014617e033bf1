/**
 * A caller that runs in compiled code that has been replaced, and that resolved its call when the
 * callee was interpreted: with -Xbatch -XX:-UseOnStackReplacement every call goes through the
 * callee's adapter, which requests the VM to patch the caller, without effect. First argument:
 * milliseconds.
 */
final class StaleCaller {
  static volatile boolean resolved, replaced;
  static volatile long sink;

  static int callee(int x) {
    return x + 1;
  }

  static void caller(long until) {
    while (System.nanoTime() < until) {
      sink += callee(1);
      resolved = true;
      while (!replaced) Thread.onSpinWait();
    }
  }

  public static void main(String[] args) throws InterruptedException {
    long now = System.nanoTime();
    for (int i = 0; i < 1_000; ++i) caller(now);  // compiled by C1
    Thread stale = new Thread(() -> caller(Long.MAX_VALUE / 2));
    stale.setDaemon(true);
    stale.start();
    while (!resolved) Thread.onSpinWait();
    for (int i = 0; i < 20_000; ++i) caller(now);  // and by C2
    replaced = true;
    Thread.sleep(Long.parseLong(args[0]));
  }
}
