//@ native
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongUnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * For callstack sampling: parts of all kinds, each measured by the thread's CPU clock. Prints "part
 * NAME NANOSECONDS". Arguments: seconds of CPU time, part names (default: all); or -ROUNDS and
 * PART=AMOUNT for a constant amount of work. The native part requires the property
 * SampledParts.natives.
 */
public final class SampledParts {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final long TURN_NS = 3_000_000; // of one run of a part
  private static final Map<String, Part> PARTS = new LinkedHashMap<>();
  private static final Map<String, Long> TIMES = new LinkedHashMap<>();
  private static long result;

  private interface Part {
    long run(long n);
  }

  public static void main(String[] args) {
    if (System.getProperty("SampledParts.natives") != null) {
      System.load(System.getProperty("SampledParts.natives"));
      PARTS.put("partNative", SampledParts::partNative);
    }
    PARTS.put("partSeparate", SampledParts::partSeparate);
    PARTS.put("partInlined", SampledParts::partInlined);
    PARTS.put("partDown400", SampledParts::partDown400);
    PARTS.put("partDown1500", SampledParts::partDown1500);
    PARTS.put("partFib", SampledParts::partFib);
    PARTS.put("partVirtualCalls", SampledParts::partVirtualCalls);
    PARTS.put("partInterfaceCalls", SampledParts::partInterfaceCalls);
    PARTS.put("partStrings", SampledParts::partStrings);
    PARTS.put("partCopies", SampledParts::partCopies);
    PARTS.put("partLambdas", SampledParts::partLambdas);
    PARTS.put("partStreams", SampledParts::partStreams);
    final Map<String, Long> amounts = new LinkedHashMap<>();
    for (int i = 1; i < args.length; ++i) {
      final String[] words = args[i].split("=");
      amounts.put(words[0], words.length > 1 ? Long.parseLong(words[1]) : 1L);
    }
    if (!amounts.isEmpty()) PARTS.keySet().retainAll(amounts.keySet());
    final double much = Double.parseDouble(args[0]);
    final long end = now() + (long) (much * 1e9);
    for (int round = 0; much < 0 ? round < -much : now() < end; ++round) {
      for (Map.Entry<String, Part> part : PARTS.entrySet()) turn(part.getKey(), part.getValue(), amounts, much > 0);
    }
    TIMES.forEach((name, ns) -> System.out.println("part " + name + " " + ns));
    if (result == 42) System.out.println("never");
  }

  /** Runs one part once. `adapt`: adjusts its amount of work so that a run takes TURN_NS. */
  private static void turn(String name, Part part, Map<String, Long> amounts, boolean adapt) {
    final long n = amounts.getOrDefault(name, 1L);
    final long before = now();
    result += part.run(n);
    final long took = add(name, before) - before;
    if (adapt) amounts.put(name, Math.max(1, took < TURN_NS / 8 ? 2 * n : n * TURN_NS / took));
  }

  private static long now() {
    return THREADS.getCurrentThreadCpuTime();
  }

  private static long add(String name, long since) {
    final long now = now();
    TIMES.merge(name, now - since, Long::sum);
    return now;
  }

  private static long spin(long n) {
    long x = n | 1;
    for (long i = 0; i < n; ++i) {
      x ^= x << 13;
      x ^= x >>> 7;
      x ^= x << 17;
    }
    return x;
  }

  // Separately compiled methods at 1:2:4.
  static long partSeparate(long n) {
    long t = now();
    long sum = separateOne(20 * n);
    t = add("separateOne", t);
    sum += separateTwo(40 * n);
    t = add("separateTwo", t);
    sum += separateFour(80 * n);
    add("separateFour", t);
    return sum;
  }

  private static long separateOne(long n) {
    return spin(n);
  }

  private static long separateTwo(long n) {
    return spin(n);
  }

  private static long separateFour(long n) {
    return spin(n);
  }

  // The same, inlined into one compiled method.
  static long partInlined(long n) {
    long t = now();
    long sum = inlinedOne(20 * n);
    t = add("inlinedOne", t);
    sum += inlinedTwo(40 * n);
    t = add("inlinedTwo", t);
    sum += inlinedFour(80 * n);
    add("inlinedFour", t);
    return sum;
  }

  private static long inlinedOne(long n) {
    long x = 7;
    for (long i = 0; i < n; ++i) x = x * 31 + (x >>> 9);
    return x;
  }

