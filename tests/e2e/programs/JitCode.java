import java.io.InputStream;
import java.lang.ref.WeakReference;

/**
 * Code that is compiled and unloaded. `hot`: a method that C2 compiles, with a loop and an inlined
 * callee. `loaders N`: the same class in N loaders, each compiled and most of them collected, so
 * that addresses are reused.
 */
final class JitCode {
  public static final class Plugin implements Runnable {
    static int done;

    public Plugin() {}

    @Override
    public void run() {
      for (int i = 0; i < 3000; ++i) done += work(i);
    }

    static int work(int i) {
      return twice(i) ^ (i >> 3);
    }

    static int twice(int i) {
      return i + i;
    }
  }

  static final class Loader extends ClassLoader {
    private final byte[] bytes;

    Loader(byte[] bytes) {
      super(JitCode.class.getClassLoader());
      this.bytes = bytes;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      return name.equals("JitCode$Plugin")
          ? defineClass(name, bytes, 0, bytes.length)
          : super.loadClass(name, resolve);
    }
  }

  static int hot(int rounds) {
    int sum = rounds;
    for (int i = 0; i < rounds; ++i) {
      sum += inlined(sum, i); // line of the call
    }
    return sum;
  }

  static int inlined(int a, int b) {
    return (a >>> 3) * 31 ^ b; // line of the callee
  }

  static void hot() {
    int sum = 0;
    for (int i = 0; i < 4000; ++i) sum ^= hot(20_000 + i);
    System.out.println("hot " + sum);
  }

  static void loaders(int count) throws Exception {
    byte[] bytes;
    try (InputStream in = JitCode.class.getResourceAsStream("JitCode$Plugin.class")) {
      bytes = in.readAllBytes();
    }
    WeakReference<Object> first = new WeakReference<>(new Loader(bytes));
    for (int i = 0; i < count; ++i) {
      Class<?> plugin = new Loader(bytes).loadClass("JitCode$Plugin", true);
      ((Runnable) plugin.getDeclaredConstructor().newInstance()).run();
      if (i % 20 == 19) System.gc();
    }
    for (int i = 0; i < 20 && first.get() != null; ++i) System.gc();
    System.out.println("loaders " + count + (first.get() == null ? "" : ", none was unloaded"));
  }

  static void thread() throws Exception {
    Thread thread = new Thread(() -> Thread.currentThread().setName("renamed-later"), "named-at-first");
    thread.start();
    thread.join();
  }

  public static void main(String[] args) throws Exception {
    thread();
    if (args[0].equals("hot")) hot();
    if (args[0].equals("loaders")) loaders(Integer.parseInt(args[1]));
  }
}
