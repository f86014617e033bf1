import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import jprof.counters.Counters;
import jprof.counters.CountersException;
import jprof.counters.MetricStatus;
import jprof.counters.ThreadCounters;

/** The counters as a program in Java sees them: against the kernel's figures, and what is refused. */
public final class CountersTest {
    private static volatile double sink;

    private static void check(boolean holds, Object said) {
        if (!holds) {
            throw new AssertionError(said);
        }
    }

    /** The kernel's count of what the thread has been off its CPU for. */
    private static long switches() throws Exception {
        long sum = 0;
        for (String line : Files.readAllLines(Path.of("/proc/thread-self/status"))) {
            if (line.contains("ctxt_switches")) {
                sum += Long.parseLong(line.substring(line.indexOf(':') + 1).trim());
            }
        }
        return sum;
    }

    private static void work() {
        for (int i = 0; i < 20_000_000; ++i) {
            sink += i;
        }
    }

    private static void timeIsThatOfTheKernel() throws Exception {
        try (Counters counters = Counters.open("time", "page-faults");
                ThreadCounters mine = counters.start()) {
            var kernel = ManagementFactory.getThreadMXBean();
            long[] before = new long[2];
            mine.readTwo(before);
            long cpu = kernel.getCurrentThreadCpuTime();
            work();
            LockSupport.parkNanos(50_000_000); // is not counted
            long time = mine.readOne() - before[0];
            double ratio = (double) time / (kernel.getCurrentThreadCpuTime() - cpu);
            System.out.printf("time to the kernel's CPU time: %.4f%n", ratio);
            check(ratio > 0.9 && ratio < 1.1, ratio);
            check(counters.names().equals(List.of("time", "page-faults")), counters.names());
        }
    }

    /** Each thread has its own counts. */
    private static void dispatchesAreThoseOfTheThread() throws Exception {
        try (Counters counters = Counters.open("dispatches", "time")) {
            List<Thread> threads = new ArrayList<>();
            List<Throwable> failures = new ArrayList<>();
            for (int parks : new int[] {10, 100, 300}) {
                Thread thread = new Thread(() -> parkOften(counters, parks));
                thread.setUncaughtExceptionHandler((of, failure) -> failures.add(failure));
                threads.add(thread);
            }
            threads.forEach(Thread::start);
            for (Thread thread : threads) {
                thread.join();
            }
            check(failures.isEmpty(), failures);
        }
    }

    private static void parkOften(Counters counters, int parks) {
        try (ThreadCounters mine = counters.start()) {
            long[] values = new long[3];
            values[2] = 42;
            long kernel = switches();
            long begin = mine.readOne();
            for (int i = 0; i < parks; ++i) {
                LockSupport.parkNanos(100_000);
            }
            mine.readAll(values);
            long later = switches() - kernel;
            check(values[0] - begin >= parks, values[0]);
            check(values[0] - begin <= later, values[0] - begin + " of " + later);
            check(values[1] > 0 && values[2] == 42, values[1]);
        } catch (Exception failed) {
            throw new AssertionError(failed);
        }
    }

    private static void statusSaysHow() throws Exception {
        try (Counters counters = Counters.open("page-faults", "time");
                ThreadCounters mine = counters.start()) {
            MetricStatus faults = mine.status(0);
            check(faults.byCall() && faults.running() == 1 && faults.failedReads() == 0, faults);
            refused(IndexOutOfBoundsException.class, "metric 2", () -> mine.status(2));
            refused(IndexOutOfBoundsException.class, "metric -1", () -> mine.status(-1));
        }
    }

    private static void refused(Class<?> as, String text, Callable<?> call) {
        try {
            call.call();
        } catch (Exception thrown) {
            check(as.isInstance(thrown) && thrown.getMessage().contains(text), thrown);
            return;
        }
        throw new AssertionError("is not refused: " + text);
    }

    private static void namesAreRefused() {
        refused(CountersException.class, "PAGE-FAULTS", () -> Counters.open("page-fault"));
        refused(CountersException.class, "twice", () -> Counters.open("time", "time"));
        refused(CountersException.class, "1 to 8", () -> Counters.open());
        refused(CountersException.class, "1 to 8", () -> Counters.open("a,b,c,d,e,f,g,h,i".split(",")));
        refused(CountersException.class, "unknown", () -> Counters.open("\u00e9\ud83d\ude00"));
    }

    private static void wrongUseIsRefused() throws Exception {
        Counters counters = Counters.open("time", "dispatches", "page-faults");
        ThreadCounters mine = counters.start();
        refused(IllegalArgumentException.class, "3 are needed", () -> readAll(mine, 2));
        check(readAll(mine, 3), "an array that suffices");
        List<Exception> thrown = new ArrayList<>();
        for (Runnable call : new Runnable[] {mine::readOne, mine::close}) {
            Thread other =
                    new Thread(
                            () -> {
                                try {
                                    call.run();
                                } catch (IllegalStateException refused) {
                                    thrown.add(refused);
                                }
                            });
            other.start();
            other.join();
        }
        check(thrown.size() == 2 && thrown.get(0).getMessage().contains("another thread"), thrown);
        counters.close();
        counters.close();
        refused(IllegalStateException.class, "closed", counters::start);
        check(mine.readOne() > 0, "counts although the set is closed");
        mine.stop();
        mine.close();
        refused(IllegalStateException.class, "stopped", mine::readOne);
    }

    private static boolean readAll(ThreadCounters mine, int length) {
        mine.readAll(new long[length]);
        return true;
    }

    private static void virtualThreadsAreRefused() throws Exception {
        if (Runtime.version().feature() < 21) {
            return;
        }
        List<Exception> thrown = new ArrayList<>();
        Runnable start =
                () -> {
                    try (Counters counters = Counters.open("time")) {
                        counters.start();
                    } catch (Exception refused) {
                        thrown.add(refused);
                    }
                };
        ((Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, start))
                .join();
        check(thrown.size() == 1 && thrown.get(0).getMessage().contains("virtual"), thrown);
    }

    public static void main(String[] args) throws Exception {
        timeIsThatOfTheKernel();
        dispatchesAreThoseOfTheThread();
        statusSaysHow();
        namesAreRefused();
        wrongUseIsRefused();
        virtualThreadsAreRefused();
        System.out.println("passed");
    }
}
