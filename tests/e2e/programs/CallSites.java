//@ group sites
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;

/**
 * Calls the same methods at several places of a caller, and counts itself. A place is marked with
 * the index of its count; several in one line are in the order of the calls.
 */
final class CallSites {
  private final long[] seen = new long[64];

  int leaf(int site) {
    ++seen[site];
    return site;
  }

  int loops(int n) {
    int sum = 0;
    for (int i = 0; i < n; ++i) {
      sum += leaf(0); // site 0
      if (i % 3 == 0) sum += leaf(1); // site 1
      sum += (i % 4 == 0 ? leaf(2) : 0) + leaf(3); // site 2 3
      for (int j = i & 3; j > 0; --j) sum += leaf(4); // site 4
    }
    return sum;
  }

  // More sites than a node has slots.
  int many(int n) {
    int sum = 0;
    for (int i = 0; i < n; ++i) {
      sum += leaf(5) + leaf(6) + leaf(7) + leaf(8) + leaf(9) + leaf(10); // site 5 6 7 8 9 10
      sum += leaf(11) + leaf(12) + leaf(13) + leaf(14) + leaf(15); // site 11 12 13 14 15
      if (i % 2 == 0) sum += leaf(16) + leaf(17) + leaf(18) + leaf(19); // site 16 17 18 19
    }
    return sum;
  }

  void thrower(int site, boolean throwing) {
    ++seen[site];
    if (throwing) throw new IllegalStateException();
    leaf(20); // site 20
  }

  int exceptions(int n) {
    int sum = 0;
    for (int i = 0; i < n; ++i) {
      try {
        thrower(21, i % 2 == 0); // site 21
        thrower(22, i % 3 == 0); // site 22
        sum += leaf(23); // site 23
      } catch (IllegalStateException e) {
        sum += leaf(24); // site 24
      } finally {
        sum += leaf(25); // site 25
      }
      sum += leaf(26); // site 26
    }
    return sum;
  }

  int deep(int n) {
    if (n == 0) thrower(27, true); // site 27
    return deep(n - 1) + leaf(28); // site 28
  }

  int caught(int n) {
    try {
      return deep(n);
    } catch (IllegalStateException e) {
      return leaf(29); // site 29
    }
  }

  int tree(int site, int depth) {
    ++seen[site];
    return depth == 0 ? 1 : tree(30, depth - 1) + tree(31, depth - 1); // site 30 31
  }

  synchronized int locked(int n) {
    int sum = 0;
    for (int i = 0; i < n; ++i) {
      sum += leaf(32); // site 32
      synchronized (seen) {
        sum += leaf(33); // site 33
      }
    }
    return sum;
  }

  int lambdas(int n) {
    final IntUnaryOperator body = site -> (int) ++seen[site];
    final IntUnaryOperator reference = this::leaf;
    int sum = 0;
    for (int i = 0; i < n; ++i) {
      sum += body.applyAsInt(34) + body.applyAsInt(35); // site 34 35
      sum += reference.applyAsInt(36); // site 36
      if (i % 5 == 0) sum += reference.applyAsInt(37); // site 37
    }
    return sum;
  }

  interface Shape {
    int area(CallSites by, int site);
  }

  static final class Square implements Shape {
    Square(CallSites by, int site) {
      ++by.seen[site];
    }

    @Override
    public int area(CallSites by, int site) {
      ++by.seen[site];
      return site;
    }
  }

  int shapes(int n) {
    int sum = 0;
    for (int i = 0; i < n; ++i) {
      final Square square = new Square(this, 38); // site 38
      final Shape shape = i % 2 == 0 ? square : new Square(this, 39); // site 39
      sum += square.area(this, 40); // site 40
      sum += shape.area(this, 41); // site 41
    }
    return sum;
  }

  int work() {
    int sum = 0;
    for (int i = 0; i < 8; ++i) {
      sum += loops(3000) + many(1000) + exceptions(300) + caught(30) + tree(42, 9) + locked(1000);
      sum += lambdas(1000) + shapes(1000);
    }
    return sum;
  }

  private static final List<CallSites> ALL = new ArrayList<>();

  private static void expect(String caller, int first, int last, String callee) {
    for (int site = first; site <= last; ++site) {
      final int of = site;
      final long calls = ALL.stream().mapToLong(one -> one.seen[of]).sum();
      Expect.site("CallSites." + caller, site, "CallSites" + callee, calls);
    }
  }

  public static void main(String[] args) throws InterruptedException {
    final List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 2; ++i) {
      final CallSites one = new CallSites();
      ALL.add(one);
      threads.add(new Thread(one::work));
    }
    for (Thread thread : threads) thread.start();
    for (Thread thread : threads) thread.join();
    final CallSites last = new CallSites();
    ALL.add(last);
    Expect.that(last.work() != 0, "the sum is 0");

    expect("loops(I)I", 0, 4, ".leaf(I)I");
    expect("many(I)I", 5, 19, ".leaf(I)I");
    expect("thrower(IZ)V", 20, 20, ".leaf(I)I");
    expect("exceptions(I)I", 21, 22, ".thrower(IZ)V");
    expect("exceptions(I)I", 23, 26, ".leaf(I)I");
    expect("deep(I)I", 27, 27, ".thrower(IZ)V");
    expect("deep(I)I", 28, 28, ".leaf(I)I");
    expect("caught(I)I", 29, 29, ".leaf(I)I");
    expect("tree(II)I", 30, 31, ".tree(II)I");
    expect("locked(I)I", 32, 33, ".leaf(I)I");
    expect("lambdas(I)I", 34, 35, ".lambda$lambdas$0(I)I");
    expect("lambdas(I)I", 36, 37, ".leaf(I)I");
    expect("shapes(I)I", 38, 39, "$Square.<init>(LCallSites;I)V");
    expect("shapes(I)I", 40, 41, "$Square.area(LCallSites;I)I");
    Expect.calls("CallSites.work()I", ALL.size());
  }
}
