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
 * Walks every transition between interpreted, C1, C2 and native methods, static and not, and prints for
 * each shape what one walk took: "shape ShapeIJ sLs1 12.34" (ns, median of the rounds).
 * Arguments: the native library, calls per round, rounds.
 */
public final class Transitions {
  private static final char[] STATES = {'I', 'J', 'R'};
  private static final int WARM_UP = 20;  // enough to resolve every call site before anything is compiled

  private record Shape(Object target, Method caller, boolean isStatic, double[] nanos) {
    Shape(Object target, Method caller, int rounds) {
      this(target, caller, Modifier.isStatic(caller.getModifiers()), new double[rounds]);
    }
  }

  private static native void bind(Class<?> copy, String midSignature);

  // Two names for one loop, so that the warm-up has a calling context of its own.
  private static native void warm(Object target, Method caller, boolean isStatic, int calls);

  private static native void drive(Object target, Method caller, boolean isStatic, int calls);

  private final WhiteBox whiteBox = new WhiteBox();

  public static void main(String[] args) throws Exception {
    System.load(args[0]);
    final int calls = Integer.parseInt(args[1]);
    final int rounds = Integer.parseInt(args[2]);
    new Transitions().run(calls, rounds);
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
    for (int round = 0; round < rounds; ++round) {
      for (final Shape shape : shapes) {
        final long start = System.nanoTime();
        drive(shape.target, shape.caller, shape.isStatic, calls);
        shape.nanos[round] = (System.nanoTime() - start) / (double) calls;
      }
    }
    final StringBuilder text = new StringBuilder();
    for (final Shape shape : shapes) {
      Arrays.sort(shape.nanos);
      text.append("shape ").append(shape.target.getClass().getSimpleName()).append(' ');
      text.append(shape.caller.getName()).append(' ').append(shape.nanos[rounds / 2]).append('\n');
    }
    System.out.print(text);
    System.out.println("done");
  }

  private List<Shape> prepare(char callerState, char calleeState, int rounds) throws Exception {
    final Class<?> copy = load("Shape" + callerState + calleeState);
    bind(copy, "(L" + copy.getName().replace('.', '/') + ";)V");
    final Object target = copy.getDeclaredConstructor().newInstance();
    final List<Shape> shapes = new ArrayList<>();
    for (final Method method : copy.getDeclaredMethods()) {
      if (Character.isDigit(method.getName().charAt(method.getName().length() - 1))) {
        shapes.add(new Shape(target, method, rounds));
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

  /** Brings a method into a state for good; natives always get their compiled wrapper. */
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
