import java.io.InputStream;
import java.util.function.LongUnaryOperator;

/**
 * For tprof: two methods whose times are 2:1, repeatedly loaded, compiled and unloaded, so that the
 * code of one is placed at the former address of the other's. Arguments: rounds, iterations of the
 * shorter one.
 */
public final class TickShares {
  /** A class loader that defines its own copy of one class, to be unloaded with it. */
  private static final class Copies extends ClassLoader {
    Copies() {
      super(TickShares.class.getClassLoader());
    }

    LongUnaryOperator load(String name) throws Exception {
      try (InputStream in = TickShares.class.getResourceAsStream(name + ".class")) {
        final byte[] bytes = in.readAllBytes();
        return (LongUnaryOperator) defineClass(name, bytes, 0, bytes.length).getDeclaredConstructor().newInstance();
      }
    }
  }

  public static void main(String[] args) throws Exception {
    final int rounds = Integer.parseInt(args[0]);
    final long iterations = Long.parseLong(args[1]);
    long sum = 0;
    for (int round = 0; round < rounds; ++round) {
      sum += new Copies().load("TickShares$Twice").applyAsLong(2 * iterations);
      System.gc();
      sum += new Copies().load("TickShares$Once").applyAsLong(iterations);
      System.gc();
    }
    System.out.println("sum " + sum);
  }

  /** Work that compilers cannot eliminate. */
  public static final class Twice implements LongUnaryOperator {
    @Override
    public long applyAsLong(long iterations) {
      return spinTwice(iterations);
    }

    private static long spinTwice(long iterations) {
      long x = 1;
      for (long i = 0; i < iterations; ++i) {
        x ^= x << 13;
        x ^= x >>> 7;
        x ^= x << 17;
      }
      return x;
    }
  }

  /** The same. */
  public static final class Once implements LongUnaryOperator {
    @Override
    public long applyAsLong(long iterations) {
      return spinOnce(iterations);
    }

    private static long spinOnce(long iterations) {
      long x = 1;
      for (long i = 0; i < iterations; ++i) {
        x ^= x << 13;
        x ^= x >>> 7;
        x ^= x << 17;
      }
      return x;
    }
  }
}
