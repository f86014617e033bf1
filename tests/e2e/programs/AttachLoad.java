import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayDeque;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntUnaryOperator;

/**
 * A program that an agent is attached to: its threads compute, allocate, lock, wait, throw, and
 * begin and end, and check their own answers. Commands on standard input, one answer line each:
 * "count N" calls counted() N times on a thread that existed before and N times on a new one;
 * "state" prints the units of work, their CPU time in ns, and the number of wrong answers;
 * "throw N" has N + 1 nested calls of thrownFrom() left by an exception, on a thread of either kind;
 * "batches" prints the CPU time of each of the latest batches of 50 units, in ns;
 * "define" begins to define the class Late, whose super class is loaded by "late N", which then calls
 * its method N times;
 * "span" starts virtual threads that are nearly always in a method that catches an exception at its
 * end;
 * "pinned N" has a virtual thread that was mounted all the time call counted() N times; with "more";
 * "end" ends the program, with status 1 after a wrong answer.
 * Arguments: the number of working threads, and "more" for threads that recur deeply, virtual
 * threads where there are such, and classes that cannot be linked. The property "pause" is the time
 * in ms that working threads sleep after each batch of 50 units.
 */
public class AttachLoad {
    static final AtomicLong units = new AtomicLong(), cpu = new AtomicLong();
    static final AtomicLong wrong = new AtomicLong();
    static final Object lock = new Object();
    static final ArrayDeque<Integer> queue = new ArrayDeque<>();
    static long queued, taken;
    static volatile boolean stop;
    static volatile long sink;
    static final long[] batches = new long[1 << 12];
    static final int pause = Integer.getInteger("pause", 0);
    static int batch;  // how many there were since they were printed

    static int counted(int i) {
        return i * 31 + 7;
    }

    static void check(boolean right) {
        if (!right) wrong.incrementAndGet();
    }

    static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    static int thrown(int depth) {
        if (depth == 0) throw new IllegalStateException("7");
        try {
            return thrown(depth - 1) + 1;
        } catch (IllegalArgumentException never) {
            return -1;
        }
    }

    static int exceptions() {
        try {
            return thrown(8);
        } catch (IllegalStateException e) {
            return Integer.parseInt(e.getMessage());
        }
    }

