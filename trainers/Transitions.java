package jprof.trainers;

import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import jdk.test.whitebox.WhiteBox;

/**
 * Executes all transitions between interpreted, C1, C2 and native methods, static and not, and
 * prints the cost of one walk of each shape: "shape ShapeIJ sLs1 12.34 56.0" (ns, median of the
 * rounds; then the counts of the named counters: the difference of two loops, one twice as long,
 * the least of the rounds).
 *
 * <p>Arguments: the native library, calls per round, rounds, counters for
 * Counters.open.
 */
public final class Transitions {
  private static final char[] STATES = {'I', 'J', 'R'};
  private static final int WARM_UP = 20;  // resolves every call site before anything is compiled

  private record Shape(Object target, Method caller, boolean isStatic, double[] nanos, double[] counts) {
    Shape(Object target, Method caller, int rounds, int counters) {
      this(target, caller, Modifier.isStatic(caller.getModifiers()), new double[rounds], new double[counters]);
      Arrays.fill(counts, Double.MAX_VALUE);
    }
  }

  private static native void bind(Class<?> copy, String midSignature);

  // Two names for one loop, so that the warm-up has a separate calling context.
  private static native void warm(Object target, Method caller, boolean isStatic, int calls);

  private static native void drive(Object target, Method caller, boolean isStatic, int calls);

  private final WhiteBox whiteBox = new WhiteBox();
  private final int counters;

  private Transitions(int counters) {
    this.counters = counters;
  }

  public static void main(String[] args) throws Exception {
    System.load(args[0]);
    final int calls = Integer.parseInt(args[1]);
    final int rounds = Integer.parseInt(args[2]);
    new Transitions(args.length > 3 ? Counters.open(args[3]) : 0).run(calls, rounds);
  }

  private void run(int calls, int rounds) throws Exception {
    for (final Method method : Transitions.class.getDeclaredMethods()) {
      if (Modifier.isNative(method.getModifiers())) {
        compile(method, 4);
      }
    }
    final List<Shape> shapes = new ArrayList<>();
    for (final char caller : STATES) {
      for (final char callee : STATES) {
        shapes.addAll(prepare(caller, callee, rounds));
      }
    }
    Counters.begin();
    for (int round = 0; round < rounds; ++round) {
      for (final Shape shape : shapes) {
        final long start = System.nanoTime();
        drive(shape.target, shape.caller, shape.isStatic, calls);
        shape.nanos[round] = (System.nanoTime() - start) / (double) calls;
        if (counters > 0) {
          count(shape, calls);
        }
      }
    }
    Counters.end();
    final StringBuilder text = new StringBuilder();
    for (final Shape shape : shapes) {
      Arrays.sort(shape.nanos);
      text.append("shape ").append(shape.target.getClass().getSimpleName()).append(' ');
      text.append(shape.caller.getName()).append(' ').append(shape.nanos[rounds / 2]);
      for (final double count : shape.counts) {
        text.append(' ').append(count);
      }
      text.append('\n');
    }
    System.out.print(text);
    System.out.println("done");
  }

  /** The code around the walks, including the reads, is in both loops and cancels out. */
  private void count(Shape shape, int calls) {
    final long[] before = new long[counters], between = new long[counters], after = new long[counters];
    Counters.read(before);
    drive(shape.target, shape.caller, shape.isStatic, calls);
    Counters.read(between);
    drive(shape.target, shape.caller, shape.isStatic, 2 * calls);
    Counters.read(after);
    for (int i = 0; i < counters; ++i) {
      final double walk = (after[i] - between[i] - (between[i] - before[i])) / (double) calls;
      shape.counts[i] = Math.min(shape.counts[i], walk);
    }
  }

  private List<Shape> prepare(char callerState, char calleeState, int rounds) throws Exception {
    final Class<?> copy = load("Shape" + callerState + calleeState);
    bind(copy, "(L" + copy.getName().replace('.', '/') + ";)V");
    final Object target = copy.getDeclaredConstructor().newInstance();
    final List<Shape> shapes = new ArrayList<>();
    for (final Method method : copy.getDeclaredMethods()) {
      if (Character.isDigit(method.getName().charAt(method.getName().length() - 1))) {
        shapes.add(new Shape(target, method, rounds, counters));
      }
    }
    warm(shapes);
    for (final Method method : copy.getDeclaredMethods()) {
      final boolean caller = shapes.stream().anyMatch(shape -> shape.caller.equals(method));
      settle(method, caller ? callerState : calleeState);
    }
    warm(shapes);
    return shapes;
  }

  private static void warm(List<Shape> shapes) {
    for (final Shape shape : shapes) {
      warm(shape.target, shape.caller, shape.isStatic, WARM_UP);
    }
  }

  /** Brings a method into a state permanently; natives always get their compiled wrapper. */
  private void settle(Method method, char state) {
    if (Modifier.isNative(method.getModifiers())) {
      compile(method, 4);
    } else if (state == 'I') {
      whiteBox.forbid(method, 1);
      whiteBox.forbid(method, 4);
    } else if (state == 'J') {
      whiteBox.forbid(method, 4);
      compile(method, 1);
    } else {
      compile(method, 4);
    }
  }

  private void compile(Method method, int level) {
    whiteBox.compile(method, level);
    if (!Modifier.isNative(method.getModifiers()) && whiteBox.level(method) != level) {
      System.out.println("note " + method + " was not compiled at level " + level);
    }
  }

  /** A copy of ShapeXX under another name of the same length. */
  private static Class<?> load(String name) throws Exception {
    final byte[] bytes;
    try (InputStream in = Transitions.class.getResourceAsStream("ShapeXX.class")) {
      bytes = in.readAllBytes();
    }
    final byte[] from = "jprof/trainers/ShapeXX".getBytes(StandardCharsets.US_ASCII);
    final byte[] to = ("jprof/trainers/" + name).getBytes(StandardCharsets.US_ASCII);
    for (int at = 0; at + from.length <= bytes.length; ++at) {
      if (Arrays.equals(bytes, at, at + from.length, from, 0, from.length)) {
        System.arraycopy(to, 0, bytes, at, to.length);
      }
    }
    return MethodHandles.lookup().defineClass(bytes);
  }
}
