import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import jprof.label.Label;

/**
 * Loops that set labels, and the same without: prints the CPU time of one turn of each in ns, the
 * least of the rounds.
 *
 * <p>LabelLoops TURNS ROUNDS
 */
public class LabelLoops {
    static final Label CART = Label.of("GET /cart");
    static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
    static long sink;

    interface Loop {
        void run(int turns);
    }

    // One method call in each turn, which sets a label or does not.
    static void plain(int i) {
        sink += i;
    }

    static void object(int i) {
        CART.set();
        sink += i;
    }

    static void constant(int i) {
        Label.set("GET /shop");
        sink += i;
    }

    static void made(int i, boolean set) {
        String text = new StringBuilder("GET /").append(i & 15).toString();
        if (set) Label.set(text);
        sink += text.length();
    }

    // A label in a loop of one method: each set replaces the one before.
    static void replaced(int turns) {
        for (int i = 0; i < turns; ++i) {
            CART.set();
            sink += i;
        }
    }

    static void nothing(int turns) {
        for (int i = 0; i < turns; ++i) {
            sink += i;
        }
    }

    static double nanos(Loop loop, int turns) {
        long begin = CLOCK.getCurrentThreadCpuTime();
        loop.run(turns);
        return (double) (CLOCK.getCurrentThreadCpuTime() - begin) / turns;
    }

    public static void main(String[] words) {
        int turns = Integer.parseInt(words[0]);
        int rounds = Integer.parseInt(words[1]);
        String[] names = {"plain", "object", "constant", "made, no label", "made", "nothing", "replaced"};
        Loop[] loops = {
            n -> { for (int i = 0; i < n; ++i) plain(i); },
            n -> { for (int i = 0; i < n; ++i) object(i); },
            n -> { for (int i = 0; i < n; ++i) constant(i); },
            n -> { for (int i = 0; i < n; ++i) made(i, false); },
            n -> { for (int i = 0; i < n; ++i) made(i, true); },
            LabelLoops::nothing,
            LabelLoops::replaced,
        };
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