    static int allocation() {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 200; i++) text.append(i).append(new String("x"));
        return text.toString().hashCode();
    }

    static final int ALLOCATED = allocation();

    static void unit() {
        check(fib(15) == 610);
        check(exceptions() == 7);
        check(allocation() == ALLOCATED);
        synchronized (lock) {
            queue.add(3);
            queued += 3;
            lock.notify();
        }
    }

    static void addBatch(long nanos) {
        synchronized (batches) {
            batches[batch++ % batches.length] = nanos;
        }
    }

    static String takeBatches() {
        StringBuilder text = new StringBuilder();
        synchronized (batches) {
            int n = Math.min(batch, batches.length);
            for (int i = 0; i < n; i++) text.append(batches[i]).append(' ');
            batch = 0;
        }
        return text.append('.').toString();
    }

    static void work() {
        java.lang.management.ThreadMXBean clock =
                java.lang.management.ManagementFactory.getThreadMXBean();
        long before = clock.getCurrentThreadCpuTime();
        while (!stop) {
            for (int i = 0; i < 50; i++) unit();
            units.addAndGet(50);
            long now = clock.getCurrentThreadCpuTime();
            cpu.addAndGet(now - before);
            addBatch(now - before);
            before = now;
            rest();
        }
    }

    static void rest() {
        if (pause == 0) return;
        try {
            Thread.sleep(pause);
        } catch (InterruptedException e) {
            check(false);
        }
    }

    static void consume() {
        try {
            while (!stop) {
                synchronized (lock) {
                    while (queue.isEmpty() && !stop) lock.wait(50);
                    while (!queue.isEmpty()) taken += queue.poll();
                    check(taken == queued);
                }
            }
        } catch (InterruptedException e) {
            check(false);
        }
    }

    static void shortThreads() {
        try {
            while (!stop) {
                int[] result = new int[1];
                Thread thread = new Thread(() -> result[0] = fib(12), "short");
                thread.start();
                thread.join();
                check(result[0] == 144);
                Thread.sleep(5);
                if (fib(10) != 55) check(false);
            }
        } catch (InterruptedException e) {
            check(false);
        }
    }

    static int thrownFrom(int depth) {
        if (depth == 0) throw new IllegalStateException("7");
        return thrownFrom(depth - 1) + 1;
    }

    static void leaveByException(int depth) {
        try {
            thrownFrom(depth);
            check(false);
        } catch (IllegalStateException e) {
            check(e.getMessage().equals("7"));
        }
    }

    static int depthOf(int n) {
        return n == 0 ? 0 : depthOf(n - 1) + 1;
    }

    static void recur() {
        while (!stop) {
            check(depthOf(3000) == 3000);
            leaveByException(1000);
            Thread.yield();
        }
    }

    static void virtualUnit() {
        try {
            check(fib(8) == 21);
            Thread.sleep(1);
            check(depthOf(100) == 100);
            Thread.yield();
            leaveByException(10);
        } catch (InterruptedException e) {
            check(false);
        }
    }

    /** Has virtual threads run; returns at once before JDK 21. */
    static void virtualThreads() {
        try {
            java.lang.reflect.Method start =
                    Thread.class.getMethod("startVirtualThread", Runnable.class);
            Thread[] running = new Thread[20];
            while (!stop) {
                for (int i = 0; i < running.length; i++) {
                    running[i] = (Thread) start.invoke(null, (Runnable) AttachLoad::virtualUnit);
                }
                for (Thread thread : running) thread.join();
            }
        } catch (NoSuchMethodException older) {
            return;
        } catch (ReflectiveOperationException | InterruptedException e) {
            check(false);
        }
    }

    static void catchLate() {
        try {
            long end = System.nanoTime() + 200_000;
            while (System.nanoTime() < end) {}
            thrownFrom(1);
        } catch (IllegalStateException e) {
            check(e.getMessage().equals("7"));
        }
    }

    static void span() {
        while (!stop) {
            catchLate();
            Thread.yield();
        }
    }

    static final CountDownLatch release = new CountDownLatch(1), done = new CountDownLatch(1);
    static volatile int pinnedCalls;

    /** A virtual thread that waits here stays mounted. */
    static class Pinned {
        static {
            try {
                release.await();
            } catch (InterruptedException e) {
                check(false);
            }
        }
        static void leave() {}
    }

    static void pinned() {
        Pinned.leave();
        for (int i = 0; i < pinnedCalls; i++) {
            check(counted(i) == i * 31 + 7);
            if (i % 10 == 0) Thread.yield();
        }
        done.countDown();
    }

    static class Base {}
    static final class Missing extends Base {}

    /** The JVM cannot link it without Missing, and so cannot transform it. */
    static final class Unlinkable {
        Base base(Missing missing) {
            return missing;
        }
    }

    static final class WithoutMissing extends ClassLoader {
        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (name.equals("AttachLoad$Missing")) throw new ClassNotFoundException(name);
            if (!name.equals("AttachLoad$Unlinkable")) return super.loadClass(name, resolve);
            try (var in = AttachLoad.class.getResourceAsStream("AttachLoad$Unlinkable.class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (java.io.IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    static final Class<?>[] unlinkable = new Class<?>[10];

    public static class Early {}

    static final class Late extends Early implements IntUnaryOperator {
        @Override
        public int applyAsInt(int i) {
            return i * 3;
        }
    }

    /** Defines Late, as many times as there are loaders; its super class waits for `early`. */
    static final class SlowLoader extends ClassLoader {
        final CountDownLatch asked = new CountDownLatch(1), early = new CountDownLatch(1);
        final Thread thread = new Thread(this::define, "slow loader");
        volatile int calls;

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (name.equals("AttachLoad$Early")) {
                asked.countDown();
                await(early);
            }
            return super.loadClass(name, resolve);
        }

        void define() {
            String name = "AttachLoad$Late";
            try (var in = AttachLoad.class.getResourceAsStream(name + ".class")) {
                byte[] bytes = in.readAllBytes();
                var made = defineClass(name, bytes, 0, bytes.length).getDeclaredConstructor();
                made.setAccessible(true);
                var late = (IntUnaryOperator) made.newInstance();
                for (int i = 0; i < calls; i++) check(late.applyAsInt(i) == 3 * i);
            } catch (java.io.IOException | ReflectiveOperationException e) {
                check(false);
            }
        }
    }

    static SlowLoader slow;

    static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            check(false);
        }
    }

    static void onBoth(Runnable work) throws InterruptedException {
        work.run();
        Thread fresh = new Thread(work, "fresh");
        fresh.start();
        fresh.join();
    }

    static void count(int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) sum += counted(i);
        long expected = 0;
        for (int i = 0; i < n; i++) expected += i * 31 + 7;
        check(sum == expected);
        sink = sum;
    }

    public static void main(String[] args) throws Exception {
        int workers = args.length > 0 ? Integer.parseInt(args[0]) : 2;
        boolean more = args.length > 1 && args[1].equals("more");
        Thread[] threads = new Thread[workers + (more ? 4 : 2)];
        for (int i = 0; i < workers; i++) threads[i] = new Thread(AttachLoad::work, "worker " + i);
        threads[workers] = new Thread(AttachLoad::consume, "consumer");
        threads[workers + 1] = new Thread(AttachLoad::shortThreads, "starter");
        if (more) {
            for (int i = 0; i < unlinkable.length; i++) {
                unlinkable[i] = new WithoutMissing().loadClass("AttachLoad$Unlinkable");
            }
            threads[workers + 2] = new Thread(AttachLoad::recur, "deep");
            threads[workers + 3] = new Thread(AttachLoad::virtualThreads, "starter of virtual ones");
        }
        for (Thread thread : threads) thread.start();
        if (more && Runtime.version().feature() >= 21) {
            Thread.class.getMethod("startVirtualThread", Runnable.class)
                    .invoke(null, (Runnable) AttachLoad::pinned);
        }
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null && !line.equals("end");) {
            if (line.startsWith("count ")) {
                int n = Integer.parseInt(line.substring(6));
                onBoth(() -> count(n));
                System.out.println("counted");
            } else if (line.startsWith("throw ")) {
                int n = Integer.parseInt(line.substring(6));
                onBoth(() -> leaveByException(n));
                System.out.println("thrown");
            } else if (line.startsWith("pinned ")) {
                pinnedCalls = Integer.parseInt(line.substring(7));
                release.countDown();
                done.await();
                System.out.println("done");
            } else if (line.equals("span")) {
                for (int i = 0; i < 4; i++) {
                    Thread.class.getMethod("startVirtualThread", Runnable.class)
                            .invoke(null, (Runnable) AttachLoad::span);
                }
                System.out.println("spanning");
            } else if (line.equals("define")) {
                slow = new SlowLoader();
                slow.thread.start();
                slow.asked.await();
                System.out.println("defining");
            } else if (line.startsWith("late ")) {
                slow.calls = Integer.parseInt(line.substring(5));
                slow.early.countDown();
                slow.thread.join();
                System.out.println("called");
            } else if (line.equals("batches")) {
                System.out.println(takeBatches());
            } else {
                System.out.println(units.get() + " " + cpu.get() + " " + wrong.get());
            }
        }
        stop = true;
        for (Thread thread : threads) thread.join();
        System.out.println(units.get() + " " + cpu.get() + " " + wrong.get());
        System.exit(wrong.get() == 0 ? 0 : 1);
    }
}
