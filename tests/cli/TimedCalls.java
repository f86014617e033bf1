import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/**
 * Methods whose calls take known times, and these times as the program measures them: by the CPU time
 * of its thread around each call. It prints a line for each method: its name and the times in ns.
 *
 * <p>With numbers of ns as arguments it makes calls of these lengths only, and for each prints how
 * many and their mean in ns; "1000:50000000" also makes three long calls. The property rounds is the
 * speed of the machine, which it else measures and prints (bench/accuracy/distribution.py).
 */
public class TimedCalls {
    static final ThreadMXBean BEAN = ManagementFactory.getThreadMXBean();
    static final Map<String, long[]> TIMES = new TreeMap<>();
    static final Map<String, Integer> CALLS = new TreeMap<>();
    static volatile long sink;
    static double roundsPerNs;

    static long cpu() {
        return BEAN.getCurrentThreadCpuTime();
    }

    static void add(String method, long ns) {
        long[] times = TIMES.computeIfAbsent(method, name -> new long[1 << 20]);
        times[CALLS.merge(method, 1, Integer::sum) - 1] = ns;
    }

    static void spin(long rounds) {
        long x = sink;
        for (long i = 0; i < rounds; ++i) x = x * 6364136223846793005L + 1442695040888963407L;
        sink = x;
    }

    static long roundsOf(double ns) {
        return Math.max(1, (long) (ns * roundsPerNs));
    }

    static void measureSpeed() {
        for (int i = 0; i < 3000; ++i) spin(20_000);
        long begin = cpu();
        for (int i = 0; i < 100; ++i) spin(200_000);
        roundsPerNs = 100 * 200_000.0 / (cpu() - begin);
    }

    // The watched methods.

    static void bimodal(long rounds) {
        spin(rounds);
    }

    static void recursive(int depth, long rounds) {
        spin(rounds);
        if (depth == 0) return;
        long begin = cpu();
        recursive(depth - 1, rounds);
        add("recursive", cpu() - begin);
    }

    static void thrower(long rounds) {
        spin(rounds);
        throw new IllegalStateException();
    }

    static void sleeper() throws InterruptedException {
        Thread.sleep(30);
    }

    static void parked(long rounds) {
        try {
            spin(rounds);
            Thread.sleep(10);
            spin(rounds);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void length(long rounds) {
        spin(rounds);
    }

    // What calls them.

    static void callBimodal() {
        Random random = new Random(1);
        for (int i = 0; i < 1000; ++i) {
            long rounds = roundsOf(random.nextInt(10) == 0 ? 3_000_000 : 180_000);
            long begin = cpu();
            bimodal(rounds);
            add("bimodal", cpu() - begin);
        }
    }

    static void callRecursive() {
        for (int i = 0; i < 50; ++i) {
            long begin = cpu();
            recursive(4, roundsOf(300_000));
            add("recursive", cpu() - begin);
        }
    }

    static void callThrower() {
        for (int i = 0; i < 300; ++i) {
            long begin = cpu();
            try {
                thrower(roundsOf(350_000));
            } catch (IllegalStateException e) {
                add("thrower", cpu() - begin);
            }
        }
    }

    static void callVirtual() throws Exception {
        var start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        Thread[] threads = new Thread[16];
        long rounds = roundsOf(1_000_000);
        for (int i = 0; i < threads.length; ++i) {
            threads[i] = (Thread) start.invoke(null, (Runnable) () -> {
                for (int k = 0; k < 5; ++k) parked(rounds);
            });
        }
        for (Thread thread : threads) thread.join();
    }

    static void print() {
        for (String method : CALLS.keySet()) {
            long[] times = Arrays.copyOf(TIMES.get(method), CALLS.get(method));
            System.out.println("times " + method + Arrays.toString(times).replaceAll("[\\[,\\]]", " "));
        }
        System.out.flush();
    }

    static void makeCalls(int calls, long rounds, long everyNth, long longRounds) {
        for (int i = 1; i <= calls; ++i) length(i % everyNth == 0 ? longRounds : rounds);
    }

    static void callLengths(String[] lengths) {
        System.out.println("rounds " + roundsPerNs);
        for (String length : lengths) {
            String[] parts = length.split(":");
            double ns = Double.parseDouble(parts[0]);
            double longest = parts.length > 1 ? Double.parseDouble(parts[1]) : ns;
            int calls = (int) Math.max(20, Math.min(300_000, 1e9 / ns));
            int everyNth = parts.length > 1 ? calls / 3 : calls + 1;
            makeCalls(20_000, roundsOf(Math.min(ns, 1000)), 20_001, 1);
            long begin = cpu();
            makeCalls(calls, roundsOf(ns), everyNth, roundsOf(longest));
            System.out.println(length + " " + calls + " " + (cpu() - begin) / (double) calls);
        }
    }

    public static void main(String[] arguments) throws Exception {
        measureSpeed();
        roundsPerNs = Double.parseDouble(System.getProperty("rounds", "" + roundsPerNs));
        if (arguments.length > 0 && !arguments[0].equals("wait")) {
            callLengths(arguments);
            return;
        }
        callBimodal();
        callRecursive();
        callThrower();
        for (int i = 0; i < 5; ++i) sleeper();
        if (Runtime.version().feature() >= 21) callVirtual();
        print();
        if (arguments.length > 0) Thread.sleep(60_000);
    }
}
