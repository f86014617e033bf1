import java.util.Arrays;
import java.util.function.LongSupplier;
import jprof.counters.Counters;
import jprof.counters.CountersException;
import jprof.counters.ThreadCounters;

/** Measures reads of counters for bench/cost/counters_java.py. Prints medians of ns per read. */
public final class CounterReads {
    private static final int READS = 20_000;
    private static final int ROUNDS = 101;

    private static long sink;

    private record Loop(String name, LongSupplier read, double[] taken) {}

    private static Loop one(String metric) throws CountersException {
        ThreadCounters mine = Counters.open(metric).start();
        return new Loop("readOne of " + metric, mine::readOne, new double[ROUNDS]);
    }

    private static Loop all(String... metrics) throws CountersException {
        ThreadCounters mine = Counters.open(metrics).start();
        long[] values = new long[metrics.length];
        LongSupplier read =
                () -> {
                    mine.readAll(values);
                    return values[0];
                };
        return new Loop("readAll of " + String.join(", ", metrics), read, new double[ROUNDS]);
    }

    private static double measured(LongSupplier read) {
        long begin = System.nanoTime();
        for (int i = 0; i < READS; ++i) {
            sink += read.getAsLong();
        }
        return (double) (System.nanoTime() - begin) / READS;
    }

    public static void main(String[] args) throws CountersException {
        Loop[] loops = {
            new Loop("System.nanoTime", System::nanoTime, new double[ROUNDS]),
            one("time"),
            one("dispatches"),
            all("time", "dispatches"),
            one("page-faults"),
            one("task-clock"),
        };
        for (int round = -20; round < ROUNDS; ++round) { // the first ones compile
            for (Loop loop : loops) {
                loop.taken[Math.max(round, 0)] = measured(loop.read);
            }
        }
        for (Loop loop : loops) {
            Arrays.sort(loop.taken);
            System.out.printf(
                    "| %s | %.0f | %.0f |%n", loop.name, loop.taken[ROUNDS / 2], loop.taken[1]);
        }
    }
}
