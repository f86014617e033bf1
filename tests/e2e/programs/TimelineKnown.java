import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that compute, park and sleep in methods of their own: TimelineKnown THREADS ROUNDS. Each
 * prints at its end what the kernel says of it: "thread TID VOLUNTARY INVOLUNTARY", its dispatches.
 */
public final class TimelineKnown {
  private static volatile long sink;

  private static void computing(int milliseconds) {
    final long end = System.nanoTime() + milliseconds * 1_000_000L;
    long x = 1;
    while (System.nanoTime() < end) {
      for (int i = 0; i < 1000; i++) x = x * 31 + i;
    }
    sink = x;
  }

  private static void parking() {
    LockSupport.parkNanos(50_000);
  }

  private static void sleeping() throws InterruptedException {
    Thread.sleep(0, 50_000);
  }

  private static void run(int rounds, StringBuilder result) {
    try {
      for (int i = 0; i < rounds; i++) {
        if (i % 50 == 0) computing(2);
        parking();
        sleeping();
      }
      final Path status = Path.of("/proc/thread-self/status");
      final List<String> lines = Files.readAllLines(status); // loads what it needs
      for (String line : Files.readAllLines(status)) {
        if (line.startsWith("Pid:")) result.append("thread ").append(line.split("\\s+")[1]);
        if (line.contains("voluntary_ctxt")) result.append(' ').append(line.split("\\s+")[1]);
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  public static void main(String[] arguments) throws Exception {
    final int rounds = Integer.parseInt(arguments[1]);
    final List<Thread> threads = new ArrayList<>();
    final List<StringBuilder> results = new ArrayList<>();
    for (int i = 0; i < Integer.parseInt(arguments[0]); i++) {
      final StringBuilder result = new StringBuilder();
      results.add(result);
      threads.add(new Thread(() -> run(rounds, result), "worker-" + i));
    }
    for (Thread thread : threads) thread.start();
    for (Thread thread : threads) thread.join();
    for (StringBuilder result : results) System.out.println(result);
  }
}
