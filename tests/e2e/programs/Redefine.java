//@ group classes
//@ agentjar
import java.io.InputStream;
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.locks.LockSupport;

/**
 * A class redefined 200 times while two threads run its methods and have frames of old versions on
 * their stacks: a method keeps its name and its counts in all versions.
 */
final class Redefine {
  static Instrumentation instrumentation;

  public static void premain(String args, Instrumentation inst) {
    instrumentation = inst;
  }

  static final class Target {
    static final String VERSION = "version-0000";

    static int outer(int i) {
      int sum = 0;
      for (int k = 0; k < 5; ++k) sum += inner(i + k);
      return sum;
    }

    static int inner(int i) {
      if (i % 97 == 0) throw new IllegalStateException();
      return marker().length();
    }

    static String marker() {
      return "version-0000";
    }
  }

  static volatile boolean stop;

  static final class Worker extends Thread {
    int outers, caught, inners, markers;

    @Override
    public void run() {
      for (int i = 0; !stop || i < 2000; ++i) {
        if (i > 2000 && i % 32 == 0) LockSupport.parkNanos(50_000);  // limits the size of a trace
        ++outers;
        try {
          Target.outer(i);
          inners += 5;
          markers += 5;
        } catch (IllegalStateException e) {
          ++caught;
          int bad = 0;
          while ((i + bad) % 97 != 0) ++bad;
          inners += bad + 1;
          markers += bad;
        }
      }
    }
  }

  static void patch(byte[] bytes, int version) {
    byte[] text = "version-".getBytes(StandardCharsets.UTF_8);
    for (int at = 0; at + 12 <= bytes.length; ++at) {
      boolean match = true;
      for (int k = 0; k < text.length && match; ++k) match = bytes[at + k] == text[k];
      if (!match) continue;
      byte[] digits = String.format("%04d", version).getBytes(StandardCharsets.UTF_8);
      System.arraycopy(digits, 0, bytes, at + 8, 4);
    }
  }

  public static void main(String[] args) throws Exception {
    byte[] bytes;
    try (InputStream in = Redefine.class.getResourceAsStream("Redefine$Target.class")) {
      bytes = in.readAllBytes();
    }
    Worker[] workers = {new Worker(), new Worker()};
    for (Worker w : workers) w.start();
    int extra = 0;
    for (int version = 1; version <= 200; ++version) {
      byte[] next = bytes.clone();
      patch(next, version);
      instrumentation.redefineClasses(new ClassDefinition(Target.class, next));
      Expect.that(
          Target.marker().equals(String.format("version-%04d", version)), "version " + version);
      ++extra;
    }
    stop = true;
    long outers = 0, inners = 0, markers = extra, caught = 0;
    for (Worker w : workers) {
      w.join();
      outers += w.outers;
      inners += w.inners;
      markers += w.markers;
      caught += w.caught;
    }
    Expect.that(caught > 0, "caught");
    Expect.calls("Redefine$Target.outer(I)I", outers);
    Expect.calls("Redefine$Target.inner(I)I", inners);
    Expect.calls("Redefine$Target.marker()Ljava/lang/String;", markers);
    Expect.calls("Redefine$Worker.run()V", 2);
    Expect.calls("Redefine.patch([BI)V", 200);
  }
}