  private static long inlinedTwo(long n) {
    long x = 9;
    for (long i = 0; i < n; ++i) x = x * 37 + (x >>> 8);
    return x;
  }

  private static long inlinedFour(long n) {
    long x = 11;
    for (long i = 0; i < n; ++i) x = x * 41 + (x >>> 7);
    return x;
  }

  static long partDown400(long n) {
    return down400(400, 100 * n);
  }

  private static long down400(int depth, long n) {
    return depth == 0 ? spin(n) : 1 + down400(depth - 1, n);
  }

  static long partDown1500(long n) {
    return down1500(1500, 100 * n);
  }

  private static long down1500(int depth, long n) {
    return depth == 0 ? spin(n) : 1 + down1500(depth - 1, n);
  }

  static long partFib(long n) {
    long sum = 0;
    for (long i = 0; i < n; ++i) sum += fib(15);
    return sum;
  }

  private static int fib(int n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
  }

  static native long nativeSpin(long n);

  static long partNative(long n) {
    return nativeSpin(100 * n);
  }

  // Megamorphic calls, through vtable and itable.
  private interface Turning {
    long turned(long x);
  }

  private abstract static class Shape implements Turning {
    abstract long step(long x);
  }

  private static final class Shape0 extends Shape {
    @Override
    long step(long x) {
      return x + 1;
    }

    @Override
    public long turned(long x) {
      return x ^ 1;
    }
  }

  private static final class Shape1 extends Shape {
    @Override
    long step(long x) {
      return x * 3;
    }

    @Override
    public long turned(long x) {
      return x ^ 3;
    }
  }

  private static final class Shape2 extends Shape {
    @Override
    long step(long x) {
      return x - 5;
    }

    @Override
    public long turned(long x) {
      return x + 5;
    }
  }

  private static final class Shape3 extends Shape {
    @Override
    long step(long x) {
      return x << 1;
    }

    @Override
    public long turned(long x) {
      return x - 7;
    }
  }

  private static final Shape[] SHAPES = {new Shape0(), new Shape1(), new Shape2(), new Shape3()};

  static long partVirtualCalls(long n) {
    long x = n;
    for (int i = 0; i < 20 * n; ++i) x = SHAPES[i & 3].step(x);
    return x;
  }

  private static final Turning[] TURNING = {new Shape3(), new Shape2(), new Shape1(), new Shape0()};

  static long partInterfaceCalls(long n) {
    long x = n;
    for (int i = 0; i < 20 * n; ++i) x = TURNING[i & 3].turned(x);
    return x;
  }

  private static final String LONG = "abcdefghijklmnopqrstuvwxyz".repeat(100);
  private static final String LONGER = LONG + "!";

  static long partStrings(long n) {
    long sum = 0;
    for (long i = 0; i < n; ++i) {
      sum += LONGER.indexOf('!') + LONG.compareTo(LONGER) + LONGER.indexOf("z!");
      if (LONGER.startsWith(LONG) && LONGER.substring(1).equals(LONG)) ++sum;
      sum += new String(LONG.toCharArray()).hashCode();
    }
    return sum;
  }

  private static final byte[] FROM = new byte[16384], TO = new byte[16384];

  static long partCopies(long n) {
    long sum = 0;
    for (long i = 0; i < n; ++i) {
      System.arraycopy(FROM, 0, TO, (int) (i & 63), 16000);
      System.arraycopy(TO, 0, TO, 17, 12000);
      java.util.Arrays.fill(FROM, (byte) i);
      sum += TO[100] + FROM.clone()[5];
    }
    return sum;
  }

  static long partLambdas(long n) {
    LongUnaryOperator chain = x -> x + n;
    for (int i = 0; i < 40; ++i) {
      final int k = i;
      chain = i % 2 == 0 ? chain.andThen(x -> x * 3 + k) : chain.compose(x -> x ^ k);
    }
    long x = 1;
    for (long i = 0; i < n; ++i) x = chain.applyAsLong(x);
    return x;
  }

  static long partStreams(long n) {
    final List<Long> some = LongStream.range(0, 10 * n).boxed().filter(x -> x % 3 != 0).collect(Collectors.toCollection(ArrayList::new));
    return some.stream().mapToLong(x -> x + 1).map(x -> x * 7).sum();
  }
}
