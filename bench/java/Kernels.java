import java.lang.management.ManagementFactory;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Code that HotSpot optimises by inlining and by the JDK's intrinsics. Prints "NAME
 * CPU-ns-of-one-run".
 */
class Kernels {
  static final String TEXT = text();
  static long sink;

  static String text() {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 4000; i++) text.append("word").append(i * 7919 % 613).append(i % 10 == 0 ? '\n' : ' ');
    return text.toString();
  }

  static void words() {
    Map<String, Integer> counts = new HashMap<>();
    for (String word : TEXT.split("\\s+")) counts.merge(word, 1, Integer::sum);
    sink += counts.size();
  }

  static void strings() {
    StringBuilder built = new StringBuilder();
    for (int i = 0; i < 4000; i++) built.append(i).append(',').append(TEXT, i, i + 8);
    sink += built.toString().hashCode();
  }

  static void sort() {
    List<String> words = new ArrayList<>(Arrays.asList(TEXT.split("\\s+")));
    words.sort(Comparator.comparing(String::length).thenComparing(Comparator.reverseOrder()));
    sink += words.get(7).length();
  }

  static void cas() {
    AtomicLong counter = new AtomicLong();
    for (int i = 0; i < 40_000; i++) counter.incrementAndGet();
    sink += counter.get();
  }

  static void sha256() throws Exception {
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    sink += digest.digest(TEXT.getBytes())[0];
  }

  static void arraycopy() {
    List<Integer> list = new ArrayList<>(Collections.nCopies(2000, 1));
    for (int i = 0; i < 400; i++) list.add(0, i);
    sink += list.size();
  }

  interface Kernel {
    void run() throws Exception;
  }

  static void time(String name, Kernel kernel, double seconds) throws Exception {
    var threads = ManagementFactory.getThreadMXBean();
    long until = System.nanoTime() + (long) (seconds * 1e9);
    while (System.nanoTime() < until) kernel.run();  // warm-up
    long turns = 0, begin = threads.getCurrentThreadCpuTime();
    until += (long) (seconds * 1e9);
    for (; System.nanoTime() < until; turns++) kernel.run();
    System.out.println(name + " " + (threads.getCurrentThreadCpuTime() - begin) / turns);
  }

  public static void main(String[] args) throws Exception {
    double seconds = Double.parseDouble(args[0]);
    time("words", Kernels::words, seconds);
    time("strings", Kernels::strings, seconds);
    time("sort", Kernels::sort, seconds);
    time("cas", Kernels::cas, seconds);
    time("sha256", Kernels::sha256, seconds);
    time("arraycopy", Kernels::arraycopy, seconds);
  }
}
