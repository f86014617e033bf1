import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import jprof.label.Label;

/** Sets labels in known contexts and calls methods below them a known number of times. */
public class Labels {
    static final Label CART = Label.of("GET /cart");
    static int sink;

    enum Kind { SMALL, LARGE }

    // --- What labels are set around.
    static void find(int id) {
        sink += id;
    }

    static void leaf() {
        ++sink;
    }

    static void failing() {
        leaf();
        throw new IllegalStateException();
    }

    // --- One request: so many calls of find as the kind says.
    static void request(int kind) {
        Label.set("GET /" + kind);
        for (int i = 0; i <= kind; ++i) find(i);
    }

    static void requests(int count) {
        for (int i = 0; i < count; ++i) request(i % 5);
    }

    // --- Labels of one method replace each other; those of callees are nested.
    static void cart() {
        CART.set();
        find(0);
        inner();
        leaf();
        Label.set("POST /cart");
        leaf();
        Label.clear();
        leaf();
    }

    static void inner() {
        Label.set("inner");
        leaf();
        leaf();
    }

    // --- The end of a label: a return, a clear, a try statement, an exception.
    static void ends() {
        labelled();
        leaf(); // of ends
        try (Label open = Label.open("try")) {
            leaf();
        }
        leaf(); // of ends
        try {
            labelledAndFails();
        } catch (IllegalStateException expected) {
            leaf(); // of ends
        }
        keeps();
    }

    static void labelled() {
        Label.set("returns");
        leaf();
    }

    static void labelledAndFails() {
        Label.set("fails");
        failing();
    }

    // A label stays set when its own method catches what a callee throws.
    static void keeps() {
        Label.set("keeps");
        try {
            failing();
        } catch (IllegalStateException expected) {
            leaf();
        }
        leaf();
    }

    static void recursive(int depth) {
        Label.set(depth % 2 == 0 ? "even" : "odd");
        leaf();
        if (depth > 0) recursive(depth - 1);
        leaf();
    }

    // --- Virtual threads that park between calls.
    static void parks(int kind) {
        Label.set("virtual " + kind);
        for (int i = 0; i < 3; ++i) {
            find(i);
            LockSupport.parkNanos(100_000);
            leaf();
        }
    }

    // --- Virtual threads that set a label first of all when they go on, on any carrier.
    static void kind0() {
        leaf();
    }

    static void kind1() {
        leaf();
    }

    static void resumes(int kind) {
        for (int i = 0; i < 20; ++i) {
            Thread.yield();
            Label.set("kind " + kind);
            Thread.yield();
            if (kind == 0) kind0();
            else kind1();
            Label.clear();
        }
    }

    // --- For --label-from.
    static void named(String text, int number, Object any) {
        leaf();
    }

    void member(CharSequence text) {
        find(0);
    }

    static void numbered(long first, int second) {
        leaf();
    }

    static void kinds(Kind kind) {
        leaf();
    }

    static void numberOf(Number number) {
        leaf();
    }

    // A number whose text cannot be made.
    static final class Hostile extends Number {
        @Override
        public String toString() {
            throw new AssertionError();
        }

        @Override
        public int intValue() {
            return 0;
        }

        @Override
        public long longValue() {
            return 0;
        }

        @Override
        public float floatValue() {
            return 0;
        }

        @Override
        public double doubleValue() {
            return 0;
        }
    }

    static void callNamed() {
        for (int i = 0; i < 60; ++i) {
            named("text " + i % 3, i % 2, null);
            new Labels().member(new StringBuilder("built ").append(i % 4));
            numbered(1L << 40, i % 5);
            kinds(Kind.values()[i % 2]);
            numberOf(new Hostile());
        }
    }

    // --- An argument whose text cannot be had, which the program must not notice.
    static final class Throws implements CharSequence {
        public int length() {
            return 1;
        }

        public char charAt(int index) {
            return 'x';
        }

        public CharSequence subSequence(int begin, int end) {
            return this;
        }

        @Override
        public String toString() {
            throw new AssertionError("no text");
        }
    }

    static void callWithoutText() {
        for (int i = 0; i < 60; ++i) new Labels().member(new Throws());
    }

    static void many(int count) {
        for (int i = 0; i < count; ++i) one(i);
    }

    static void one(int i) {
        Label.set("many " + i);
        leaf();
    }

    static void run(Runnable work, int threads, boolean virtual) throws Exception {
        List<Thread> all = new ArrayList<>();
        CountDownLatch go = new CountDownLatch(1);
        for (int i = 0; i < threads; ++i) {
            Runnable body =
                    () -> {
                        try {
                            go.await();
                        } catch (InterruptedException stopped) {
                            return;
                        }
                        work.run();
                    };
            all.add(virtual ? virtualThread(body) : new Thread(body, "worker"));
        }
        for (Thread thread : all) thread.start();
        go.countDown();
        for (Thread thread : all) thread.join();
    }

    // By reflection: this is compiled for 17, too.
    static Thread virtualThread(Runnable body) throws Exception {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder");
        return (Thread) type.getMethod("unstarted", Runnable.class).invoke(builder, body);
    }

    // --- Three quarters of the time are below one label, in the method itself and in a callee.
    static void work(int part) {
        Label.set(part == 0 ? "short" : "long");
        int turns = part == 0 ? 2_000_000 : 6_000_000;
        for (int i = 0; i < turns / 2; ++i) sink += sink * 31 + i;
        spin(turns / 2);
    }

    static void spin(int turns) {
        for (int i = 0; i < turns; ++i) sink += sink * 31 + i;
    }

    public static void main(String[] words) throws Exception {
        int count = words.length > 1 ? Integer.parseInt(words[1]) : 1;
        switch (words[0]) {
            case "threads" -> run(() -> requests(count), 8, false);
            case "virtual" -> run(() -> parks(count % 7), 1000, true);
            case "resumes" -> {
                AtomicInteger next = new AtomicInteger();
                run(() -> resumes(next.getAndIncrement() % 2), count, true);
            }
            case "cart" -> {
                for (int i = 0; i < count; ++i) cart();
            }
            case "ends" -> {
                for (int i = 0; i < count; ++i) ends();
            }
            case "recursive" -> {
                for (int i = 0; i < count; ++i) recursive(9);
            }
            case "named" -> callNamed();
            case "throws" -> callWithoutText();
            case "work" -> {
                for (int i = 0; i < count; ++i) work(i % 2);
            }
            case "many" -> many(count);
            default -> throw new IllegalArgumentException(words[0]);
        }
        System.out.println("done");
    }
}
