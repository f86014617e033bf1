import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * The cost of an allocation: loops of COUNT allocations of objects of 24 bytes and of arrays of 80
 * bytes that escape, and of objects that the compiler removes. Prints the least of ROUNDS for each:
 * ns of the thread's CPU time an allocation.
 */
public final class Allocations {
    static final class Small {
        final int a, b;
        final Object next;

        Small(int a, int b, Object next) {
            this.a = a;
            this.b = b;
            this.next = next;
        }
    }

    private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
    static final Object[] kept = new Object[1024];
    static long sum;

    static void objects(int count) {
        for (int i = 0; i < count; ++i) kept[i & 1023] = new Small(i, i, null);
    }

    static void arrays(int count) {
        for (int i = 0; i < count; ++i) kept[i & 1023] = new int[16];
    }

    static void removed(int count) {
        long total = 0;
        for (int i = 0; i < count; ++i) {
            Small small = new Small(i, i + 1, null);
            total += small.a ^ small.b;
        }
        sum += total;
    }

    interface Loop {
        void run(int count);
    }

    static void measure(String name, Loop loop, int count, int rounds) {
        long least = Long.MAX_VALUE;
        for (int round = 0; round < rounds; ++round) {
            long began = CLOCK.getCurrentThreadCpuTime();
            loop.run(count);
            least = Math.min(least, CLOCK.getCurrentThreadCpuTime() - began);
        }
        System.out.println(name + " " + (double) least / count);
    }

    public static void main(String[] arguments) {
        int count = Integer.parseInt(arguments[0]), rounds = Integer.parseInt(arguments[1]);
        measure("objects", Allocations::objects, count, rounds);
        measure("arrays", Allocations::arrays, count, rounds);
        measure("removed", Allocations::removed, count, rounds);
    }
}
