import bench_events.BenchEvents;
import java.nio.file.Path;
import java.util.Arrays;
import jprof.events.Options;
import jprof.events.Trace;

/** Measures events for bench/cost/events.py: EventLoops DIRECTORY. Prints medians of ns per call. */
public final class EventLoops {
    private static final int CALLS = 200_000;
    private static final int ROUNDS = 41;
    private static final String[] NAMES = {"off", "statistics", "log", "nanotime"};

    private static long sink;

    private static void events() {
        for (int i = 0; i < CALLS; ++i) {
            BenchEvents.Cost.workDone(i, i);
        }
    }

    private static void clocks() {
        for (int i = 0; i < CALLS; ++i) {
            sink += System.nanoTime();
        }
    }

    public static void main(String[] args) throws Exception {
        BenchEvents.register();
        Trace.open(Path.of(args[0]), new Options(Options.Mode.WRAP, 256 << 10, 8));
        double[][] taken = new double[NAMES.length][ROUNDS];
        for (int round = -10; round < ROUNDS; ++round) { // the first ones compile
            for (int what = 0; what < NAMES.length; ++what) {
                Trace.setLevel("*", what == 3 ? 0 : what);
                long begin = System.nanoTime();
                if (what == 3) {
                    clocks();
                } else {
                    events();
                }
                taken[what][Math.max(round, 0)] = (double) (System.nanoTime() - begin) / CALLS;
            }
        }
        for (int what = 0; what < NAMES.length; ++what) {
            Arrays.sort(taken[what]);
            System.out.printf("%s %.3f%n", NAMES[what], taken[what][ROUNDS / 2]);
        }
    }
}
