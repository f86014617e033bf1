package jprof.trainers;

import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.time.LocalDate;
import java.time.format.DateTimeFormatter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Properties;
import java.util.Random;
import java.util.StringTokenizer;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Ordinary programs, for the cost of probes in real code with many methods, branches and objects,
 * which differs from the cost between the empty methods of ShapeXX. Each kernel has a few hundred
 * to a few thousand calls, most of them in the class library; its data is random and too large for
 * branch predictors to learn. The last two kernels are not ordinary: they are the ends of what a
 * probe can cost. The JVM's options determine the compile state. Prints for each kernel
 * "shape Library regex 12345.6 7890.1" (ns per walk, median of the rounds; then the counts of the
 * named counters, mean of all walks).
 *
 * <p>Arguments: warm-up walks of each kernel, walks per round,
 * rounds, the native library, counters for Counters.open.
 */
public final class Library {
  private static final int LINES = 512;

  private final Random random = new Random(7);
  private final String[] lines = new String[LINES];
  private final String[] words = new String[4 * LINES];
  private int next;  // every walk continues where the last one ended
  private long sink;

  private Library() {
    for (int i = 0; i < data.length; ++i) {
      data[i] = random.nextInt();
    }
    for (int i = 0; i < words.length; ++i) {
      final StringBuilder word = new StringBuilder();
      for (int length = 2 + random.nextInt(8); length > 0; --length) {
        word.append((char) ('a' + random.nextInt(26)));
      }
      words[i] = word.toString();
    }
    for (int i = 0; i < LINES; ++i) {
      final StringBuilder line = new StringBuilder();
      for (int n = 4 + random.nextInt(8); n > 0; --n) {
        switch (random.nextInt(4)) {
          case 0:
            line.append(random.nextInt(1 << (1 + random.nextInt(20))));
            break;
          case 1:
            line.append(word()).append('=').append(random.nextInt(100));
            break;
          default:
            line.append(word());
        }
        line.append(n > 1 ? " " : "");
      }
      lines[i] = line.toString();
    }
  }

  private String word() {
    return words[random.nextInt(words.length)];
  }

  private String line() {
    next = next + 1 & LINES - 1;
    return lines[next];
  }

  private static final Pattern PAIR = Pattern.compile("([a-z]+)=(\\d+)|\\b[aeiou]\\w*\\b");

  private void regex() {
    for (int i = 0; i < 3; ++i) {
      final Matcher matcher = PAIR.matcher(line());
      while (matcher.find()) {
        sink += matcher.end() + (matcher.group(2) == null ? 0 : 1);
      }
    }
  }

  private void count() {
    final Map<String, Integer> counts = new HashMap<>();
    for (int i = 0; i < 8; ++i) {
      final StringTokenizer tokens = new StringTokenizer(line(), " =");
      while (tokens.hasMoreTokens()) {
        counts.merge(tokens.nextToken(), 1, Integer::sum);
      }
    }
    sink += counts.size();
  }

  private final TreeMap<String, Integer> tree = new TreeMap<>();

  private void tree() {
    for (int i = 0; i < 12; ++i) {
      tree.merge(word(), 1, Integer::sum);
      final Map.Entry<String, Integer> entry = tree.ceilingEntry(word());
      if (entry != null && entry.getValue() > 1) {
        tree.remove(entry.getKey());
      }
    }
    sink += tree.size();
  }

  private void format() {
    sink += String.format("%5d|%-8s|%s", random.nextInt(100000), word(), random.nextInt(99)).length();
  }

  private void decimal() {
    BigDecimal value = BigDecimal.valueOf(random.nextInt(1 << 20), 3);
    for (int i = 0; i < 6; ++i) {
      value = value.multiply(BigDecimal.valueOf(random.nextInt(5000), 2)).add(BigDecimal.TEN);
      value = value.divide(BigDecimal.valueOf(1 + random.nextInt(300)), 4, RoundingMode.HALF_UP);
    }
    sink += value.intValue() + BigInteger.valueOf(random.nextInt()).pow(5).bitCount();
  }

  private static final DateTimeFormatter DAY = DateTimeFormatter.ofPattern("yyyy-MM-dd");

