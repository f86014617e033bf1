import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/**
 * A small server without sockets, for bench/accuracy/gate.py and tests/e2e/gate_test.py: threads
 * that answer requests of shared tables, with lambdas, streams, a hash order that differs in each
 * run, a race, and garbage. Arguments: requests, audits of each request.
 */
public class GateServer {
  private final Map<String, Integer> stock = new HashMap<>();
  private final Map<String, Integer> hits = new ConcurrentHashMap<>();
  private final IntUnaryOperator price = item -> item * 7 % 101;
  private final int audits;
  private long audited;
  private volatile int busy; // written by all threads without a lock

  GateServer(int audits) {
    this.audits = audits;
    for (int i = 0; i < 200; i++) stock.put("item" + i, i);
  }

  long handle(int request) {
    String item = "item" + request % 200;
    long total = price.applyAsInt(find(item));
    total += IntStream.range(0, 8).map(i -> i * request).filter(i -> i % 3 == 0).sum();
    if (request % 50 == 0) total += inventory() + position(Set.of("a", "b", "c", "d", "e", "f"));
    hits.merge(item, 1, Integer::sum);
    for (int i = 0; i < audits; i++) audit(item);
    List<int[]> garbage = new ArrayList<>();
    for (int i = 0; i < 20; i++) garbage.add(new int[100]);
    return total + garbage.size() + render(request);
  }

  int find(String item) {
    return stock.get(item);
  }

  long inventory() {
    long sum = 0;
    for (Map.Entry<String, Integer> entry : stock.entrySet()) sum += entry.getValue();
    return sum;
  }

  /** Calls isWanted as often as the order of a set in this run requires. */
  int position(Set<String> names) {
    for (String name : names) {
      if (isWanted(name)) break;
    }
    return 1;
  }

  boolean isWanted(String name) {
    return name.equals("c");
  }

  /** Calls retry as often as threads meet. */
  int render(int request) {
    StringBuilder page = new StringBuilder();
    for (int i = 0; i < 10; i++) page.append(request).append(' ').append(escape(i));
    int seen = busy;
    busy = request;
    if (busy != request || seen > request) retry();
    return page.length();
  }

  void retry() {}

  String escape(int i) {
    return i % 2 == 0 ? "&amp;" : "x";
  }

  synchronized void audit(String item) {
    audited += item.length();
  }

  public static void main(String[] args) throws Exception {
    int requests = Integer.parseInt(args[0]);
    GateServer server = new GateServer(Integer.parseInt(args[1]));
    ExecutorService pool = Executors.newFixedThreadPool(3);
    List<Future<Long>> answers = new ArrayList<>();
    for (int i = 0; i < requests; i++) {
      int request = i;
      answers.add(pool.submit(() -> server.handle(request)));
    }
    long sum = 0;
    for (Future<Long> answer : answers) sum += answer.get();
    pool.shutdown();
    System.out.println(sum + " " + server.hits.size() + " " + server.audited);
  }
}
