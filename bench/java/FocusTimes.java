import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Methods that take milliseconds and measure their own CPU time. Prints "METHOD calls nanoseconds"
 * of the second half of the calls.
 */
class FocusTimes {
  static final int TURNS = 200;
  static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  static long sink;
  static final Map<String, long[]> TIMES = new TreeMap<>();

  static class Order {
    final int customer, amount;
    final String product;

    Order(int i) {
      customer = i * 7919 % 997;
      amount = i % 89;
      product = "product " + i % 53;
    }
  }

  static List<Order> load(int count) {
    List<Order> orders = new ArrayList<>();
    for (int i = 0; i < count; i++) orders.add(new Order(i));
    return orders;
  }

  static void group(List<Order> orders) {
    Map<String, Integer> sums = new HashMap<>();
    for (Order order : orders) sums.merge(order.product + order.customer % 7, order.amount, Integer::sum);
    sink += sums.size();
  }

  static void render() {
    StringBuilder page = new StringBuilder();
    for (int i = 0; i < 60_000; i++) page.append("<td>").append(i * 31).append("</td>\n");
    sink += page.toString().split("\n").length;
  }

  static void seal() throws Exception {
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    byte[] bytes = new byte[1_600_000];
    sink += digest.digest(bytes)[0];
  }

  static void pipeline() {
    sink += IntStream.range(0, 200_000).boxed().filter(i -> (i & 3) != 0).collect(Collectors.summingInt(i -> i ^ 5));
  }

  interface Phase {
    void run() throws Exception;
  }

  static void timed(int turn, String name, Phase phase) throws Exception {
    long begin = THREADS.getCurrentThreadCpuTime();
    phase.run();
    long took = THREADS.getCurrentThreadCpuTime() - begin;
    if (turn < TURNS / 2) return;
    TIMES.computeIfAbsent(name, n -> new long[TURNS])[turn] = took;
  }

  // The measured half has separate methods: a report's row of them covers the same calls as the
  // clock.
  static void measured(int turn) throws Exception {
    List<Order> orders = load(20_000);
    timed(turn, "group", () -> group(orders));
    timed(turn, "render", FocusTimes::render);
    timed(turn, "seal", FocusTimes::seal);
    timed(turn, "pipeline", FocusTimes::pipeline);
    timed(turn, "load", () -> load(20_000));
  }

  static void warm(int turn) throws Exception {
    measured(turn);
  }

  public static void main(String[] args) throws Exception {
    for (int turn = 0; turn < TURNS / 2; turn++) warm(turn);
    for (int turn = TURNS / 2; turn < TURNS; turn++) measured(turn);
    TIMES.forEach((name, nanos) -> {
      long total = 0;
      for (long n : nanos) total += n;
      System.out.println(name + " " + TURNS / 2 + " " + total);
    });
  }
}