  private void dates() {
    final LocalDate date = LocalDate.ofEpochDay(random.nextInt(30000)).plusMonths(random.nextInt(40));
    sink += LocalDate.parse(DAY.format(date), DAY).getDayOfYear();
  }

  private static final Comparator<String> BY_LENGTH =
      Comparator.comparing(String::length).thenComparing(Comparator.naturalOrder());

  private void sort() {
    final List<String> some = new ArrayList<>();
    for (int i = 0; i < 32; ++i) {
      some.add(word());
    }
    some.sort(BY_LENGTH);
    sink += some.get(0).length();
  }

  private void streams() {
    final int from = random.nextInt(words.length - 64);
    sink += Arrays.stream(words, from, from + 64).filter(w -> w.length() > 4)
        .collect(Collectors.groupingBy(w -> w.charAt(0), Collectors.counting())).size();
  }

  private void properties() {
    final Properties properties = new Properties();
    try {
      properties.load(new StringReader(line().replace(' ', '\n')));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    sink += properties.size();
  }

  // A parser and its syntax tree, as in compilers.
  private interface Node {
    int value(Map<String, Integer> names);
  }

  private record Number(int number) implements Node {
    @Override
    public int value(Map<String, Integer> names) {
      return number;
    }
  }

  private record Name(String name) implements Node {
    @Override
    public int value(Map<String, Integer> names) {
      return names.getOrDefault(name, name.length());
    }
  }

  private record Sum(Node left, Node right) implements Node {
    @Override
    public int value(Map<String, Integer> names) {
      return left.value(names) + right.value(names);
    }
  }

  private record Assign(String name, Node node) implements Node {
    @Override
    public int value(Map<String, Integer> names) {
      final int value = node.value(names);
      names.put(name, value);
      return value;
    }
  }

  private static final class Parser {
    private final String text;
    private int at;

    Parser(String text) {
      this.text = text;
    }

    private boolean more() {
      return at < text.length();
    }

    private char peek() {
      return text.charAt(at);
    }

    private boolean accept(char wanted) {
      if (!more() || peek() != wanted) {
        return false;
      }
      ++at;
      return true;
    }

    private Node number() {
      int number = 0;
      while (more() && Character.isDigit(peek())) {
        number = number * 10 + Character.digit(text.charAt(at++), 10);
      }
      return new Number(number);
    }

    private Node name() {
      final StringBuilder name = new StringBuilder();
      while (more() && Character.isLetter(peek())) {
        name.append(text.charAt(at++));
      }
      return accept('=') ? new Assign(name.toString(), term()) : new Name(name.toString());
    }

    private Node term() {
      return Character.isDigit(peek()) ? number() : name();
    }

    Node sum() {
      Node node = term();
      while (accept(' ')) {
        node = new Sum(node, term());
      }
      return node;
    }
  }

  private void parse() {
    final Map<String, Integer> names = new HashMap<>();
    for (int i = 0; i < 3; ++i) {
      sink += new Parser(line()).sum().value(names);
    }
  }

  private void graph() {
    final int size = 64;
    final int[] distances = new int[size];
    Arrays.fill(distances, Integer.MAX_VALUE);
    final PriorityQueue<int[]> queue = new PriorityQueue<>(Comparator.comparingInt(a -> a[1]));
    final ArrayDeque<Integer> seen = new ArrayDeque<>();
    queue.add(new int[] {random.nextInt(size), 0});
    while (!queue.isEmpty() && seen.size() < 24) {
      final int[] first = queue.remove();
      if (distances[first[0]] <= first[1]) {
        continue;
      }
      distances[first[0]] = first[1];
      seen.addLast(first[0]);
      for (int i = 0; i < 3; ++i) {
        queue.add(new int[] {random.nextInt(size), first[1] + 1 + random.nextInt(9)});
      }
    }
    sink += seen.peekLast();
  }

  private void build() {
    final StringBuilder text = new StringBuilder();
    for (int i = 0; i < 16; ++i) {
      text.append(word()).append(i).append(i % 3 == 0 ? ',' : ';');
      if (text.length() > 100) {
        text.delete(0, random.nextInt(50)).reverse();
      }
    }
    sink += text.toString().hashCode();
  }

  // The ends of what a probe can cost. It costs least where the processor executes it while it waits
  // for the program (a chain of dependent multiplications), most where the program leaves no
  // execution unit idle (independent operations, branches that cannot be predicted).
  private static final int CALLS = 200;

  private static long chain(long x) {
    for (int i = 0; i < 24; ++i) {
      x = x * 6364136223846793005L + 1442695040888963407L;
    }
    return x;
  }

  private void dependent() {
    long x = sink;
    for (int i = 0; i < CALLS; ++i) {
      x = chain(x);
    }
    sink = x;
  }

  private final int[] data = new int[1 << 12];

  private int work(int at) {
    int a = 1, b = 2, c = 3, d = 4;
    for (int i = 0; i < 2; ++i) {
      final int value = data[at + i & data.length - 1];
      a += value;
      b ^= value;
      c += i;
      d -= at;
      if ((value & 1) == 0) {
        a ^= d;
      }
    }
    return a + b + c + d;
  }

  private void independent() {
    int sum = 0;
    for (int i = 0; i < CALLS; ++i) {
      sum += work(next * 7 + i * 3);
    }
    next = next + 1 & LINES - 1;
    sink += sum;
  }

  private static final String[] KERNELS = {
    "regex", "count", "tree", "format", "decimal", "dates", "sort", "streams", "properties", "parse", "graph", "build",
    "dependent", "independent",
  };

  private void drive(int kernel) {
    switch (kernel) {
      case 0: regex(); break;
      case 1: count(); break;
      case 2: tree(); break;
      case 3: format(); break;
      case 4: decimal(); break;
      case 5: dates(); break;
      case 6: sort(); break;
      case 7: streams(); break;
      case 8: properties(); break;
      case 9: parse(); break;
      case 10: graph(); break;
      case 11: build(); break;
      case 12: dependent(); break;
      default: independent(); break;
    }
  }

  // Two names for one loop, so that the warm-up has a separate calling context.
  private void warm(int kernel, int walks) {
    for (int i = 0; i < walks; ++i) {
      drive(kernel);
    }
  }

  private void measure(int kernel, int walks) {
    for (int i = 0; i < walks; ++i) {
      drive(kernel);
    }
  }

  public static void main(String[] args) {
    final int warmUp = Integer.parseInt(args[0]), walks = Integer.parseInt(args[1]), rounds = Integer.parseInt(args[2]);
    int counters = 0;
    if (args.length > 3) {
      System.load(args[3]);
      counters = Counters.open(args[4]);
    }
    final Library library = new Library();
    for (int part = 0; part < 4; ++part) {  // alternately, so that call sites see all their targets
      for (int kernel = 0; kernel < KERNELS.length; ++kernel) {
        library.warm(kernel, warmUp / 4);
      }
    }
    final double[][] nanos = new double[KERNELS.length][rounds], counts = new double[KERNELS.length][counters];
    final long[] before = new long[counters], after = new long[counters];
    for (int round = 0; round < rounds; ++round) {
      for (int kernel = 0; kernel < KERNELS.length; ++kernel) {
        if (counters > 0) {
          Counters.read(before);
        }
        final long start = System.nanoTime();
        library.measure(kernel, walks);
        nanos[kernel][round] = (System.nanoTime() - start) / (double) walks;
        if (counters > 0) {
          Counters.read(after);
        }
        for (int i = 0; i < counters; ++i) {
          counts[kernel][i] += (after[i] - before[i]) / ((double) walks * rounds);
        }
      }
    }
    for (int kernel = 0; kernel < KERNELS.length; ++kernel) {
      Arrays.sort(nanos[kernel]);
      final StringBuilder text = new StringBuilder("shape Library " + KERNELS[kernel] + " " + nanos[kernel][rounds / 2]);
      for (final double count : counts[kernel]) {
        text.append(' ').append(count);
      }
      System.out.println(text);
    }
    System.out.println("sum " + library.sink);  // so that the work is not eliminated
    System.out.println("done");
  }
}
