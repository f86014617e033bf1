import com.sun.management.ThreadMXBean;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/**
 * Allocates known objects. Each kind is a method, which is called once so that it is linked, and
 * then COUNT times while the VM's account of the thread is read before and after. Prints a line for
 * each: its name, the calls, and the bytes. With a third argument it does so on request.
 */
public final class Objects {
    static final ThreadMXBean BEAN = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    static final String[] KINDS = {"scalars", "arrays", "large", "dimensions", "clones", "copies",
        "reflected", "lambdas", "boxes", "strings", "varargs", "exceptions", "natives", "removed",
        "nothing"};

    static class Point implements Cloneable {
        int x, y;
        Point next;

        @Override
        public Point clone() {
            try {
                return (Point) super.clone();
            } catch (CloneNotSupportedException impossible) {
                throw new AssertionError(impossible);
            }
        }
    }

    static final class Tick {
        long at;
    }

    // What is stored here stays allocated: the compiler cannot remove it.
    static final Object[] kept = new Object[32];
    static final Point ORIGINAL = new Point();
    static final int[] NUMBERS = new int[9];
    static final Object[] OBJECTS = new Object[5];
    static Constructor<Point> constructor;
    static Method method;
    static long sum;
    // For the thread that allocates in a loop.
    static final Object LOOP = new Object();
    static volatile byte[] inLoop;

    static void scalars(int i) {
        kept[0] = new Point();
        kept[1] = new Point();
        kept[2] = new Tick();
    }

    static void arrays(int i) {
        int n = i % 23;
        kept[0] = new boolean[n];
        kept[1] = new byte[n];
        kept[2] = new char[n];
        kept[3] = new short[n];
        kept[4] = new int[n];
        kept[5] = new long[n];
        kept[6] = new float[n];
        kept[7] = new double[n];
        kept[8] = new Point[n];
        kept[9] = new String[3];
    }

    static void large(int i) {
        if (i % 100 == 0) kept[0] = new long[30_000];
    }

    static void dimensions(int i) {
        kept[0] = new int[2][3][4];
        kept[1] = new Point[2][3];
        kept[2] = new long[3][];
    }

    static void clones(int i) {
        kept[0] = ORIGINAL.clone();
        kept[1] = NUMBERS.clone();
        kept[2] = OBJECTS.clone();
    }

    static void copies(int i) {
        kept[0] = Arrays.copyOf(NUMBERS, i % 17);
        kept[1] = Arrays.copyOf(OBJECTS, i % 17);
        kept[2] = Arrays.copyOfRange(NUMBERS, 1, 4);
    }

    static void reflected(int i) {
        try {
            kept[0] = constructor.newInstance();
            kept[1] = Array.newInstance(Tick.class, i % 5);
            kept[2] = method.invoke(null, i);
        } catch (ReflectiveOperationException impossible) {
            throw new AssertionError(impossible);
        }
    }

    public static long twice(int i) {
        return 2L * i + 1000;
    }

    static void lambdas(int i) {
        IntSupplier captures = () -> i;
        Supplier<Point> allocates = Point::new;
        kept[0] = captures;
        kept[1] = allocates.get();
    }

    static void boxes(int i) {
        kept[0] = Integer.valueOf(1000 + i);
        kept[1] = Long.valueOf(1000 + i);
        kept[2] = Double.valueOf(i);
        kept[3] = Character.valueOf((char) (1000 + i));
        kept[4] = Boolean.valueOf(i > 5);
    }

    static void strings(int i) {
        String text = "number " + i;
        kept[0] = text;
        kept[1] = new StringBuilder().append(i).append(text).toString();
        kept[2] = text.substring(i % 5);
        kept[3] = text.toCharArray();
    }

    static int many(Object... all) {
        kept[0] = all;
        return all.length;
    }

    static void varargs(int i) {
        many();
        many(ORIGINAL, OBJECTS);
    }

    static void exceptions(int i) {
        try {
            throw new IllegalStateException();
        } catch (IllegalStateException thrown) {
            kept[0] = thrown;
            kept[1] = thrown.getStackTrace();
        }
    }

