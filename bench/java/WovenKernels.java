import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Programs in natural Java, small methods, that live on inlining and on the JDK's intrinsics.
 *
 * <p>WovenKernels NAME SECONDS: runs the kernel for 2 * SECONDS to warm up and for SECONDS
 * measured, and prints "kernel NAME NANOSECONDS TURNS CHECKSUM": the median CPU time of a turn, the
 * number of all turns, and the result of a turn, which must be that of all others.
 */
final class WovenKernels {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final int LEAST = 3;

  interface Kernel {
    long run() throws Exception;
  }

  // ---- word count

  static final class WordCount {
    private final Map<String, Integer> counts = new HashMap<>();
    private final String text;
    private int at;

    WordCount(String text) {
      this.text = text;
    }

    private boolean isLetter(int index) {
      return Character.isLetterOrDigit(text.charAt(index));
    }

    private String nextWord() {
      while (at < text.length() && !isLetter(at)) at++;
      int begin = at;
      while (at < text.length() && isLetter(at)) at++;
      return begin == at ? null : text.substring(begin, at);
    }

    private void add(String word) {
      counts.merge(word.toLowerCase(), 1, Integer::sum);
    }

    Map<String, Integer> count() {
      for (String word = nextWord(); word != null; word = nextWord()) add(word);
      return counts;
    }
  }

