import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/**
 * Runs javac args[0] times in this JVM, with the other arguments. Prints "compilation NUMBER CPU
 * WALL" of each, in nanoseconds; CPU is that of the thread that compiles.
 */
final class CompileAgain {
  public static void main(String[] args) {
    int times = Integer.parseInt(args[0]);
    String[] words = Arrays.copyOfRange(args, 1, args.length);
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    JavaCompiler javac = ToolProvider.getSystemJavaCompiler();
    for (int i = 1; i <= times; i++) {
      long cpu = threads.getCurrentThreadCpuTime(), wall = System.nanoTime();
      int status = javac.run(null, null, null, words);
      if (status != 0) System.exit(status);
      System.out.println("compilation " + i + " " + (threads.getCurrentThreadCpuTime() - cpu) + " "
          + (System.nanoTime() - wall));
    }
  }
}
