//@ group exits
//@ exit 7
//@ open main
/** System.exit with a thousand frames on the stack and another thread in the middle of its work. */
final class ExitDeep {
  static void down(int n) {
    leaf();
    if (n == 0) System.exit(7);
    down(n - 1);
  }

  static void leaf() {}

  static void hook() {
    Expect.calls("ExitDeep.hook()V", 1);
  }

  static void block(Object lock) throws InterruptedException {
    synchronized (lock) {
      ready = true;
      lock.notifyAll();
      while (true) lock.wait();
    }
  }

  static boolean ready;

  public static void main(String[] args) throws Exception {
    Runtime.getRuntime().addShutdownHook(new Thread(ExitDeep::hook, "hook"));
    Object lock = new Object();
    Thread blocked =
        new Thread(
            () -> {
              try {
                block(lock);
              } catch (InterruptedException e) {
                // never
              }
            },
            "blocked");
    blocked.start();
    synchronized (lock) {
      while (!ready) lock.wait();
    }
    Expect.calls("ExitDeep.down(I)V", 1001);
    Expect.calls("ExitDeep.leaf()V", 1001);
    Expect.calls("ExitDeep.block(Ljava/lang/Object;)V", 1);
    Expect.thread("blocked", "ExitDeep.block(Ljava/lang/Object;)V", 1);
    Expect.path(1, "ExitDeep.main([Ljava/lang/String;)V", "ExitDeep.down(I)V");
    down(1000);
  }
}
