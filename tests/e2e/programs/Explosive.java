/** args[0] = depth: 2^(depth+1) - 1 calls, each in its own calling context. */
final class Explosive {
  static int left(int n) {
    return n == 0 ? 1 : left(n - 1) + right(n - 1);
  }

  static int right(int n) {
    return n == 0 ? 1 : left(n - 1) + right(n - 1);
  }

  static int explode(int n) {
    return left(n);
  }

  static void after() {}

  public static void main(String[] args) {
    int depth = Integer.parseInt(args[0]);
    System.out.println("leaves " + explode(depth));
    for (int i = 0; i < 1000; ++i) after();
    System.out.println("calls " + ((2L << depth) - 1));
  }
}