  static String text(int words) {
    Random random = new Random(1);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < words; i++) {
      text.append(i % 11 == 0 ? "The" : "word").append(random.nextInt(1 + random.nextInt(3000)));
      text.append(i % 13 == 0 ? ".\n" : " ");
    }
    return text.toString();
  }

  static final String TEXT = text(60_000);

  static long words() {
    long sum = 0;
    for (Map.Entry<String, Integer> entry : new WordCount(TEXT).count().entrySet()) {
      sum += (long) entry.getKey().hashCode() * entry.getValue();
    }
    return sum;
  }

  // ---- strings

  static final String[] LINES = TEXT.split("\n");

  static String cell(String word, int width) {
    StringBuilder cell = new StringBuilder();
    cell.append(word.length() > width ? word.substring(0, width) : word);
    while (cell.length() < width) cell.append(' ');
    return cell.append('|').toString();
  }

  static String row(String line, int number) {
    StringBuilder row = new StringBuilder().append(number).append(": ");
    for (String word : line.split(" ")) row.append(cell(word.replace("word", "w-"), 7));
    return row.toString();
  }

  static long strings() {
    long sum = 0;
    for (int i = 0; i < LINES.length; i++) sum = sum * 31 + row(LINES[i], i).hashCode();
    return sum;
  }

  // ---- matrix product

  static final class Matrix {
    private final int size;
    private final double[] cells;

    Matrix(int size) {
      this.size = size;
      cells = new double[size * size];
    }

    double at(int row, int column) {
      return cells[row * size + column];
    }

    void set(int row, int column, double value) {
      cells[row * size + column] = value;
    }

    private double dot(int row, Matrix by, int column) {
      double sum = 0;
      for (int i = 0; i < size; i++) sum += at(row, i) * by.at(i, column);
      return sum;
    }

    Matrix times(Matrix by) {
      Matrix product = new Matrix(size);
      for (int row = 0; row < size; row++) {
        for (int column = 0; column < size; column++) {
          product.set(row, column, dot(row, by, column));
        }
      }
      return product;
    }

    static Matrix filled(int size, int seed) {
      Matrix matrix = new Matrix(size);
      for (int row = 0; row < size; row++) {
        for (int column = 0; column < size; column++) {
          matrix.set(row, column, (row * 31 + column * 17 + seed) % 23);
        }
      }
      return matrix;
    }
  }

  static final Matrix LEFT = Matrix.filled(200, 3), RIGHT = Matrix.filled(200, 8);

  static long matrix() {
    Matrix product = LEFT.times(RIGHT);
    double trace = 0;
    for (int i = 0; i < product.size; i++) trace += product.at(i, i) * (i + 1);
    return (long) trace;
  }

  // ---- sort

  static final class Person {
    private final String name;
    private final int age;

    Person(String name, int age) {
      this.name = name;
      this.age = age;
    }

    String name() {
      return name;
    }

    int age() {
      return age;
    }
  }

  static List<Person> people(int count) {
    Random random = new Random(2);
    List<Person> people = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      people.add(new Person("name" + random.nextInt(count), random.nextInt(80)));
    }
    return people;
  }

  static final List<Person> PEOPLE = people(20_000);
  static final Comparator<Person> ORDER =
      Comparator.comparingInt(Person::age).thenComparing(Person::name);

  static long sort() {
    List<Person> sorted = new ArrayList<>(PEOPLE);
    sorted.sort(ORDER);
    long sum = 0;
    for (Person person : sorted) sum = sum * 31 + person.name().length() * 101 + person.age();
    return sum;
  }

  // ---- compare and set

  static final class Counters {
    private final AtomicLong total = new AtomicLong();
    private final AtomicLong largest = new AtomicLong();
    private final Map<Integer, AtomicLong> of = new ConcurrentHashMap<>();

    void add(int key, long amount) {
      total.addAndGet(amount);
      largest.accumulateAndGet(amount, Math::max);
      of.computeIfAbsent(key, absent -> new AtomicLong()).incrementAndGet();
    }

    long sum() {
      long sum = total.get() + largest.get();
      for (Map.Entry<Integer, AtomicLong> one : of.entrySet()) {
        sum += one.getKey() * one.getValue().get();
      }
      return sum;
    }
  }

  static long cas() {
    Counters counters = new Counters();
    for (int i = 0; i < 400_000; i++) counters.add(i & 63, i % 1009);
    return counters.sum();
  }

  // ---- SHA-256

  static final byte[] BYTES = TEXT.getBytes();

  static long first8(byte[] digest) {
    long value = 0;
    for (int i = 0; i < 8; i++) value = value << 8 | digest[i] & 0xff;
    return value;
  }

  static long sha256() throws Exception {
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    for (int turn = 0; turn < 8; turn++) digest.update(BYTES);
    return first8(digest.digest());
  }

  // ---- math

  static double distance(double x, double y) {
    return Math.sqrt(x * x + y * y);
  }

  static double wave(double x) {
    return Math.sin(x) * Math.cos(x / 3) + Math.exp(-x / 1000);
  }

  static long math() {
    double sum = 0;
    for (int i = 1; i <= 200_000; i++) {
      sum += distance(i, Math.abs(3 - i)) + wave(i) + Math.log(Math.max(i, 7));
    }
    return Math.round(sum);
  }

  // ---- array copy

  static final class Stack {
    private int[] items = new int[4];
    private int size;

    void push(int item) {
      if (size == items.length) items = Arrays.copyOf(items, size * 2);
      items[size++] = item;
    }

    Stack copy() {
      Stack copy = new Stack();
      copy.items = items.clone();
      copy.size = size;
      return copy;
    }

    void insert(int index, int item) {
      push(0);
      System.arraycopy(items, index, items, index + 1, size - 1 - index);
      items[index] = item;
    }
  }

  static long copies() {
    Stack stack = new Stack();
    for (int i = 0; i < 1000; i++) stack.push(i);
    List<Integer> list = new ArrayList<>(Collections.nCopies(1000, 1));
    long sum = 0;
    for (int i = 0; i < 4000; i++) {
      stack.insert(i % 500, i);
      list.add(i % 700, i);
      if (i % 8 == 0) {
        Stack copy = stack.copy();
        if (Arrays.equals(copy.items, stack.items)) sum += copy.size;
      }
    }
    return sum + list.size() + list.get(77) + stack.items[77];
  }

  // ---- virtual calls

  interface Shape {
    double area();
  }

  record Square(double side) implements Shape {
    public double area() {
      return side * side;
    }
  }

  record Rectangle(double width, double height) implements Shape {
    public double area() {
      return width * height;
    }
  }

  record Triangle(double base, double height) implements Shape {
    public double area() {
      return base * height / 2;
    }
  }

  record Circle(double radius) implements Shape {
    public double area() {
      return 3 * radius * radius;
    }
  }

  record Ring(Circle outer, Circle inner) implements Shape {
    public double area() {
      return outer.area() - inner.area();
    }
  }

  static Shape shape(int number) {
    int size = number % 17 + 2;
    switch (number * 7919 % 997 % 5) {
      case 0:
        return new Square(size);
      case 1:
        return new Rectangle(size, number % 5);
      case 2:
        return new Triangle(size, number % 7);
      case 3:
        return new Circle(size);
      default:
        return new Ring(new Circle(size), new Circle(1));
    }
  }

  static List<Shape> shapes(int count) {
    List<Shape> shapes = new ArrayList<>();
    for (int i = 0; i < count; i++) shapes.add(shape(i));
    return shapes;
  }

  static final List<Shape> SHAPES = shapes(5000);

  static long virtual() {
    double sum = 0;
    for (int turn = 0; turn < 200; turn++) {
      for (Shape shape : SHAPES) sum += shape.area();
    }
    return (long) (sum * 2);
  }

  static Kernel named(String name) {
    switch (name) {
      case "words":
        return WovenKernels::words;
      case "strings":
        return WovenKernels::strings;
      case "matrix":
        return WovenKernels::matrix;
      case "sort":
        return WovenKernels::sort;
      case "cas":
        return WovenKernels::cas;
      case "sha256":
        return WovenKernels::sha256;
      case "math":
        return WovenKernels::math;
      case "copies":
        return WovenKernels::copies;
      case "virtual":
        return WovenKernels::virtual;
      default:
        throw new IllegalArgumentException("no kernel " + name);
    }
  }

  public static void main(String[] args) throws Exception {
    Kernel kernel = named(args[0]);
    double seconds = Double.parseDouble(args[1]);
    long expected = kernel.run();
    long until = System.nanoTime() + (long) (2 * seconds * 1e9);
    int turns = 1;
    for (; turns <= LEAST || System.nanoTime() < until; turns++) kernel.run();
    List<Long> times = new ArrayList<>();
    until = System.nanoTime() + (long) (seconds * 1e9);
    while (times.size() < LEAST || System.nanoTime() < until) {
      long begin = THREADS.getCurrentThreadCpuTime();
      long result = kernel.run();
      times.add(THREADS.getCurrentThreadCpuTime() - begin);
      if (result != expected) throw new IllegalStateException(result + ", not " + expected);
    }
    Collections.sort(times);
    System.out.println("kernel " + args[0] + " " + times.get(times.size() / 2) + " "
        + (turns + times.size()) + " " + expected);
  }
}
