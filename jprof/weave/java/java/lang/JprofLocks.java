package java.lang;

/**
 * What woven methods call where they take and release monitors (weave.h), and what the agent calls
 * where a thread waits for one. JprofConcurrent does the same for java.util.concurrent.
 *
 * <p>A thread announces a monitor a moment before it takes it. A thread that begins to wait in that
 * moment may be told that this one is the owner, but never one that waits.
 */
public final class JprofLocks {
    static final int MONITOR = 0; // LockKind of common/lock_kind.h

    // The ids of classes, as pairs of a class and an array of its id and kind, by the hash of both.
    private static final int CLASSES = 1024;
    private static Object[][] classes = new Object[CLASSES][];

    // Set by the agent: whether locks are counted.
    static volatile boolean on;

    private JprofLocks() {}

    /** The thread is about to execute monitorenter. */
    public static void ask(Object lock) {
        if (on && lock != null) take(lock, JprofHeld.BLOCK);
    }

    /** A synchronized method has begun. `frame` is the node of its caller. */
    public static void enter(Object lock, long frame) {
        if (on) take(lock, frame);
    }

    /** The thread is about to execute monitorexit. */
    public static void release(Object lock) {
        if (!on) return;
        JprofHeld held = JprofHeld.find();
        int at = held == null ? -1 : held.last(lock);
        if (at >= 0) held.remove(at);
    }

    /** A synchronized method ends. */
    public static void leave(long frame) {
        if (!on) return;
        JprofHeld held = JprofHeld.find();
        if (held == null) return;
        for (int at = held.depth - 1; at >= 0; --at) {
            if (held.frames[at] == frame) {
                for (int above = held.depth - 1; above > at; --above) {
                    if (isLeft(held, above)) held.remove(above);
                }
                held.remove(at);
                return;
            }
        }
    }

    // Whether the thread leaves this lock with the method in which it took it or asked for it. It
    // keeps the locks of java.util.concurrent that it has.
    private static boolean isLeft(JprofHeld held, int at) {
        return held.frames[at] >= JprofHeld.BLOCK || held.since[at] <= JprofHeld.WAITING;
    }

    /** The thread ends. */
    public static void ends() {
        JprofHeld held = on ? JprofHeld.find() : null;
        if (held != null) held.end();
    }

    // Called by the agent.
    private static void begin(long values, long row, boolean timed) {
        classes = new Object[CLASSES][];
        JprofHeld.begin(values, row, timed);
        on = true;
    }

    private static void end() {
        on = false;
        classes = new Object[CLASSES][];
        JprofHeld.forgetAll();
    }

    /** The thread has to wait for a monitor. */
    private static void contended(Object lock) {
        long id = JprofHeld.idOf(Thread.currentThread());
        if (!on || id == 0) return;
        JprofHeld held = JprofHeld.own(id);
        int at = held.first(lock);
        if (at >= 0) held.since[at] = JprofHeld.WAITING;
        held.askedOf = JprofHeld.holder(lock);
        held.asked = System.nanoTime();
    }

    /** The thread has the monitor for which it had to wait. */
    private static void entered(Object lock) {
        JprofHeld held = on ? JprofHeld.find() : null;
        if (held == null || held.asked == 0) return;
        long now = System.nanoTime();
        long time = now - held.asked;
        held.asked = 0;
        int at = held.first(lock);
        if (at >= 0) {
            held.since[at] = JprofHeld.timed ? now : 0;
            addWait(held, held.leaves[at], time);
        } else {
            held.waited = lock;
            held.waitedTime = time;
        }
    }

    /**
     * The thread calls Object.wait, or is about to return from it. It does not always have the
     * monitor by then: if it was notified, and another thread is faster, it waits again, of which
     * the VM tells nothing.
     */
    private static void waits(Object lock) {
        JprofHeld held = on ? JprofHeld.find() : null;
        int at = held == null ? -1 : held.first(lock);
        if (at < 0) return;
        held.addTime(at);
        held.since[at] = JprofHeld.WAITING;
    }

    private static void resumes(Object lock) {
        JprofHeld held = on ? JprofHeld.find() : null;
        int at = held == null ? -1 : held.first(lock);
        if (at >= 0) held.since[at] = JprofHeld.now();
    }

    private static void take(Object lock, long frame) {
        long id = JprofHeld.idOf(Thread.currentThread());
        if (id == 0) return; // its Thread is being constructed
        long leaf = JprofCounter.count(classId(lock.getClass(), MONITOR));
        if (leaf == 0) { // the thread is not recorded
            forgetWait(id);
            return;
        }
        JprofHeld held = JprofHeld.own(id);
        boolean again = held.last(lock) >= 0;
        if (!again) takeFirst(held, lock, leaf, frame);
        held.push(lock, leaf, frame, again ? JprofHeld.AGAIN : JprofHeld.now());
    }

    private static void takeFirst(JprofHeld held, Object lock, long leaf, long frame) {
        held.addFirst(leaf);
        held.order(lock, leaf);
        Object waited = held.waited;
        if (waited == null) return;
        held.waited = null; // else it was a monitor that is not counted
        if (waited == lock && frame != JprofHeld.BLOCK) addWait(held, leaf, held.waitedTime);
    }

    private static void forgetWait(long id) {
        JprofHeld held = JprofHeld.find(id);
        if (held == null) return;
        held.waited = null;
        if (held.depth == 0) held.free();
    }

    private static void addWait(JprofHeld held, long leaf, long time) {
        held.addWait(leaf, time);
        JprofHeld.addWaitFor(leaf, held.askedOf, time);
    }

    /** The id of the locks of this class and kind; 0 if the recording has ended. */
    static int classId(Class<?> type, int kind) {
        Object[][] all = classes;
        int hash = System.identityHashCode(type) + kind & CLASSES - 1;
        Object[] known = all[hash];
        if (!isOf(known, type, kind)) known = all[hash ^ 1];
        return isOf(known, type, kind) ? ((int[]) known[1])[0] : addClass(all, type, kind, hash);
    }

    private static boolean isOf(Object[] known, Class<?> type, int kind) {
        return known != null && known[0] == type && ((int[]) known[1])[1] == kind;
    }

    // If the recording ends meanwhile, `all` is no longer used.
    private static int addClass(Object[][] all, Class<?> type, int kind, int hash) {
        Object[] added = {type, new int[] {idOf(type, kind), kind}};
        JprofHeld.MEMORY.storeFence();
        all[all[hash] == null ? hash : hash ^ 1] = added;
        return ((int[]) added[1])[0];
    }

    // The id of the locks of this class and kind in the profile; 0 if the recording has ended.
    private static native int idOf(Class<?> type, int kind);

    // Adds to the edge of two nodes and the hashes of their objects. Returns whether a later one of
    // these nodes need not be added.
    static native boolean addEdge(
            int kind, long from, long to, int fromObject, int toObject, long time);
}
