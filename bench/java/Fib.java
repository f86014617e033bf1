/**
 * fib(args[0]), args[1] times: two events a call and nothing else. Prints the calls made and the
 * CPU time of this thread.
 */
final class Fib {
  static int fib(int n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
  }

  public static void main(String[] args) {
    int n = Integer.parseInt(args[0]);
    int times = Integer.parseInt(args[1]);
    for (int i = 0; i < 200; ++i) fib(15);  // warm-up until it is compiled
    java.lang.management.ThreadMXBean threads = java.lang.management.ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadCpuTime();
    long sum = 0;
    for (int i = 0; i < times; ++i) sum += fib(n);
    long nanos = threads.getCurrentThreadCpuTime() - before;
    long a = 1, b = 1;
    for (int i = 1; i < n; ++i) {
      long c = a + b;
      a = b;
      b = c;
    }
    System.out.println((2 * b - 1) * times + " " + nanos + " " + sum);
  }
}
