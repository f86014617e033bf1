import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;

/**
 * Calls work() very often. A few calls of each thread are slow, in different ways; the program
 * measures each from outside and from inside, and prints those that lasted as long as BOUND from
 * outside, with the number of calls that it made inside.
 *
 * <p>Arguments: the number of threads, of virtual threads, of fast calls of each, and "forever".
 */
public class SlowCalls {
    static final long BOUND = 100_000_000; // ns
    static final long SLOW = 300_000_000;

    static final int ITERATIONS = Integer.getInteger("iterations", 10_000); // of a turn

    static final int FAST = 0;
    static final int CPU = 1;
    static final int SLEEP = 2;
    static final int LOCK = 3;
    static final int FAIL = 4;
    static final String[] KINDS = {"fast", "cpu", "sleep", "lock", "fail"};

    static final class Failure extends RuntimeException {
        Failure() {
            super(null, null, false, false);
        }
    }

    static final Semaphore asked = new Semaphore(0);
    static final Semaphore locked = new Semaphore(0);
    static final Object lock = new Object();
    static volatile long waits; // since this time by nanoTime, or 0
    static long taken;
    static final List<String> lines = new ArrayList<>();

    /** What a thread counts. */
    static final class Own {
        long calls;
        long turns; // of the latest call
        long inside; // ns of the latest call, as it has measured itself
        long value;
    }

    /** The watched method. */
    static void work(Own own, int kind) {
        long begin = System.nanoTime();
        own.turns = 0;
        try {
            for (int i = 0; i < 3; i++) {
                step(own, i);
            }
            if (kind == CPU) {
                spin(own);
            } else if (kind == SLEEP) {
                nap();
            } else if (kind == LOCK) {
                take();
            } else if (kind == FAIL) {
                fail(own);
            }
        } finally {
            own.inside = System.nanoTime() - begin;
        }
    }

    static void step(Own own, int i) {
        own.value += own.value * 31 + i;
    }

    static void turn(Own own) {
        for (int i = 0; i < ITERATIONS; i++) {
            own.value = own.value * 6364136223846793005L + 1442695040888963407L;
        }
    }

    static void spin(Own own) {
        long end = System.nanoTime() + SLOW;
        do {
            turn(own);
            own.turns++;
        } while (System.nanoTime() - end < 0);
    }

    static void nap() {
        try {
            Thread.sleep(SLOW / 1_000_000);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void take() {
        waits = System.nanoTime();
        synchronized (lock) {
            taken++;
        }
    }

    static void fail(Own own) {
        spin(own);
        throw new Failure();
    }

    static void call(Own own, int kind) {
        if (kind == LOCK) {
            asked.release();
            locked.acquireUninterruptibly();
        }
        long begin = System.nanoTime();
        try {
            work(own, kind);
        } catch (Failure expected) {
            // It ends the call.
        }
        long ns = System.nanoTime() - begin;
        own.calls++;
        if (ns < BOUND) {
            return;
        }
        synchronized (lines) {
            lines.add("slow " + Thread.currentThread().getName() + "/ " + KINDS[kind] + " " + ns
                    + " " + own.inside + " " + own.turns);
        }
    }

    /** Holds the lock for each that asks, for SLOW after it has begun to wait. */
    static void hold(int times) {
        for (int i = 0; i < times; i++) {
            asked.acquireUninterruptibly();
            synchronized (lock) {
                waits = 0;
                locked.release();
                long since;
                while ((since = waits) == 0 || System.nanoTime() - since < SLOW) {
                    nap1();
                }
            }
        }
    }

    static void nap1() {
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void run(int number, int fast, boolean isVirtual) {
        Own own = new Own();
        int kind = isVirtual ? 1 + number % 2 : 1 + number % 4;
        for (int i = 0; i < fast; i++) {
            call(own, FAST);
            if (i == fast / 2) {
                call(own, kind);
            }
        }
        synchronized (lines) {
            lines.add("calls " + own.calls);
        }
    }

    static Thread start(int number, int fast, boolean isVirtual) throws Exception {
        Runnable task = () -> run(number, fast, isVirtual);
        if (isVirtual) {
            return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
        }
        Thread thread = new Thread(task, "slow-" + number);
        thread.start();
        return thread;
    }

    public static void main(String[] arguments) throws Exception {
        int threads = Integer.parseInt(arguments[0]);
        int virtual = Integer.parseInt(arguments[1]);
        int fast = Integer.parseInt(arguments[2]);
        int holds = (threads + 1) / 4;
        Thread holder = new Thread(() -> hold(holds), "holder");
        holder.start();
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            all.add(start(i, fast, false));
        }
        for (int i = 0; i < virtual; i++) {
            all.add(start(i, fast, true));
        }
        for (Thread thread : all) {
            thread.join();
        }
        holder.join();
        synchronized (lines) {
            for (String line : lines) {
                System.out.println(line);
            }
        }
        System.out.println("done");
        System.out.flush();
        Own own = new Own();
        while (arguments.length > 3) {
            work(own, FAST);
        }
    }
}
