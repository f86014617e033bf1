import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Loops of calls outside and inside of a method, and calls of that method: prints the CPU time of
 * one turn of each in ns, the least of the rounds.
 *
 * <p>GateLoops TURNS ROUNDS
 */
public class GateLoops {
    static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
    static long sink;

    interface Loop {
        void run(int turns);
    }

    static void call(int i) {
        sink += i;
    }

    static void outside(int turns) {
        for (int i = 0; i < turns; ++i) call(i);
    }

    static void inside(int turns) {
        for (int i = 0; i < turns; ++i) call(i);
    }

    // The method that --within names, as inside() is.
    static void gate(int i) {
        sink += i;
    }

    static void gates(int turns) {
        for (int i = 0; i < turns; ++i) gate(i);
    }

    static double nanos(Loop loop, int turns) {
        long begin = CLOCK.getCurrentThreadCpuTime();
        loop.run(turns);
        return (double) (CLOCK.getCurrentThreadCpuTime() - begin) / turns;
    }

    public static void main(String[] words) {
        int turns = Integer.parseInt(words[0]);
        int rounds = Integer.parseInt(words[1]);
        String[] names = {"outside", "inside", "gate"};
        Loop[] loops = {GateLoops::outside, GateLoops::inside, GateLoops::gates};
        double[] least = new double[loops.length];
        java.util.Arrays.fill(least, 1e12);
        for (int round = 0; round < rounds; ++round) {
            for (int i = 0; i < loops.length; ++i) {
                least[i] = Math.min(least[i], nanos(loops[i], turns));
            }
        }
        for (int i = 0; i < loops.length; ++i) System.out.println(names[i] + "\t" + least[i]);
    }
}
