//@ group classes
import java.io.InputStream;
import java.lang.invoke.MethodHandles;

/** 60 hidden classes from the same bytes; some collected. */
final class Hidden {
  public static final class Body implements Runnable {
    static int count;

    public Body() {}

    @Override
    public void run() {
      for (int i = 0; i < 50; ++i) step(i);
    }

    static void step(int i) {
      count += i;
    }
  }

  public static void main(String[] args) throws Exception {
    byte[] bytes;
    try (InputStream in = Hidden.class.getResourceAsStream("Hidden$Body.class")) {
      bytes = in.readAllBytes();
    }
    for (int i = 0; i < 60; ++i) {
      Class<?> hidden = MethodHandles.lookup().defineHiddenClass(bytes, true).lookupClass();
      ((Runnable) hidden.getDeclaredConstructor().newInstance()).run();
      if (i % 20 == 19) System.gc();
    }
    Expect.calls("Hidden$Body*.<init>()V", 60);
    Expect.calls("Hidden$Body*.run()V", 60);
    Expect.calls("Hidden$Body*.step(I)V", 60 * 50);
  }
}
