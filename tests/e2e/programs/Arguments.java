//@ group values
/** Arguments and results in every register and on the stack survive the probes. */
final class Arguments {
  static double many(
      int a, double b, long c, float d, int e, double f, long g, float h, int i, double j, long k,
      double l, double m, double n, double o, double p, float q, long r, int s, int t) {
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k
        + 12 * l + 13 * m + 14 * n + 15 * o + 16 * p + 17 * q + 18 * r + 19 * s + 20 * t;
  }

  static float singleResult(float x) {
    return x * 0.5f;
  }

  static double doubleResult(double x) {
    return x * 0.25;
  }

  static long longResult(long x) {
    return x ^ 0x5555555555555555L;
  }

  static boolean booleanResult(int x) {
    return (x & 1) != 0;
  }

  static byte byteResult(int x) {
    return (byte) x;
  }

  static char charResult(int x) {
    return (char) x;
  }

  static Object[] arrayResult(Object o, int n) {
    Object[] a = new Object[n];
    java.util.Arrays.fill(a, o);
    return a;
  }

  static int sum(int... values) {
    int sum = 0;
    for (int v : values) sum += v;
    return sum;
  }

  static final class Node {
    final Node next;
    final int value;

    Node(Node next, int value) {
      this.next = next;
      this.value = value;
    }

    static Node list(int n) {
      return n == 0 ? null : new Node(list(n - 1), n);
    }
  }

  static void once(int i) {
    double got = many(i, 1, 2L, 3f, 4, 5, 6L, 7f, 8, 9, 10L, 11, 12, 13, 14, 15, 16f, 17L, 18, 19);
    if (got != i + 2660.0) Expect.that(false, "many " + got);
    if (singleResult(i) != i * 0.5f) Expect.that(false, "float");
    if (doubleResult(i) != i * 0.25) Expect.that(false, "double");
    if (longResult(i) != (i ^ 0x5555555555555555L)) Expect.that(false, "long");
    if (booleanResult(i) != (i % 2 == 1)) Expect.that(false, "boolean");
    if (byteResult(i) != (byte) i) Expect.that(false, "byte");
    if (charResult(i) != (char) i) Expect.that(false, "char");
    Object o = new Object();
    if (arrayResult(o, 3)[2] != o) Expect.that(false, "array");
    if (sum(i, 1, 2) != i + 3) Expect.that(false, "varargs");
    Node list = Node.list(5);
    for (int k = 5; k > 0; --k, list = list.next) {
      if (list.value != k) Expect.that(false, "list");
    }
  }

  public static void main(String[] args) {
    int n = 30_000;
    for (int i = 0; i < n; ++i) once(i);
    Expect.calls("Arguments.many(IDJFIDJFIDJDDDDDFJII)D", n);
    Expect.calls("Arguments.singleResult(F)F", n);
    Expect.calls("Arguments.doubleResult(D)D", n);
    Expect.calls("Arguments.longResult(J)J", n);
    Expect.calls("Arguments.booleanResult(I)Z", n);
    Expect.calls("Arguments.byteResult(I)B", n);
    Expect.calls("Arguments.charResult(I)C", n);
    Expect.calls("Arguments.arrayResult(Ljava/lang/Object;I)[Ljava/lang/Object;", n);
    Expect.calls("Arguments.sum([I)I", n);
    Expect.calls("Arguments$Node.list(I)LArguments$Node;", 6L * n);
    Expect.calls("Arguments$Node.<init>(LArguments$Node;I)V", 5L * n);
  }
}
