import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import javax.tools.ToolProvider;

/**
 * javac with these arguments, once for each line on standard input; each time prints what CPU time the process took for it
 * (user and system, all threads), in ns.
 */
final class CompileTurns {
  public static void main(String[] args) throws Exception {
    var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    var input = new BufferedReader(new InputStreamReader(System.in));
    while (input.readLine() != null) {
      long before = system.getProcessCpuTime();
      int status = ToolProvider.getSystemJavaCompiler().run(null, null, null, args);
      if (status != 0) System.exit(status);
      System.out.println(system.getProcessCpuTime() - before);
    }
  }
}
