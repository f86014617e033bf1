import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Has two hot lines in one method, whose CPU times it measures itself, and calls one method from several
 * places of one caller. Lines that the test looks for end with a comment.
 *
 * <p>Arguments: seconds to spend in the hot lines, and calls at the first place. Prints the share of
 * the first hot line in percent.
 */
public final class SourceLines {
    private static final int[] TABLE = new int[1 << 12];
    private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
    private static long first, second;

    private SourceLines() {}

    static long hot(int times) {
        long x = 1, y = 1, begin = CLOCK.getCurrentThreadCpuTime();
        for (int i = 0; i < times; i++) x = x * 31 + TABLE[(int) x & TABLE.length - 1]; // first
        long middle = CLOCK.getCurrentThreadCpuTime();
        for (int i = 0; i < 3 * times; i++) y = y * 31 + TABLE[(int) y & TABLE.length - 1]; // second
        second += CLOCK.getCurrentThreadCpuTime() - middle;
        first += middle - begin;
        return x + y;
    }

    static int leaf(int i) {
        if (i < 0) throw new IllegalArgumentException();
        return i & 7;
    }

    static int down(int depth) {
        if (depth == 0) return 0;
        if (depth % 3 == 0) return down(depth - 1); // third
        return 1 + down(depth - 1); // others
    }

    static int calls(int times) {
        int sum = 0;
        for (int i = 0; i < times; i++) {
            sum += leaf(i); // one
            if (i % 3 == 0) sum += leaf(i) - leaf(i + 1); // two
            try {
                sum += leaf(i % 5 == 0 ? -1 : i); // throws
            } catch (IllegalArgumentException expected) {
                sum += leaf(1); // caught
            }
            if (i % 100 == 0) sum += down(9); // down
            sum += (int) System.nanoTime() & 1; // clock
            if (i % 4 == 0) sum += (int) System.nanoTime() & 1; // rare clock
        }
        return sum;
    }

    public static void main(String[] args) {
        long sum = calls(Integer.parseInt(args[1]));
        long end = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
        while (System.nanoTime() < end) sum += hot(10000);
        System.out.println(first + second == 0 ? 0 : 100.0 * first / (first + second));
        System.err.println(sum);
    }
}
