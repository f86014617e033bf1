import java.io.InputStream;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongUnaryOperator;

/**
 * For callstack sampling: many threads of all kinds that load and unload classes, throw, allocate,
 * hold arrays in JNI, overflow their stacks, wait, and start platform and virtual threads. Each
 * kind's round has one correct result; the program prints the results, so that its output does not
 * depend on its duration. Arguments: seconds, threads.
 */
public final class SampledStorm {
  private interface Kind {
    long round() throws Exception;
  }

  private static final Map<String, Kind> KINDS = new HashMap<>();
  private static final AtomicReference<Throwable> failed = new AtomicReference<>();
  private static final Object[] LOCKS = new Object[8];
  private static Method startVirtual; // null before JDK 21
  private static volatile Object sink;

  public static void main(String[] args) throws Exception {
    final long end = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
    final int count = Integer.parseInt(args[1]);
    try {
      startVirtual = Thread.class.getMethod("startVirtualThread", Runnable.class);
      KINDS.put("virtual", SampledStorm::virtual);
    } catch (NoSuchMethodException e) {
      KINDS.put("virtual", () -> 12_750);
    }
    if (System.getProperty("SampledStorm.natives") != null) {
      System.load(System.getProperty("SampledStorm.natives"));
      KINDS.put("critical", SampledStorm::criticals);
    }
    for (int i = 0; i < LOCKS.length; ++i) LOCKS[i] = new Object();
    KINDS.put("classes", SampledStorm::classes);
    KINDS.put("exceptions", () -> exceptions(30));
    KINDS.put("garbage", SampledStorm::garbage);
    KINDS.put("overflow", SampledStorm::overflow);
    KINDS.put("monitors", SampledStorm::monitors);
    KINDS.put("strings", SampledStorm::strings);
    KINDS.put("threads", SampledStorm::threads);
    final List<String> names = new ArrayList<>(KINDS.keySet());
    names.sort(null);
    final Map<String, Long> right = new HashMap<>();
    for (String name : names) {
      right.put(name, KINDS.get(name).round());
      System.out.println(name + " " + right.get(name));
    }
    final List<Thread> all = new ArrayList<>();
    for (int i = 0; i < count; ++i) {
      final String name = names.get(i % names.size());
      // Small stacks, so that they overflow soon.
      all.add(new Thread(null, () -> run(name, right.get(name), end), name + "-" + i, 400_000));
    }
    for (Thread thread : all) thread.start();
    for (Thread thread : all) thread.join();
    if (failed.get() != null) throw new IllegalStateException(failed.get());
    System.out.println("all rounds the same");
  }

  private static void run(String name, long right, long end) {
    try {
      while (System.nanoTime() < end && failed.get() == null) {
        final long result = KINDS.get(name).round();
        if (result != right) throw new IllegalStateException(name + ": " + result + ", not " + right);
      }
    } catch (Throwable e) {
      failed.compareAndSet(null, e);
    }
  }

  /** A class loader that defines its own copy of one class, to be unloaded with it. */
  private static final class Copies extends ClassLoader {
    Copies() {
      super(SampledStorm.class.getClassLoader());
    }

    LongUnaryOperator load(byte[] bytes) throws Exception {
      return (LongUnaryOperator) defineClass("SampledStorm$Loaded", bytes, 0, bytes.length).getDeclaredConstructor().newInstance();
    }
  }

  /** Loaded repeatedly. */
  public static final class Loaded implements LongUnaryOperator {
    @Override
    public long applyAsLong(long n) {
      long sum = 0;
      for (int i = 0; i < 3000; ++i) sum += step(i, n);
      return sum;
    }

    private static long step(long i, long n) {
      return (i * n) ^ (i >>> 3);
    }
  }

  private static byte[] loaded;

  private static long classes() throws Exception {
    if (loaded == null) {
      try (InputStream in = SampledStorm.class.getResourceAsStream("SampledStorm$Loaded.class")) {
        loaded = in.readAllBytes();
      }
    }
    long sum = 0;
    for (int i = 0; i < 5; ++i) {
      final LongUnaryOperator copy = new Copies().load(loaded);
      sum += copy.applyAsLong(7) + copy.applyAsLong(9);
    }
    return sum;
  }

  private static long exceptions(int depth) {
    if (depth == 0) throw new IllegalArgumentException("thrown");
    try {
      return exceptions(depth - 1) + 1;
    } catch (IllegalArgumentException e) {
      if (depth % 10 != 0) throw e;
      if (depth < 30) throw new IllegalArgumentException(e);
      return e.getStackTrace().length > 0 ? depth : 0;
    } finally {
      sink = depth;
    }
  }

  private static long garbage() {
    long sum = 0;
    final List<byte[]> kept = new ArrayList<>();
    for (int i = 0; i < 200; ++i) {
      kept.add(new byte[(i & 15) * 512 + 16]);
      if (kept.size() > 20) kept.clear();
      sum += kept.size();
    }
    sink = new long[20_000];
    return sum;
  }

  private static native long critical(int[] array);

  private static long criticals() {
    final int[] array = new int[5000];
    for (int i = 0; i < array.length; ++i) array[i] = i;
    long sum = 0;
    for (int i = 0; i < 20; ++i) sum += critical(array);
    return sum;
  }

  private static int depth(int n, long a, long b) {
    return a == b ? n : depth(n + 1, a + 1, b - 1) + 1;
  }

  private static long overflow() {
    try {
      return depth(0, 1, 0);
    } catch (StackOverflowError e) {
      return -1;
    }
  }

  private static long monitors() throws Exception {
    long sum = 0;
    for (int i = 0; i < LOCKS.length; ++i) {
      synchronized (LOCKS[i]) {
        if (i == 3) LOCKS[i].wait(1);
        LOCKS[i].notifyAll();
        sum += i;
      }
    }
    return sum;
  }

  private static long strings() throws Exception {
    final StringBuilder text = new StringBuilder();
    for (int i = 0; i < 20; ++i) text.append(String.format("%d:%s,", i, Integer.toHexString(i * 77)));
    final String all = text.toString();
    final Method method = String.class.getMethod("indexOf", String.class);
    return all.hashCode() + (Integer) method.invoke(all, "19:") + all.replace(',', ';').split(";").length;
  }

  private static long join(List<Thread> threads, long[] sums) throws Exception {
    long sum = 0;
    for (int i = 0; i < sums.length; ++i) {
      threads.get(i).join();
      sum += sums[i];
    }
    return sum;
  }

  private static long threads() throws Exception {
    final long[] sums = new long[3];
    final List<Thread> all = new ArrayList<>();
    for (int i = 0; i < sums.length; ++i) {
      final int k = i;
      all.add(new Thread(() -> sums[k] = new Loaded().applyAsLong(k)));
      all.get(i).start();
    }
    return join(all, sums);
  }

  private static long virtual() throws Exception {
    final long[] sums = new long[10];
    final List<Thread> all = new ArrayList<>();
    for (int i = 0; i < sums.length; ++i) {
      final int k = i;
      final Runnable task = () -> sums[k] = yielding(50, k);
      all.add((Thread) startVirtual.invoke(null, task));
    }
    return join(all, sums);
  }

  private static long yielding(int depth, int k) {
    if (depth == 0) return 0;
    if (depth % 20 == 0) Thread.yield();
    if (depth == 30) {
      try {
        Thread.sleep(1);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
    return depth + yielding(depth - 1, k);
  }
}
