//@ group calls
import java.util.Arrays;
import java.util.Comparator;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntBinaryOperator;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/** Lambdas (capturing and not), method references of every kind, streams, a comparator, exceptions out of a lambda. */
final class Lambdas {
  static int twice(int x) {
    return 2 * x;
  }

  int offset = 3;

  int shift(int x) {
    return x + offset;
  }

  static int apply(IntUnaryOperator f, int x) {
    return f.applyAsInt(x);
  }

  static int combine(IntBinaryOperator f, int x) {
    return f.applyAsInt(x, x);
  }

  static int fromLambda(int x) {
    return x + 1;
  }

  static int captured(int x, int y) {
    return x + y;
  }

  static void boom() {
    throw new IllegalStateException();
  }

  static final class Item {
    final int key;

    Item(int key) {
      this.key = key;
    }

    static final AtomicInteger COMPARISONS = new AtomicInteger();

    static int compare(Item a, Item b) {
      COMPARISONS.incrementAndGet();
      return Integer.compare(a.key, b.key);
    }
  }

  static Item make() {
    return new Item(1);
  }

  public static void main(String[] args) {
    int n = 30_000;
    Lambdas self = new Lambdas();
    long sum = 0;
    for (int i = 0; i < n; ++i) {
      int j = i;
      sum += apply(Lambdas::twice, i);
      sum += apply(self::shift, i);
      sum += apply(x -> fromLambda(x), i);
      sum += apply(x -> captured(x, j), i);
      sum += combine(Integer::sum, i);
    }
    Expect.that(sum == n * (n - 1L) / 2 * 8 + 4L * n, "sum");
    Supplier<Item> supplier = Lambdas::make;
    Supplier<Object> constructor = Object::new;
    for (int i = 0; i < n; ++i) {
      supplier.get();
      constructor.get();
    }
    int caught = 0;
    Runnable bomb = () -> boom();
    for (int i = 0; i < n; ++i) {
      try {
        bomb.run();
      } catch (IllegalStateException e) {
        ++caught;
      }
    }
    Expect.that(caught == n, "caught");
    int total = IntStream.range(0, n).map(Lambdas::twice).filter(x -> keep(x)).sum();
    Expect.that(total > 0, "stream");
    Item[] items = new Item[2000];
    for (int i = 0; i < items.length; ++i) items[i] = new Item(i * 7919 % 2003);
    Comparator<Item> comparator = Item::compare;
    Arrays.sort(items, comparator);

    Expect.calls("Lambdas.apply(Ljava/util/function/IntUnaryOperator;I)I", 4L * n);
    Expect.calls("Lambdas.combine(Ljava/util/function/IntBinaryOperator;I)I", n);
    Expect.calls("Lambdas.twice(I)I", 2L * n);
    Expect.calls("Lambdas.shift(I)I", n);
    Expect.calls("Lambdas.fromLambda(I)I", n);
    Expect.calls("Lambdas.captured(II)I", n);
    Expect.calls("Lambdas.boom()V", n);
    Expect.calls("Lambdas.keep(I)Z", n);
    Expect.calls("Lambdas.make()LLambdas$Item;", n);
    Expect.calls("Lambdas$Item.<init>(I)V", n + items.length);
    Expect.calls("Lambdas$Item.compare(LLambdas$Item;LLambdas$Item;)I", Item.COMPARISONS.get());
    Expect.calls("Lambdas.lambda$main$*", 4L * n);  // x -> fromLambda, x -> captured, bomb, keep
  }

  static boolean keep(int x) {
    return (x & 3) == 0;
  }
}
