/**
 * Prints what the profile of a program must contain: one line per expectation.
 *
 * <pre>
 * EXPECT pkg/Class.method(sig)ret COUNT              calls over all threads and paths;
 *                                                    '*' matches anything
 * EXPECTPATH a > b > c COUNT                         calls of c under b under a, which need
 *                                                    not be a root
 * EXPECTSITE a > N > c COUNT                         calls of c in the lines of a that are
 *                                                    marked "// site N"
 * EXPECTTHREAD thread-name | pkg/Class.m(sig) COUNT  calls on the threads of that name
 * </pre>
 */
final class Expect {
  private Expect() {}

  static void calls(String method, long count) {
    line("EXPECT " + method + " " + count);
  }

  static void path(long count, String... methods) {
    line("EXPECTPATH " + String.join(" > ", methods) + " " + count);
  }

  static void site(String caller, int site, String callee, long count) {
    line("EXPECTSITE " + caller + " > " + site + " > " + callee + " " + count);
  }

  static void thread(String thread, String method, long count) {
    line("EXPECTTHREAD " + thread + " | " + method + " " + count);
  }

  /** Ends the run with a failure if the program itself went wrong. */
  static void that(boolean holds, String what) {
    if (!holds) {
      line("PROGRAM FAILED: " + what);
      System.out.flush();
      Runtime.getRuntime().halt(99);
    }
  }

  private static synchronized void line(String text) {
    System.out.println(text);
  }
}
