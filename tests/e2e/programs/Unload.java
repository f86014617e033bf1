//@ group classes
//@ variants
//@ jvm -Xmx64m
import java.io.InputStream;
import java.lang.ref.WeakReference;

/**
 * The same class in 300 loaders, most of them collected meanwhile: the counts of methods with the
 * same name are added.
 */
final class Unload {
  /** Loaded by every loader. */
  public static final class Plugin implements Runnable {
    static int done;

    public Plugin() {}

    @Override
    public void run() {
      for (int i = 0; i < 100; ++i) work(i);
    }

    static void work(int i) {
      done += helper(i);
    }

    static int helper(int i) {
      return i & 1;
    }
  }

  static final class Loader extends ClassLoader {
    private final byte[] bytes;

    Loader(byte[] bytes) {
      super(Unload.class.getClassLoader());
      this.bytes = bytes;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      return name.equals("Unload$Plugin")
          ? defineClass(name, bytes, 0, bytes.length)
          : super.loadClass(name, resolve);
    }
  }

  static void round(byte[] bytes) throws Exception {
    Class<?> plugin = new Loader(bytes).loadClass("Unload$Plugin");
    ((Runnable) plugin.getDeclaredConstructor().newInstance()).run();
  }

  public static void main(String[] args) throws Exception {
    byte[] bytes;
    try (InputStream in = Unload.class.getResourceAsStream("Unload$Plugin.class")) {
      bytes = in.readAllBytes();
    }
    int loaders = 300;
    WeakReference<Object> first = new WeakReference<>(new Loader(bytes));
    for (int i = 0; i < loaders; ++i) {
      round(bytes);
      if (i % 60 == 59) System.gc();
    }
    for (int i = 0; i < 20 && first.get() != null; ++i) System.gc();
    Expect.that(first.get() == null, "nothing was unloaded");
    Expect.calls("Unload.round([B)V", loaders);
    Expect.calls("Unload$Plugin.<init>()V", loaders);
    Expect.calls("Unload$Plugin.run()V", loaders);
    Expect.calls("Unload$Plugin.work(I)V", 100L * loaders);
    Expect.calls("Unload$Plugin.helper(I)I", 100L * loaders);
    Expect.path(100L * loaders, "Unload$Plugin.run()V", "Unload$Plugin.work(I)V", "Unload$Plugin.helper(I)I");
  }
}
