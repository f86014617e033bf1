import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** Does what the events of the JVM are about, a known number of times, and prints the numbers. */
public class JvmEvents {
    static final int COLLECTIONS = 3;
    static final int CONTENTIONS = 5;
    static final int WAITS = 4;
    static final int PARKS = 6;
    static final int THREADS = 7;

    static final class Guard {}

    static final class Blocker {}

    private static Object garbage;

    /**
     * Does everything once or, with the argument "again", once for each line of its standard input.
     * With "collect" it does nothing but collections.
     */
    public static void main(String[] arguments) throws Exception {
        String what = arguments.length > 0 ? arguments[0] : "";
        if (what.equals("collect")) {
            collect();
        } else if (!what.equals("again")) {
            doAll();
            print();
        } else {
            serve(new BufferedReader(new InputStreamReader(System.in)));
        }
    }

    // The words are those of tests/e2e/attaching.py.
    private static void serve(BufferedReader commands) throws Exception {
        System.out.println("ready");
        while (!commands.readLine().equals("end")) {
            doAll();
            System.out.println("done");
        }
        System.out.println("wrong answers 0");
    }

    private static void doAll() throws Exception {
        collect();
        for (int i = 0; i < CONTENTIONS; ++i) contend();
        waitFor();
        park();
        lock();
        for (int i = 0; i < THREADS; ++i) run("short-" + i, () -> {});
    }

    private static void collect() {
        for (int i = 0; i < COLLECTIONS; ++i) {
            garbage = new byte[1 << 20];
            System.gc();
        }
    }

    private static void print() {
        System.out.println("collections=" + COLLECTIONS);
        System.out.println("contentions=" + CONTENTIONS);
        System.out.println("waits=" + WAITS);
        System.out.println("parks=" + PARKS);
        System.out.println("threads=" + THREADS);
    }

    private static void run(String name, Runnable body) throws Exception {
        Thread thread = new Thread(body, name);
        thread.start();
        thread.join();
    }

    private static Thread start(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.start();
        return thread;
    }

    // The main thread has the monitor while the other one asks for it.
    private static void contend() throws Exception {
        Guard guard = new Guard();
        Thread contender;
        synchronized (guard) {
            contender = start("contender", () -> enter(guard));
            while (contender.getState() != Thread.State.BLOCKED) Thread.sleep(1);
            Thread.sleep(5); // the event finds the owner a moment later
        }
        contender.join();
    }

    private static void enter(Guard guard) {
        synchronized (guard) {
            garbage = guard;
        }
    }

    private static void waitFor() throws Exception {
        run("waiter", JvmEvents::waitForNobody);
    }

    private static void waitForNobody() {
        Guard guard = new Guard();
        synchronized (guard) {
            for (int i = 0; i < WAITS; ++i) {
                try {
                    guard.wait(10 + i);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        }
    }

    private static void park() throws Exception {
        Blocker blocker = new Blocker();
        run("parker", () -> {
            for (int i = 0; i < PARKS; ++i) LockSupport.parkNanos(blocker, 2_000_000);
        });
    }

    private static void lock() throws Exception {
        ReentrantLock lock = new ReentrantLock();
        lock.lock();
        Thread locker = start("locker", () -> {
            lock.lock();
            lock.unlock();
        });
        while (!lock.hasQueuedThread(locker) || locker.getState() != Thread.State.WAITING)
            Thread.sleep(1);
        lock.unlock();
        locker.join();
    }
}
