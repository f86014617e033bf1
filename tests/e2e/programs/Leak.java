import java.util.ArrayList;
import java.util.List;

/**
 * Keeps more and more objects in one place, while others are replaced, dropped, or kept from the
 * start. Arguments: the time in ms, how many KiB are kept in each, and "halt" if the program ends by
 * Runtime.halt while its shutdown hooks run.
 */
public final class Leak {
    static final class Session {
        final byte[] data;

        Session(int bytes) {
            data = new byte[bytes];
        }
    }

    static final List<Object> sessions = new ArrayList<>();
    static final Object[] cache = new Object[20_000];
    static final List<Object> constant = new ArrayList<>();
    static Object last;
    static int turn;

    /** Objects that live for long, and whose number does not change. */
    static void replace() {
        for (int i = 0; i < 200; ++i) cache[turn++ % cache.length] = new Session(300);
    }

    static void drop() {
        for (int i = 0; i < 2000; ++i) last = new byte[200];
        last = null;
    }

    static void keep() {
        for (int i = 0; i < 5000; ++i) constant.add(new byte[500]);
    }

    static void leak(int kib) {
        for (int i = 0; i < kib; ++i) sessions.add(new Session(1000));
    }

    static void halt() {
        try {
            Thread.sleep(2);
        } catch (InterruptedException impossible) {
            throw new AssertionError(impossible);
        }
        Runtime.getRuntime().halt(0);
    }

    public static void main(String[] arguments) throws InterruptedException {
        long duration = Long.parseLong(arguments[0]);
        int kib = Integer.parseInt(arguments[1]);
        if (arguments.length > 2) Runtime.getRuntime().addShutdownHook(new Thread(Leak::halt));
        keep();
        for (int i = 0; i < cache.length / 200; ++i) replace();
        long start = System.nanoTime();
        for (long ms = 0; ms < duration; ++ms) {
            replace();
            drop();
            leak(kib);
            while (System.nanoTime() - start < (ms + 1) * 1_000_000) Thread.sleep(1);
        }
    }
}
