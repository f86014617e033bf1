import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * For events of callstack sampling: prints what the JVM's beans measured. Arguments: contention,
 * allocation, thirds, names or idle; then the amount (rounds, megabytes, milliseconds).
 */
public final class SampledEvents {
  private static final com.sun.management.ThreadMXBean THREADS =
      (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

  private interface Action {
    void run() throws Exception;
  }

  private static Thread start(String name, Action action) {
    final Thread thread =
        new Thread(
            () -> {
              try {
                action.run();
              } catch (Exception e) {
                throw new IllegalStateException(e);
              }
            },
            name);
    thread.start();
    return thread;
  }

  public static void main(String[] args) throws Exception {
    final int much = Integer.parseInt(args[1]);
    switch (args[0]) {
      case "contention" -> contention(much);
      case "allocation" -> System.out.println("allocated " + allocation(much));
      case "thirds" -> thirds(much);
      case "names" -> names(much, Integer.parseInt(args[2]));
      case "idle" -> idle(much);
      default -> throw new IllegalArgumentException(args[0]);
    }
  }

  /**
   * What the threads print is made here, after them: a contended System.out or the linking of an
   * expression with strings would be further monitors below contend().
   */
  private static void contention(int rounds) throws Exception {
    THREADS.setThreadContentionMonitoringEnabled(true);
    THREADS.getThreadInfo(Thread.currentThread().getId()); // loads its classes
    final Object lock = new Object();
    final ThreadInfo[] infos = new ThreadInfo[4];
    final List<Thread> all = new ArrayList<>();
    for (int i = 0; i < infos.length; ++i) {
      final int mine = i;
      all.add(start("contender-" + i, () -> infos[mine] = contend(lock, rounds)));
    }
    for (Thread thread : all) thread.join();
    for (ThreadInfo info : infos) {
      System.out.println(
          "blocked " + info.getThreadName() + " " + info.getBlockedTime() + " " + info.getBlockedCount());
    }
  }

  private static ThreadInfo contend(Object lock, int rounds) throws Exception {
    for (int i = 0; i < rounds; ++i) {
      synchronized (lock) {
        Thread.sleep(5);
      }
      Thread.sleep(1);
    }
    return THREADS.getThreadInfo(Thread.currentThread().getId());
  }

  private static volatile Object sink;

  /**
   * A quarter each of objects, small arrays, arrays near a thread's buffer in size, and large
   * arrays.
   */
  private static long allocation(int megabytes) {
    final long me = Thread.currentThread().getId();
    final long before = THREADS.getThreadAllocatedBytes(me);
    for (int i = 0; i < megabytes; ++i) {
      for (int k = 0; k < 10_000; ++k) sink = new StringBuilder(0);
      for (int k = 0; k < 1000; ++k) sink = new byte[240];
      for (int k = 0; k < 10; ++k) sink = new long[3000];
      if (i % 4 == 0) sink = new int[1 << 18];
    }
    return THREADS.getThreadAllocatedBytes(me) - before;
  }

  /**
   * A third each of objects inside a thread's buffer (104 bytes with their headers), of larger ones
   * (2,000) and of those outside it (200,000).
   */
  private static void thirds(int megabytes) {
    for (int i = 0; i < megabytes / 3; ++i) {
      for (int k = 0; k < 9_615; ++k) sink = new byte[84];
      for (int k = 0; k < 500; ++k) sink = new short[992];
      for (int k = 0; k < 5; ++k) sink = new char[99_992];
    }
  }

  /** One thread computes under four names. */
  private static void names(int milliseconds, int count) throws Exception {
    start("unnamed", () -> {
      for (int i = 0; i < count; ++i) {
        Thread.currentThread().setName("request-" + i);
        final long end = THREADS.getCurrentThreadCpuTime() + milliseconds * 1_000_000L;
        while (THREADS.getCurrentThreadCpuTime() < end) {}
      }
    }).join();
  }

  /** The longest time, in nanoseconds, for which a thread waited for a processor. */
  private static final AtomicLong latest = new AtomicLong();

  private static void idle(int milliseconds) throws Exception {
    final Pipe pipe = Pipe.open();
    final List<Thread> all = new ArrayList<>();
    all.add(start("sleeper", () -> timed(() -> sleep(milliseconds))));
    all.add(start("napper", () -> timed(() -> until(milliseconds, () -> sleep(50)))));
    all.add(start("parker", () -> timed(() -> until(milliseconds, () -> LockSupport.parkNanos(200_000_000)))));
    all.add(start("reader", () -> timed(() -> pipe.source().read(ByteBuffer.allocate(1)))));
    all.add(start("runner", () -> timed(() -> busy(milliseconds))));
    all.add(start("mixed", () -> timed(() -> until(milliseconds, () -> {
      busy(100);
      sleep(100);
    }))));
    Thread.sleep(milliseconds);
    pipe.sink().write(ByteBuffer.allocate(1));
    for (Thread thread : all) thread.join();
    System.out.println("latest " + latest);
  }

  private static void until(int milliseconds, Action action) throws Exception {
    final long end = System.nanoTime() + milliseconds * 1_000_000L;
    while (System.nanoTime() < end) action.run();
  }

  /** Reads the clock for this long, and notes the longest time between two readings. */
  private static void busy(int milliseconds) {
    long now = System.nanoTime();
    final long end = now + milliseconds * 1_000_000L;
    while (now < end) {
      final long before = now;
      now = System.nanoTime();
      late(now - before);
    }
  }

  /** Sleeps, and notes how much longer that took. */
  private static void sleep(int milliseconds) throws Exception {
    final long before = System.nanoTime();
    Thread.sleep(milliseconds);
    late(System.nanoTime() - before - milliseconds * 1_000_000L);
  }

  private static void late(long nanoseconds) {
    if (nanoseconds > latest.get()) latest.accumulateAndGet(nanoseconds, Math::max);
  }

  private static void timed(Action action) throws Exception {
    final long start = System.nanoTime(), cpu = THREADS.getCurrentThreadCpuTime();
    action.run();
    final long ran = THREADS.getCurrentThreadCpuTime() - cpu;
    System.out.println("thread " + Thread.currentThread().getName() + " " + (System.nanoTime() - start) + " " + ran);
  }
}