    // Allocates a Point, an int[], a String and a Point[] by JNI.
    static native void make(int i);

    static void natives(int i) {
        make(i);
    }

    // The compiler removes this object, if it compiles the method.
    static void removed(int i) {
        Tick gone = new Tick();
        gone.at = i;
        sum += gone.at;
    }

    static void nothing(int i) {
        kept[i % 32] = ORIGINAL;
    }

    static void call(int kind, int i) {
        switch (kind) {
            case 0: scalars(i); break;
            case 1: arrays(i); break;
            case 2: large(i); break;
            case 3: dimensions(i); break;
            case 4: clones(i); break;
            case 5: copies(i); break;
            case 6: reflected(i); break;
            case 7: lambdas(i); break;
            case 8: boxes(i); break;
            case 9: strings(i); break;
            case 10: varargs(i); break;
            case 11: exceptions(i); break;
            case 12: natives(i); break;
            case 13: removed(i); break;
            default: nothing(i);
        }
    }

    static long measured(int kind, int count) {
        long before = BEAN.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < count; ++i) call(kind, i);
        return BEAN.getCurrentThreadAllocatedBytes() - before;
    }

    static Thread startVirtual(Runnable body) throws ReflectiveOperationException {
        return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class)
            .invoke(null, body);
    }

    static void virtual(int threads) throws ReflectiveOperationException, InterruptedException {
        CountDownLatch ended = new CountDownLatch(threads);
        for (int i = 0; i < threads; ++i) {
            startVirtual(() -> {
                for (int n = 0; n < 10; ++n) {
                    kept[n] = new Tick();
                    if (n == 5) Thread.yield();
                }
                ended.countDown();
            });
        }
        ended.await();
    }

    /** Allocates whenever another thread waits for the lock, and calls no method. */
    static void allocateInLoop() {
        for (int i = 0; i < 1000; ++i) inLoop = new byte[10_000];
        while (true) {
            synchronized (LOOP) {
                inLoop = new byte[10];
            }
        }
    }

    static void startLoop() throws InterruptedException {
        Thread loop = new Thread(Objects::allocateInLoop, "loop");
        loop.setDaemon(true);
        loop.start();
        while (inLoop == null || inLoop.length != 10) LOOP.wait(1);
    }

    /**
     * Measures all kinds whenever a line asks for it, with a line as answer, until the line "end".
     * Another thread has allocated before, and does it meanwhile.
     */
    static void answer(int count) throws IOException, InterruptedException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        synchronized (LOOP) {
            startLoop();
            System.out.println("ready");
            answerTo(lines, count);
        }
    }

    static void answerTo(BufferedReader lines, int count) throws IOException, InterruptedException {
        while (!lines.readLine().equals("end")) {
            byte[] before = inLoop;
            while (inLoop == before) LOOP.wait(1);
            String answer = "";
            for (int kind = 0; kind < KINDS.length; ++kind)
                answer += KINDS[kind] + " " + count + " " + measured(kind, count) + ";";
            System.out.println(answer);
        }
    }

    public static void main(String[] arguments) throws Exception {
        int count = Integer.parseInt(arguments[0]);
        System.loadLibrary("e2e_native");
        constructor = Point.class.getDeclaredConstructor();
        method = Objects.class.getMethod("twice", int.class);
        long[] bytes = new long[KINDS.length];
        for (int kind = 0; kind < KINDS.length; ++kind) {
            for (int i = 0; i < 30; ++i) call(kind, i);
            bytes[kind] = measured(kind, 1);
        }
        bytes[KINDS.length - 1] += measured(KINDS.length - 1, count);
        for (int kind = 0; kind < KINDS.length; ++kind) bytes[kind] += measured(kind, count);
        int virtual = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 0;
        if (virtual > 0) virtual(virtual);
        if (arguments.length > 2) {
            answer(count);
            return;
        }
        for (int kind = 0; kind < KINDS.length; ++kind)
            System.out.println(KINDS[kind] + " " + (count + 1) + " " + bytes[kind]);
    }
}
