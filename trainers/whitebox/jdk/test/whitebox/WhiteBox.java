package jdk.test.whitebox;

import java.lang.reflect.Executable;

/**
 * The test interface of HotSpot, reduced to the native methods that the trainers need. The VM binds
 * them by name when started with -XX:+WhiteBoxAPI and this class on its boot class path; it then
 * prints a warning for each missing one.
 */
public final class WhiteBox {
  private static native void registerNatives();

  static {
    registerNatives();
  }

  private native boolean enqueueMethodForCompilation0(Executable method, int level, int bci);

  private native int getMethodCompilationLevel0(Executable method, boolean osr);

  private native void makeMethodNotCompilable0(Executable method, int level, boolean osr);

  /** Compiles at level 1 (C1) or 4 (C2); with -XX:-BackgroundCompilation, synchronously. */
  public boolean compile(Executable method, int level) {
    return enqueueMethodForCompilation0(method, level, -1);
  }

  /** The level at which the method runs when called: 0 the interpreter, 1 to 3 C1, 4 C2. */
  public int level(Executable method) {
    return getMethodCompilationLevel0(method, false);
  }

  public void forbid(Executable method, int level) {
    makeMethodNotCompilable0(method, level, false);
  }
}
