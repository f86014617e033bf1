import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/**
 * Stacks of known shapes, for the walker's test: stack_walk_test.py lists which method may call
 * which. Each shape runs for the given number of milliseconds (first argument). The oracle's
 * library (property walk.oracle) contains the native method.
 */
final class StackShapes {
  static volatile long sink;

  // --- 400 frames deep: static, virtual, interface and synchronized methods alternately.
  interface Level {
    int go(int n);
  }

  static class Odd implements Level {
    @Override
    public int go(int n) {
      return n <= 0 ? bottom(n) : up(n - 1) + 1;
    }

    int up(int n) {
      return n <= 0 ? bottom(n) : even(n - 1) + 1;
    }
  }

  static final class Even extends Odd {
    @Override
    public synchronized int go(int n) {
      return n <= 0 ? bottom(n) : up(n - 1) + 2;
    }
  }

  static final Level[] LEVELS = {new Odd(), new Even()};

  static int even(int n) {
    return n <= 0 ? bottom(n) : LEVELS[n & 1].go(n - 1) + 1;
  }

  static int bottom(int n) {
    long sum = n;
    for (int i = 0; i < 20_000; ++i) sum += sum * 31 + i;
    sink = sum;
    return 1;
  }

  static int deep() {
    return even(400);
  }

  // --- Megamorphic calls: through vtable and itable stubs.
  interface Area {
    int area(int x);
  }

  abstract static class Shape implements Area {
    abstract int grow(int x);
  }

  static final class S0 extends Shape {
    @Override
    public int area(int x) {
      return x;
    }

    @Override
    int grow(int x) {
      return x + 1;
    }
  }

  static final class S1 extends Shape {
    @Override
    public int area(int x) {
      return x + 1;
    }

    @Override
    int grow(int x) {
      return x + 2;
    }
  }

  static final class S2 extends Shape {
    @Override
    public int area(int x) {
      return x + 2;
    }

    @Override
    int grow(int x) {
      return x + 3;
    }
  }

  static final class S3 extends Shape {
    @Override
    public int area(int x) {
      return x + 3;
    }

    @Override
    int grow(int x) {
      return x + 4;
    }
  }

  static final Shape[] SHAPES = {new S0(), new S1(), new S2(), new S3()};

  static int callInterface(Area area, int x) {
    return area.area(x);
  }

  static int callVirtual(Shape shape, int x) {
    return shape.grow(x);
  }

  static int megamorphic() {
    int sum = 0;
    for (int i = 0; i < 20_000; ++i) {
      sum += callInterface(SHAPES[i & 3], i);
      sum += callVirtual(SHAPES[i + 1 & 3], i);
    }
    return sum;
  }

  // --- Intrinsics and copying stubs.
  static final char[] CHARS = new char[4000];
  static final byte[] BYTES = new byte[8000];

  static int strings() {
    String text = new String(CHARS).replace('\0', 'x');
    StringBuilder builder = new StringBuilder();
    for (int i = 0; i < 20; ++i) builder.append(text, 0, 100 * i).append(i);
    String long_ = builder.toString();
    System.arraycopy(BYTES, 0, BYTES, 100, 7000);
    return long_.indexOf("xy") + long_.hashCode() + (long_.equals(text + "y") ? 1 : 0) + long_.compareTo(text);
  }

  // --- Lambdas and streams.
  static int lambdas() {
    IntUnaryOperator f = x -> x + 1;
    for (int i = 0; i < 5; ++i) f = f.andThen(StackShapes::step);
    int sum = 0;
    for (int i = 0; i < 2_000; ++i) sum += f.applyAsInt(i);
    return sum + IntStream.range(0, 500).map(x -> step(x)).filter(x -> odd(x)).sum();
  }

  static int step(int x) {
    return x * 31 + 7;
  }

  static boolean odd(int x) {
    return (x & 1) != 0;
  }

  // --- A native loop that calls back into Java, and continues.
  static native int nativeLoop(int rounds);

  static int back(int n) {
    int sum = 0;
    for (int i = 0; i < 200; ++i) sum += step(i + n);
    return sum;
  }

  static int natives() {
    return nativeLoop(20);
  }

  // --- Exceptions through many frames.
  static int thrower(int n) {
    if (n == 0) throw new IllegalStateException("deep");
    return thrower(n - 1) + 1;
  }

  static int exceptions() {
    int caught = 0;
    for (int i = 0; i < 20; ++i) {
      try {
        caught += thrower(30);
      } catch (IllegalStateException e) {
        ++caught;
      }
    }
    return caught;
  }

  // --- A loop that is compiled while it runs, and allocation.
  static int loop() {
    int sum = 0;
    for (int i = 0; i < 200_000; ++i) sum += i ^ sum << 1;
    return sum;
  }

  static int allocation() {
    List<Object> kept = new ArrayList<>();
    for (int i = 0; i < 2_000; ++i) kept.add(new int[i & 63]);
    return kept.size();
  }

  interface Work {
    int run();
  }

  static void during(long millis, Work work) {
    long end = System.nanoTime() + millis * 1_000_000;
    while (System.nanoTime() < end) sink += work.run();
  }

  static void all(long millis) {
    during(millis, StackShapes::deep);
    during(millis, StackShapes::megamorphic);
    during(millis, StackShapes::strings);
    during(millis, StackShapes::lambdas);
    during(millis, StackShapes::natives);
    during(millis, StackShapes::exceptions);
    during(millis, StackShapes::loop);
    during(millis, StackShapes::allocation);
  }

  public static void main(String[] args) throws Exception {
    System.load(System.getProperty("walk.oracle"));
    long millis = Long.parseLong(args[0]);
    Thread other = new Thread(() -> all(millis), "other");
    other.start();
    all(millis);
    other.join();
    System.out.println("done");
  }
}
