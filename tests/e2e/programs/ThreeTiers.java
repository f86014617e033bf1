//@ group exceptions
//@ directives three_tiers.json
/**
 * 200,000 exceptions thrown in a hot leaf, caught three frames up: in tiered mode three_tiers.json keeps one of
 * the frames in the interpreter and one in C1, so that each exception goes through all of them.
 */
final class ThreeTiers {
  static final class Signal extends RuntimeException {
    Signal() {
      super("signal", null, false, false);
    }
  }

  static final Signal SIGNAL = new Signal();
  static int caught;

  static void leaf(int i) {
    if ((i & 1) == 0) throw SIGNAL;
  }

  static void inC1(int i) {
    leaf(i);
    afterLeaf();
  }

  static void afterLeaf() {}

  static void interpreted(int i) {
    inC1(i);
  }

  static void inC2(int i) {
    interpreted(i);
  }

  static void catcher(int i) {
    try {
      inC2(i);
    } catch (Signal e) {
      handler();
    }
  }

  static void handler() {
    ++caught;
  }

  public static void main(String[] args) {
    int n = 400_000;
    for (int i = 0; i < n; ++i) catcher(i);
    Expect.that(caught == n / 2, "caught");
    for (String m : new String[] {"leaf", "inC1", "interpreted", "inC2", "catcher"}) {
      Expect.calls("ThreeTiers." + m + "(I)V", n);
    }
    Expect.calls("ThreeTiers.afterLeaf()V", n / 2);
    Expect.calls("ThreeTiers.handler()V", n / 2);
    Expect.path(
        n,
        "ThreeTiers.main([Ljava/lang/String;)V",
        "ThreeTiers.catcher(I)V",
        "ThreeTiers.inC2(I)V",
        "ThreeTiers.interpreted(I)V",
        "ThreeTiers.inC1(I)V",
        "ThreeTiers.leaf(I)V");
    Expect.path(
        n / 2,
        "ThreeTiers.main([Ljava/lang/String;)V",
        "ThreeTiers.catcher(I)V",
        "ThreeTiers.handler()V");
    Expect.calls("ThreeTiers$Signal.<init>()V", 1);
  }
}
