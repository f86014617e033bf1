//@ group recursion
/** Direct, mutual and deep recursion, and a closed form for every count. */
final class Recursion {
  static int fib(int n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
  }

  static boolean even(int n) {
    return n == 0 || odd(n - 1);
  }

  static boolean odd(int n) {
    return n != 0 && even(n - 1);
  }

  static int deep(int n) {
    return n == 0 ? 0 : 1 + deep(n - 1);
  }

  int ackermannCalls;

  int ackermann(int m, int n) {
    ++ackermannCalls;
    if (m == 0) return n + 1;
    return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
  }

  static void hanoi(int n) {
    if (n == 0) return;
    hanoi(n - 1);
    move();
    hanoi(n - 1);
  }

  static void move() {}

  public static void main(String[] args) {
    int n = 24;
    int value = fib(n);
    long calls = 0, a = 1, b = 1;  // calls(n) = 2 fib(n + 1) - 1
    for (int i = 1; i < n; ++i) {
      long c = a + b;
      a = b;
      b = c;
    }
    calls = 2 * b - 1;
    Expect.that(value == 46368, "fib");
    Expect.calls("Recursion.fib(I)I", calls);
    Expect.path(1, "Recursion.main([Ljava/lang/String;)V", "Recursion.fib(I)I");
    Expect.path(2, "Recursion.main([Ljava/lang/String;)V", "Recursion.fib(I)I", "Recursion.fib(I)I");
    Expect.path(
        4,
        "Recursion.main([Ljava/lang/String;)V",
        "Recursion.fib(I)I",
        "Recursion.fib(I)I",
        "Recursion.fib(I)I");

    for (int i = 0; i < 300; ++i) Expect.that(even(200), "even");
    Expect.calls("Recursion.even(I)Z", 300 * 101);
    Expect.calls("Recursion.odd(I)Z", 300 * 100);
    Expect.path(
        300, "Recursion.main([Ljava/lang/String;)V", "Recursion.even(I)Z", "Recursion.odd(I)Z");

    for (int i = 0; i < 30; ++i) Expect.that(deep(1500) == 1500, "deep");
    Expect.calls("Recursion.deep(I)I", 30 * 1501);

    Recursion recursion = new Recursion();
    Expect.that(recursion.ackermann(2, 30) == 63, "ackermann");
    Expect.calls("Recursion.ackermann(II)I", recursion.ackermannCalls);
    Expect.calls("Recursion.<init>()V", 1);

    hanoi(13);
    Expect.calls("Recursion.hanoi(I)V", (1 << 14) - 1);
    Expect.calls("Recursion.move()V", (1 << 13) - 1);
    Expect.calls("Recursion.main([Ljava/lang/String;)V", 1);
  }
}
