import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import jprof.label.Recording;

/** Calls whose numbers are known, inside and outside of Limits.request, for within_test.py. */
public final class Limits {
    static volatile int sink;

    static void leaf(int i) {
        sink += i;
    }

    static void work(int i) {
        leaf(i);
        leaf(i + 1);
    }

    // Is called inside of requests and outside of them.
    static void both(int i) {
        leaf(i);
    }

    /** A request: 1 of work, 2 of both, and `depth` requests inside of it. */
    static void request(int i, int depth, boolean fails) {
        work(i);
        both(i);
        if (depth > 0) request(i, depth - 1, false);
        both(i);
        if (fails) thrower(i);
    }

    static void thrower(int i) {
        throw new IllegalStateException();
    }

    static void outside(int i) {
        both(i);
        work(i);
    }

    static void serve(int i) {
        outside(i);
        try {
            request(i, i % 3, i % 5 == 0);
        } catch (IllegalStateException expected) {
            both(i);
        }
        outside(i);
    }

    static void serveAll(int count) {
        for (int i = 0; i < count; ++i) serve(i);
    }

    static void inThreads(int threads, int count) throws InterruptedException {
        List<Thread> all = new ArrayList<>();
        for (int t = 0; t < threads; ++t) all.add(new Thread(() -> serveAll(count), "server-" + t));
        for (Thread thread : all) thread.start();
        for (Thread thread : all) thread.join();
    }

    // Parks inside of requests and outside of them, so that virtual threads change their carriers.
    static void yielding(int i) {
        outside(i);
        Thread.yield();
        parked(i);
        Thread.yield();
        outside(i);
    }

    static void parked(int i) {
        work(i);
        Thread.yield();
        both(i);
    }

    static void inVirtualThreads(int threads, int count) throws Exception {
        List<Thread> all = new ArrayList<>();
        for (int t = 0; t < threads; ++t) {
            Runnable serves = () -> {
                for (int i = 0; i < count; ++i) yielding(i);
            };
            all.add((Thread) Thread.class.getMethod("startVirtualThread", Runnable.class)
                            .invoke(null, serves));
        }
        for (Thread thread : all) thread.join();
    }

    static void phase(int count) {
        for (int i = 0; i < count; ++i) work(i);
    }

    static void marking(int count) {
        for (int i = 0; i < count; ++i) {
            work(i);
            Recording.mark("half");
            work(i);
        }
    }

    // Pauses while a frame is on the stack, and returns to it while the recording goes on.
    static void pausing(int count) {
        phase(count);
        Recording.stop();
        phase(7);
        Recording.start();
        phase(count + 1);
    }

    // Threads run all the time; what they do between two barriers is recorded.
    static void amongThreads(int threads, int count) throws InterruptedException {
        CountDownLatch[] steps = new CountDownLatch[3];
        for (int i = 0; i < 3; ++i) steps[i] = new CountDownLatch(threads);
        CountDownLatch begins = new CountDownLatch(1), ends = new CountDownLatch(1);
        List<Thread> all = new ArrayList<>();
        for (int t = 0; t < threads; ++t) {
            Thread thread = new Thread(() -> {
                phase(count);
                steps[0].countDown();
                await(begins);
                recordedPhase(count);
                steps[1].countDown();
                await(ends);
                phase(count);
            }, "server-" + t);
            all.add(thread);
            thread.start();
        }
        await(steps[0]);
        Recording.start();
        begins.countDown();
        await(steps[1]);
        Recording.stop();
        ends.countDown();
        for (Thread thread : all) thread.join();
    }

    static void recordedPhase(int count) {
        phase(count);
    }

    static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException impossible) {
            throw new AssertionError(impossible);
        }
    }

    static void tiny(int i) {
        sink = i;
    }

    /** A known time in tiny calls: inside of it, and as long outside of it. */
    static void timed(int count) {
        for (int i = 0; i < count; ++i) tiny(i);
    }

    static void brief(int i) {
        tiny(i);
    }

    public static void main(String[] args) throws Exception {
        int count = args.length > 1 ? Integer.parseInt(args[1]) : 0;
        switch (args[0]) {
            case "threads" -> inThreads(8, count);
            case "one" -> serveAll(count);
            case "virtual" -> inVirtualThreads(40, count);
            case "between" -> {
                phase(50);
                Recording.start();
                phase(count);
                Recording.stop();
                phase(60);
                Recording.start();
                phase(3);
                Recording.stop();
            }
            case "pausing" -> pausing(count);
            case "among" -> amongThreads(8, count);
            case "marks" -> marking(count);
            case "brief" -> {
                for (int i = 0; i < count; ++i) {
                    brief(i);
                    outside(i);
                }
            }
            case "samples" -> {
                long end = System.nanoTime() + 300_000_000L;
                while (System.nanoTime() < end) phase(1000);
                Recording.start();
                end = System.nanoTime() + 500_000_000L;
                while (System.nanoTime() < end) recordedPhase(1000);
                Recording.stop();
                end = System.nanoTime() + 300_000_000L;
                while (System.nanoTime() < end) phase(1000);
            }
            default -> throw new IllegalArgumentException(args[0]);
        }
        System.out.println("done");
    }
}
