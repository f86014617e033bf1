package java.lang;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Calls JprofLocks and JprofConcurrent as woven methods and the agent do, with JprofCounter and the
 * native methods replaced: what they remember of a thread, and which edges they report.
 */
public final class JprofLocksTest {
    static final class A {}
    static final class B {}
    static final class C {}
    static final class LockA extends ReentrantLock {}
    static final class LockB extends ReentrantLock {}
    static final class LockC extends ReentrantLock {}

    private static final int LOCK = 1, TRIES = 16; // lock_methods.h
    private static final long FRAME = 1 << 6;
    private static final int ROW = 24, HOLD = 8, NONREC = 16;

    private static final List<Class<?>> types = new ArrayList<>(); // by id - 1
    private static final List<String> edges = new ArrayList<>();
    private static final long VALUES = JprofHeld.MEMORY.allocateMemory(1 << 20);

    // In place of the native methods of JprofLocks.
    static int idOf(Class<?> type, int kind) {
        if (!types.contains(type)) types.add(type);
        return types.indexOf(type) + 1;
    }

    static boolean addEdge(
            int kind, long from, long to, int fromObject, int toObject, long time) {
        edges.add(nameOf(from) + (kind == 0 ? " waits for " : " then ") + nameOf(to));
        if (kind == 0) check(fromObject == 0 && toObject == 0, "a wait has no objects");
        return false;
    }

    private static String nameOf(long place) {
        return place == 0 ? "?" : types.get((int) JprofCounter.indexOf(place) - 1).getSimpleName();
    }

    private static void check(boolean expected, String what) {
        if (!expected) throw new AssertionError(what);
    }

    private static void checkEdges(String... expected) {
        check(edges.equals(Arrays.asList(expected)), edges + ", not " + Arrays.toString(expected));
        edges.clear();
    }

    private static void checkFree() {
        check(JprofHeld.find() == null, "the thread's object is not free");
    }

    // Calls a method that only the agent calls.
    private static void agent(String name, Object... arguments) throws Exception {
        for (Method method : JprofLocks.class.getDeclaredMethods()) {
            if (!method.getName().equals(name)) continue;
            method.setAccessible(true);
            method.invoke(null, arguments);
            return;
        }
        throw new AssertionError(name);
    }

    private static void begin() throws Exception {
        JprofHeld.MEMORY.setMemory(VALUES, 1 << 20, (byte) 0);
        agent("begin", VALUES, (long) ROW, true);
    }

    private static long valueOf(Class<?> type, int at) {
        return JprofHeld.MEMORY.getLong(null, VALUES + (types.indexOf(type) + 1) * ROW + at);
    }

    private static void take(Object lock, int what) {
        JprofConcurrent.ask(lock, what);
        JprofConcurrent.taken(1, lock, what);
    }

    // An order begins at a lock that was taken for the first time.
    private static void ordersBehindAgain() {
        A a = new A();
        B b = new B();
        C c = new C();
        for (Object lock : new Object[] {a, b, a, c}) JprofLocks.ask(lock);
        checkEdges("A then B", "B then C");
        for (Object lock : new Object[] {c, a, b, a}) JprofLocks.release(lock);
        checkFree();
    }

    // A lock that was tried has no order with those before it: the next lock has.
    private static void ordersBehindTried() {
        Lock3 locks = new Lock3();
        take(locks.a, LOCK);
        take(locks.b, LOCK | TRIES);
        checkEdges();
        take(locks.c, LOCK);
        checkEdges("LockB then LockC", "LockA then LockC");
        JprofConcurrent.release(locks.b, LOCK);
        JprofConcurrent.release(locks.c, LOCK);
        take(locks.c, LOCK);
        checkEdges(); // it is known
        JprofConcurrent.release(locks.c, LOCK);
        JprofConcurrent.release(locks.a, LOCK);
        checkFree();
    }

    private static final class Lock3 {
        final LockA a = new LockA();
        final LockB b = new LockB();
        final LockC c = new LockC();
    }

    // A synchronized method leaves with its monitors, and what was asked for in it.
    private static void leaves() {
        LockA kept = new LockA();
        JprofLocks.enter(new A(), FRAME);
        take(kept, LOCK);
        JprofLocks.ask(new B());
        JprofConcurrent.ask(new LockB(), LOCK);
        JprofLocks.leave(FRAME);
        JprofHeld held = JprofHeld.find();
        check(held.depth == 1 && held.locks[0] == kept, "it left with a lock that it keeps");
        JprofConcurrent.release(kept, LOCK);
        checkFree();
        edges.clear();
    }

    private static void wait(Object lock) throws Exception {
        agent("contended", lock);
        agent("entered", lock);
    }

    // A wait belongs to the synchronized method that begins behind it, and to nothing else.
    private static void waits() throws Exception {
        A a = new A();
        wait(a);
        JprofLocks.enter(a, FRAME);
        checkEdges("A waits for ?");
        JprofLocks.leave(FRAME);
        checkFree();
        wait(a); // it is not counted
        JprofLocks.ask(a);
        check(JprofHeld.find().waited == null, "the wait is kept");
        wait(new C());
        JprofLocks.release(a);
        checkFree();
        wait(new A());
        JprofLocks.ask(new B());
        check(JprofHeld.find().waited == null, "the wait is kept");
        JprofLocks.ends();
        checkFree();
        checkEdges();
    }

    private static void threadsThatAreNotRecorded() throws Exception {
        A a = new A();
        JprofCounter.recorded = false;
        wait(a);
        JprofLocks.enter(a, FRAME);
        JprofCounter.recorded = true;
        checkFree();
    }

    private static void threadsThatEnd() throws Exception {
        long before = valueOf(B.class, HOLD);
        JprofLocks.ask(new B());
        Thread.sleep(2);
        wait(new A());
        JprofLocks.ends();
        checkFree();
        check(valueOf(B.class, HOLD) - before >= 2_000_000, "the hold time is missing");
        wait(new A());
        JprofLocks.ends();
        checkFree();
    }

    // What another thread changes while its locks are looked at.
    private static void changesMeanwhile() {
        A lock = new A();
        JprofHeld other = JprofHeld.own(1L << 40);
        for (int i = 0; i < 8; ++i) other.push(new B(), FRAME, JprofHeld.BLOCK, 1);
        other.locks = Arrays.copyOf(other.locks, 16);
        other.since = Arrays.copyOf(other.since, 16);
        other.locks[8] = lock;
        other.depth = 9;
        check(JprofHeld.holder(lock) == 0, "the lock has an owner");
    }

    // The recording ends between the test of `on` and what follows.
    private static void ends() throws Exception {
        B b = new B();
        JprofLocks.ask(b);
        JprofHeld held = JprofHeld.find();
        long hold = valueOf(B.class, HOLD), nonrec = valueOf(B.class, NONREC);
        agent("end");
        checkFree();
        JprofCounter.region = JprofCounter.NONE;
        held.addFirst(held.leaves[0]);
        held.remove(0);
        check(hold == valueOf(B.class, HOLD) && nonrec == valueOf(B.class, NONREC), "it counts");
        var classes = JprofLocks.class.getDeclaredField("classes");
        classes.setAccessible(true);
        for (Object[] one : (Object[][]) classes.get(null)) check(one == null, "a class is kept");
    }

    public static void main(String[] arguments) throws Exception {
        begin();
        ordersBehindAgain();
        ordersBehindTried();
        leaves();
        waits();
        threadsThatAreNotRecorded();
        threadsThatEnd();
        changesMeanwhile();
        ends();
    }
}
