/** args[0] threads that end at once, at most 50 alive at a time. */
final class ShortThreads {
  static void work() {
    leaf();
    leaf();
  }

  static void leaf() {}

  public static void main(String[] args) throws Exception {
    int threads = Integer.parseInt(args[0]);
    for (int at = 0; at < threads; at += 50) {
      Thread[] some = new Thread[Math.min(50, threads - at)];
      for (int i = 0; i < some.length; ++i) {
        some[i] = new Thread(ShortThreads::work, "short");
        some[i].start();
      }
      for (Thread t : some) t.join();
    }
    Expect.calls("ShortThreads.work()V", threads);
    Expect.calls("ShortThreads.leaf()V", 2L * threads);
    Expect.thread("short", "ShortThreads.leaf()V", 2L * threads);
  }
}
