/**
 * Nearly all CPU time is in one small method that C2 inlines into its caller's loop. Argument: the
 * number of calls. Prints their number, of both methods.
 */
final class SampledInlined {
  static long mix(long x) {
    x = x * 0x9e3779b97f4a7c15L ^ x >>> 29;
    x = x * 0xbf58476d1ce4e5b9L ^ x >>> 32;
    return x * 0x94d049bb133111ebL ^ x >>> 27;
  }

  static long loop(long calls) {
    long x = 1;
    while (calls > 0) {
      x = mix(x);
      if (x != 0) calls--; // depends on the result: the loop is not unrolled
    }
    return x;
  }

  public static void main(String[] args) {
    final long calls = Long.parseLong(args[0]);
    long sum = loop(100_000);
    sum += loop(calls);
    System.out.println("calls " + (calls + 100_000));
    if (sum == 42) System.out.println("a chance in 2^64");
  }
}
