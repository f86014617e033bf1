package jprof.trainers;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import javax.tools.ToolProvider;

/** javac on the main thread; prints the total CPU time of that thread: "cpu NANOSECONDS". */
public final class TimedCompile {
  private TimedCompile() {}

  public static void main(String[] args) {
    final int status = ToolProvider.getSystemJavaCompiler().run(null, null, null, args);
    final ThreadMXBean clock = ManagementFactory.getThreadMXBean();
    System.out.println("cpu " + clock.getCurrentThreadCpuTime());
    System.exit(status);
  }
}
