//@ group classes
/**
 * Static initialisers (threads race for them), constructors, super constructors, instance
 * initialisers, enums, records.
 */
final class Initialisers {
  static class Base {
    static int made;

    static {
      setup();
    }

    static void setup() {
      made = 0;
    }

    Base() {
      init();
    }

    void init() {
      ++made;
    }
  }

  static class Derived extends Base {
    int extra;

    {
      block();
    }

    Derived(int n) {
      extra = n;
    }

    void block() {}

    @Override
    void init() {
      super.init();
    }
  }

  static final class Raced {
    static int value = slow();

    static int slow() {
      int x = 0;
      for (int i = 0; i < 100_000; ++i) x += i & 1;
      return x;
    }

    static int get() {
      return value;
    }
  }

  enum Colour {
    RED,
    GREEN {
      @Override
      int code() {
        return 2;
      }
    };

    int code() {
      return 1;
    }
  }

  record Point(int x, int y) {
    Point {
      check(x);
    }

    static void check(int v) {}
  }

  final class Inner {
    int outerHash() {
      return mine();
    }
  }

  int mine() {
    return 7;
  }

  public static void main(String[] args) throws Exception {
    int n = 20_000;
    for (int i = 0; i < n; ++i) new Derived(i);
    Thread[] threads = new Thread[8];
    for (int t = 0; t < threads.length; ++t) {
      threads[t] = new Thread(Raced::get);
      threads[t].start();
    }
    for (Thread t : threads) t.join();
    int sum = 0;
    for (int i = 0; i < n; ++i) {
      for (Colour c : Colour.values()) sum += c.code();
    }
    Expect.that(sum == 3 * n, "enum");
    for (int i = 0; i < n; ++i) sum += new Point(i, i).x() - i;
    Initialisers outer = new Initialisers();
    for (int i = 0; i < n; ++i) outer.new Inner().outerHash();
    Expect.that(Base.made == n, "made");

    Expect.calls("Initialisers$Base.<clinit>()V", 1);
    Expect.calls("Initialisers$Base.setup()V", 1);
    Expect.calls("Initialisers$Base.<init>()V", n);
    Expect.calls("Initialisers$Base.init()V", n);
    Expect.calls("Initialisers$Derived.<init>(I)V", n);
    Expect.calls("Initialisers$Derived.block()V", n);
    Expect.calls("Initialisers$Derived.init()V", n);
    Expect.path(
        n, "Initialisers$Derived.<init>(I)V", "Initialisers$Base.<init>()V", "Initialisers$Derived.init()V");
    Expect.calls("Initialisers$Raced.<clinit>()V", 1);
    Expect.calls("Initialisers$Raced.slow()I", 1);
    Expect.calls("Initialisers$Raced.get()I", 8);
    Expect.calls("Initialisers$Colour.<clinit>()V", 1);
    Expect.calls("Initialisers$Colour.values()[LInitialisers$Colour;", n);
    Expect.calls("Initialisers$Colour.code()I", n);
    Expect.calls("Initialisers$Colour$1.code()I", n);
    Expect.calls("Initialisers$Point.<init>(II)V", n);
    Expect.calls("Initialisers$Point.check(I)V", n);
    Expect.calls("Initialisers$Point.x()I", n);
    Expect.calls("Initialisers$Inner.<init>(LInitialisers;)V", n);
    Expect.calls("Initialisers$Inner.outerHash()I", n);
    Expect.calls("Initialisers.mine()I", n);
  }
}
