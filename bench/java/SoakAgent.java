import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A second agent in the program: it redefines and retransforms classes of H2 and of the JDK with
 * the bytes that they have, and {@link Changing} with other ones.
 */
public final class SoakAgent {
  static final AtomicLong redefined = new AtomicLong(), retransformed = new AtomicLong();
  static final AtomicLong changed = new AtomicLong();

  private static final int CHANGES_OF_TEN = 3;
  private static final String[] NAMES = {"java.lang.Thread", "java.lang.Integer",
      "java.util.HashMap", "java.util.ArrayList", "java.util.TreeMap", "java.lang.StringBuilder",
      "java.util.concurrent.ConcurrentHashMap", "java.math.BigDecimal", "java.util.Arrays",
      "org.h2.engine.SessionLocal", "org.h2.command.query.Select", "org.h2.command.dml.Insert",
      "org.h2.expression.BinaryOperation", "org.h2.mvstore.MVMap", "org.h2.mvstore.Page",
      "org.h2.value.ValueInteger", "org.h2.table.TableFilter", "org.h2.jdbc.JdbcPreparedStatement",
      "org.h2.result.LocalResult", "H2Soak"};

  /** Its method returns 1, or 2 in the other version, in the jar as Changing.2. */
  public static final class Changing {
    private Changing() {}

    public static int version() {
      return 1;
    }
  }

  private SoakAgent() {}

  /** Returns the bytes that it got, of classes that are transformed again. */
  private static final class SameBytes implements ClassFileTransformer {
    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> transformed,
        ProtectionDomain domain, byte[] bytes) {
      return transformed == null ? null : bytes.clone();
    }
  }

  private static byte[] bytes(String resource) throws IOException {
    try (InputStream in = ClassLoader.getSystemResourceAsStream(resource)) {
      if (in == null) throw new IOException("no resource " + resource);
      return in.readAllBytes();
    }
  }

  private static byte[] bytes(Class<?> of) throws IOException {
    return bytes(of.getName().replace('.', '/') + ".class");
  }

  private static void change(Instrumentation jvm, int version) throws Exception {
    byte[] bytes = version == 1 ? bytes(Changing.class) : bytes("Changing.2");
    jvm.redefineClasses(new ClassDefinition(Changing.class, bytes));
    int now = Changing.version();
    if (now != version) throw new IllegalStateException("version " + now + ", not " + version);
    changed.incrementAndGet();
  }

  private static void redefine(Instrumentation jvm, Class<?> one) throws Exception {
    jvm.redefineClasses(new ClassDefinition(one, bytes(one)));
    redefined.incrementAndGet();
  }

  private static void retransform(Instrumentation jvm, List<Class<?>> classes, int turn)
      throws Exception {
    Class<?> one = classes.get(turn % classes.size());
    Class<?> other = classes.get((turn + 7) % classes.size());
    jvm.retransformClasses(one, other);
    retransformed.addAndGet(2);
  }

  private static void turn(Instrumentation jvm, List<Class<?>> classes, int turn) {
    Class<?> one = classes.get(turn % classes.size());
    String what = "";
    try {
      what = "change";
      if (turn % 10 < CHANGES_OF_TEN) change(jvm, 1 + turn % 2);
      what = "redefine " + one.getName();
      if (turn % 2 == 0) redefine(jvm, one);
      what = "retransform " + one.getName();
      if (turn % 2 == 1) retransform(jvm, classes, turn);
    } catch (Throwable error) {
      H2Soak.wrong(what, error);
    }
  }

  private static void run(Instrumentation jvm, long pause) {
    List<Class<?>> classes = new ArrayList<>();
    try {
      for (String name : NAMES) classes.add(Class.forName(name));
      for (int turn = 0;; turn++) {
        Thread.sleep(pause);
        turn(jvm, classes, turn);
      }
    } catch (ReflectiveOperationException error) {
      H2Soak.wrong("a class to redefine", error);
    } catch (InterruptedException ended) {
      return;
    }
  }

  /** The argument: milliseconds between two turns. */
  public static void premain(String argument, Instrumentation jvm) {
    jvm.addTransformer(new SameBytes(), true);
    Thread thread = new Thread(() -> run(jvm, Long.parseLong(argument)), "second agent");
    thread.setDaemon(true);
    thread.start();
  }
}
