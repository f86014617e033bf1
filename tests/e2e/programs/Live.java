import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Allocates objects of which it knows which ones still exist at its end, in several contexts. Prints
 * a line for each: the method that allocates, the class as in class files, and how many exist.
 * Argument: how many objects each method allocates.
 */
public final class Live {
    static class Point implements Cloneable {
        int x, y;

        @Override
        public Point clone() {
            try {
                return (Point) super.clone();
            } catch (CloneNotSupportedException impossible) {
                throw new AssertionError(impossible);
            }
        }
    }

    /** C2 copies the fields of its clones by a call, because they are more than eight. */
    static final class Wide implements Cloneable {
        long a, b, c, d, e, f, g, h, i;

        @Override
        public Wide clone() {
            try {
                return (Wide) super.clone();
            } catch (CloneNotSupportedException impossible) {
                throw new AssertionError(impossible);
            }
        }
    }

    static final class Tick {
        long at;
    }

    /** Defined again and again by loaders of which most are unloaded. */
    static final class Loaded {
        long a, b;

        Loaded() {}
    }

    static final class Loader extends ClassLoader {
        Class<?> define(byte[] bytes, String name) {
            return defineClass(name, bytes, 0, bytes.length);
        }
    }

    static final List<Object> kept = new ArrayList<>();
    static final IdentityHashMap<Object, Object> byIdentity = new IdentityHashMap<>();
    static Object last;

    static void expect(String method, String type, int count) {
        System.out.println(method + " " + type + " " + count);
    }

    /** One object in three is kept. */
    static void points(int n) {
        for (int i = 0; i < n; ++i) {
            Point point = new Point();
            last = point;
            if (i % 3 == 0) kept.add(point);
        }
        last = null;
    }

    static void none(int n) {
        for (int i = 0; i < n; ++i) last = new Point();
        last = null;
    }

    static void arrays(int n) {
        for (int i = 0; i < n; ++i) {
            long[] numbers = new long[7];
            last = numbers;
            if (i % 2 == 0) kept.add(numbers);
        }
        for (int i = 0; i < 5; ++i) kept.add(new int[200_000]);
        last = null;
    }

    /** By the VM's own code as long as this is interpreted, else by compiled code. */
    static void clones(int n) {
        Point original = new Point();
        Wide wide = new Wide();
        short[] numbers = new short[11];
        Tick[] ticks = new Tick[3];
        for (int i = 0; i < n; ++i) {
            Object[] all = {original.clone(), wide.clone(), numbers.clone(), ticks.clone()};
            last = all;
            if (i % 4 == 0) kept.addAll(Arrays.asList(all));
        }
        last = null;
    }

    /** Their mark words have a hash of the program's, a lock, or are in a monitor. */
    static void marked(int n) {
        Tick[] ticks = new Tick[n];
        for (int i = 0; i < n; ++i) {
            ticks[i] = new Tick();
            synchronized (ticks[i]) {
                ticks[i].at = System.identityHashCode(ticks[i]);
            }
            byIdentity.put(ticks[i], last);
        }
        for (Tick tick : ticks)
            if (tick.at != System.identityHashCode(tick)) throw new AssertionError("another hash");
        kept.add(ticks);
        CountDownLatch holds = new CountDownLatch(2);
        Thread holder = new Thread(() -> hold(ticks[0], ticks[1], holds));
        holder.setDaemon(true);
        holder.start();
        Thread waiter = new Thread(() -> {
            synchronized (ticks[2]) {
                holds.countDown();
                awaitForever(ticks[2]);
            }
        });
        waiter.setDaemon(true);
        waiter.start();
        await(holds);
    }

    static void hold(Object first, Object second, CountDownLatch holds) {
        synchronized (first) {
            synchronized (second) {
                holds.countDown();
                awaitForever(new Object());
            }
        }
    }

    static void awaitForever(Object monitor) {
        try {
            synchronized (monitor) {
                while (true) monitor.wait();
            }
        } catch (InterruptedException impossible) {
            throw new AssertionError(impossible);
        }
    }

    static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException impossible) {
            throw new AssertionError(impossible);
        }
    }

    static void ofVirtualThread(CountDownLatch ended) {
        for (int n = 0; n < 10; ++n) {
            Tick tick = new Tick();
            if (n < 4) {
                synchronized (kept) {
                    kept.add(tick);
                }
            }
            if (n == 5) Thread.yield();
        }
        ended.countDown();
    }

    static void virtual(int threads) throws ReflectiveOperationException {
        CountDownLatch ended = new CountDownLatch(threads);
        Runnable body = () -> ofVirtualThread(ended);
        for (int i = 0; i < threads; ++i)
            Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body);
        await(ended);
    }

    /** Of ten classes of the same name, two stay, with one object each. */
    static void loaded() throws Exception {
        byte[] bytes;
        try (InputStream in = Live.class.getResourceAsStream("Live$Loaded.class")) {
            bytes = in.readAllBytes();
        }
        for (int i = 0; i < 10; ++i) {
            var constructor = new Loader().define(bytes, "Live$Loaded").getDeclaredConstructor();
            constructor.setAccessible(true);
            for (int n = 0; n < 3; ++n) last = constructor.newInstance();
            if (i % 5 == 0) kept.add(last);
            last = null;
            if (i % 5 == 4) System.gc();
        }
    }

    public static void main(String[] arguments) throws Exception {
        int n = Integer.parseInt(arguments[0]);
        for (int i = 0; i < 3; ++i) {  // parts of it before a collection, parts afterwards
            points(n);
            none(n);
            arrays(n);
            clones(n);
            System.gc();
        }
        marked(n);
        loaded();
        expect("points", "Live$Point", 3 * ((n + 2) / 3));
        expect("none", "Live$Point", 0);
        expect("arrays", "[J", 3 * ((n + 1) / 2));
        expect("arrays", "[I", 15);
        expect("clones", "[S", 3 * ((n + 3) / 4));
        expect("clones", "[LLive$Tick;", 3 * ((n + 3) / 4));
        expect("clone", "Live$Point", 3 * ((n + 3) / 4));
        expect("clone", "Live$Wide", 3 * ((n + 3) / 4));
        expect("marked", "Live$Tick", n);
        expect("marked", "[LLive$Tick;", 1);
        expect("loaded", "Live$Loaded", 2);
        boolean isVirtual = Runtime.version().feature() >= 21;
        if (isVirtual) virtual(20);
        expect("ofVirtualThread", "Live$Tick", isVirtual ? 80 : 0);
    }
}
