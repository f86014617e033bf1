import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A program that an agent is attached to: its class loaders, those of ClassRequests, refuse every
 * class that its own code does not refer to. A thread defines classes all the time. Commands on
 * standard input, one answer line each:
 * "use N" calls Second.compareTo() N times for each loader, of classes that were used before;
 * "hold" loads classes that are linked by "link";
 * "define" begins to define a class whose super class is loaded by "finish", which then uses it;
 * "end" ends the program, with status 1 if a class could not be used or a loader was asked for
 * another class.
 */
public class AttachRequests {
    static final AtomicLong wrong = new AtomicLong();
    static volatile boolean stop;

    interface Work {
        void run() throws Exception;
    }

    static void check(boolean right) {
        if (!right) wrong.incrementAndGet();
    }

    static void check(Work work) {
        try {
            work.run();
        } catch (Throwable e) {
            if (wrong.getAndIncrement() < 5) e.printStackTrace();
        }
    }

    static void use(Class<?> type, int expected) throws Exception {
        check(ClassRequests.compared(type, "36") == expected);
    }

    static List<Class<?>> second() throws Exception {
        List<Class<?>> types = new ArrayList<>();
        for (ClassLoader loader : ClassRequests.loaders()) types.add(loader.loadClass("ClassRequests$Second"));
        return types;
    }

    static void useFirst() throws Exception {
        for (ClassLoader loader : ClassRequests.loaders()) use(loader.loadClass("ClassRequests$First"), 42);
        Thread.sleep(20);
    }

    static void use(List<Comparable<Object>> objects) {
        for (Comparable<Object> object : objects) check(object.compareTo("36") == 420);
    }

    /** Waits before it loads First. */
    static final class Slow extends ClassRequests.Inner {
        final CountDownLatch asked = new CountDownLatch(1), go = new CountDownLatch(1);
        final Thread thread = new Thread(() -> check(() ->
                use(loadClass("ClassRequests$Second"), 420)), "slow");

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (name.equals("ClassRequests$First")) {
                asked.countDown();
                check(go::await);
            }
            return super.loadClass(name, resolve);
        }
    }

    static void checkNames() {
        for (Object name : ClassRequests.names.toArray()) {
            if (ClassRequests.LISTED.contains(name)) continue;
            if (name.toString().startsWith("ClassRequests$")) continue;
            System.out.println("a loader was asked for " + name);
            wrong.incrementAndGet();
            return;
        }
    }

    public static void main(String[] args) throws Exception {
        Thread definer = new Thread(() -> {
            while (!stop) check(AttachRequests::useFirst);
        });
        definer.start();
        List<Comparable<Object>> early = new ArrayList<>();
        for (Class<?> type : second()) early.add(ClassRequests.instance(type));
        use(early);
        List<Class<?>> held = List.of();
        Slow slow = null;
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null && !line.equals("end");) {
            if (line.startsWith("use ")) {
                for (int i = Integer.parseInt(line.substring(4)); i > 0; i--) {
                    check(() -> use(early));
                }
            } else if (line.equals("hold")) {
                held = second();
            } else if (line.equals("link")) {
                for (Class<?> type : held) check(() -> use(type, 420));
            } else if (line.equals("define")) {
                slow = new Slow();
                slow.thread.start();
                slow.asked.await();
            } else if (line.equals("finish")) {
                slow.go.countDown();
                slow.thread.join();
            }
            System.out.println("done");
        }
        stop = true;
        definer.join();
        checkNames();
        System.out.println("0 0 " + wrong.get());
        System.exit(wrong.get() == 0 ? 0 : 1);
    }
}
