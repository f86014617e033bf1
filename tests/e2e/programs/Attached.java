//@ group natives
//@ native
/** Threads created by pthread_create that attach, call Java and detach, several times each. */
final class Attached {
  /**
   * Runs `threads` pthreads; each attaches `times` times as a thread named "native-I" and calls
   * work n times.
   */
  static native void run(int threads, int times, int calls);

  static native void runDaemon(int calls);

  static void work(int i) {
    leaf();
  }

  static void leaf() {}

  public static void main(String[] args) {
    System.loadLibrary("e2e_native");
    run(8, 5, 1000);
    runDaemon(500);
    Expect.calls("Attached.run(III)V", 1);
    Expect.calls("Attached.runDaemon(I)V", 1);
    Expect.calls("Attached.work(I)V", 8 * 5 * 1000 + 500);
    Expect.calls("Attached.leaf()V", 8 * 5 * 1000 + 500);
    Expect.path(8 * 5 * 1000 + 500, "Attached.work(I)V", "Attached.leaf()V");
    for (int t = 0; t < 8; ++t) Expect.thread("native-" + t, "Attached.work(I)V", 5000);
  }
}
