package java.lang;

import jdk.internal.misc.Unsafe;

/**
 * What woven methods call where they take and release monitors (weave.h), and what the agent calls
 * where a thread waits for one. An object holds the monitors that one thread has; the threads find
 * theirs by their id, virtual threads too.
 *
 * <p>A monitor is counted as a callee of the method that takes it: the node of its class below the
 * current node. That node's values are the metrics of profile/files/lock_metrics.h.
 *
 * <p>A thread announces a monitor a moment before it takes it. A thread that begins to wait in that
 * moment may be told that this one is the owner, but never one that waits.
 */
public final class JprofLocks {
    private static final Unsafe MEMORY = Unsafe.getUnsafe();
    private static final long THREAD_ID = MEMORY.objectFieldOffset(Thread.class, "tid");
    private static final long OWNER = MEMORY.objectFieldOffset(JprofLocks.class, "owner");
    private static final long NEXT = MEMORY.objectFieldOffset(JprofLocks.class, "next");

    // The threads' objects, in lists by the id of the thread. The heads are of no thread.
    private static final int LISTS = 256;
    private static final JprofLocks[] THREADS = new JprofLocks[LISTS];
    // The ids of classes, as pairs of a class and an array of one int, by the hash of the class.
    private static final int CLASSES = 1024;
    private static Object[][] classes = new Object[CLASSES][];

    static {
        for (int list = 0; list < LISTS; ++list) {
            THREADS[list] = new JprofLocks();
        }
    }

    // Set by the agent: whether monitors are counted, and whether hold times are.
    private static volatile boolean on;
    private static boolean timed;
    // The address of the values of node 0 beyond the first, and how many bytes a node has.
    private static long values;
    private static long row;

    // Where a node has its values: the first in the node itself, the others in its row.
    private static final int WAITED = 24;
    private static final int SLOW = 0;
    private static final int HELD_TIME = 8; // if `timed`

    // In `since`, in place of the time since which the monitor is held.
    private static final long AGAIN = -1; // held already
    private static final long WAITING = -2; // not held, or no longer
    private static final long NO_METHOD = -1; // in `frames`, of a monitor that a block holds

    private static final int WAIT = 0, ORDER = 1; // LockEdgeKind of profile/files/layout.h

    private volatile long owner; // the thread's id; 0: free for the next thread
    private volatile JprofLocks next;
    private int depth;
    private Object[] locks = new Object[8];
    private long[] leaves = new long[8]; // nodes of the monitors
    private long[] since = new long[8];
    private long[] frames = new long[8]; // the caller's node of a synchronized method
    private final long[] known = new long[64]; // pairs of nodes that order() need not report again
    // Until the thread has the monitor: since when it waits, and of whom.
    private long asked;
    private long askedOf;
    // A monitor for which the thread has waited before its synchronized method began.
    private Object waited;
    private long waitedTime;

    private JprofLocks() {}

    /** The thread is about to execute monitorenter. */
    public static void ask(Object lock) {
        if (on && lock != null) take(lock, NO_METHOD);
    }

    /** A synchronized method has begun. `frame` is the node of its caller. */
    public static void enter(Object lock, long frame) {
        if (on) take(lock, frame);
    }

    /** The thread is about to execute monitorexit. */
    public static void release(Object lock) {
        if (!on) return;
        JprofLocks held = find(idOf(Thread.currentThread()));
        int at = held == null ? -1 : held.last(lock);
        if (at >= 0) held.remove(at);
    }

    /** A synchronized method ends. */
    public static void leave(long frame) {
        if (!on) return;
        JprofLocks held = find(idOf(Thread.currentThread()));
        if (held == null) return;
        for (int at = held.depth - 1; at >= 0; --at) {
            if (held.frames[at] == frame) {
                while (held.depth > at + 1) held.remove(held.depth - 1);
                held.remove(at);
                return;
            }
        }
    }

    // Called by the agent.
    private static void begin(long values, long row, boolean timed) {
        for (JprofLocks head : THREADS) head.next = null;
        classes = new Object[CLASSES][];
        JprofLocks.values = values;
        JprofLocks.row = row;
        JprofLocks.timed = timed;
        on = true;
    }

    private static void end() {
        on = false;
    }

    /** The thread has to wait for a monitor. */
    private static void contended(Object lock) {
        if (!on) return;
        JprofLocks held = own(idOf(Thread.currentThread()));
        int at = held.first(lock);
        if (at >= 0) held.since[at] = WAITING;
        held.askedOf = holder(lock);
        held.asked = System.nanoTime();
    }

    /** The thread has the monitor for which it had to wait. */
    private static void entered(Object lock) {
        if (!on) return;
        JprofLocks held = own(idOf(Thread.currentThread()));
        if (held.asked == 0) return;
        long now = System.nanoTime();
        long time = now - held.asked;
        held.asked = 0;
        int at = held.first(lock);
        if (at >= 0) {
            held.since[at] = timed ? now : 0;
            held.addWait(held.leaves[at], lock, time);
        } else {
            held.waited = lock;
            held.waitedTime = time;
        }
    }

    /** The thread calls Object.wait, or has returned from it with the monitor. */
    private static void waits(Object lock) {
        JprofLocks held = on ? find(idOf(Thread.currentThread())) : null;
        int at = held == null ? -1 : held.first(lock);
        if (at < 0) return;
        held.addTime(at);
        held.since[at] = WAITING;
    }

    private static void resumes(Object lock) {
        JprofLocks held = on ? find(idOf(Thread.currentThread())) : null;
        int at = held == null ? -1 : held.first(lock);
        if (at >= 0) held.since[at] = timed ? System.nanoTime() : 0;
    }

    private static void take(Object lock, long frame) {
        long id = idOf(Thread.currentThread());
        if (id == 0) return; // its Thread is being constructed
        long leaf = JprofCounter.count(classId(lock.getClass()));
        if (leaf == 0) return; // the thread is not recorded
        JprofLocks held = own(id);
        int at = held.depth;
        if (at == held.locks.length) held.grow();
        boolean again = held.last(lock) >= 0;
        if (!again) held.takeFirst(lock, leaf);
        held.locks[at] = lock;
        held.leaves[at] = leaf;
        held.frames[at] = frame;
        held.since[at] = again ? AGAIN : timed ? System.nanoTime() : 0;
        held.depth = at + 1;
    }

    private void takeFirst(Object lock, long leaf) {
        add(leaf, timed ? HELD_TIME + 8 : SLOW + 8, 1);
        if (depth > 0) order(lock, leaf);
        if (waited == lock) {
            waited = null;
            addWait(leaf, lock, waitedTime);
        }
    }

    private void addWait(long leaf, Object lock, long time) {
        MEMORY.putLong(null, JprofCounter.addressOf(leaf) + WAITED,
                MEMORY.getLong(null, JprofCounter.addressOf(leaf) + WAITED) + time);
        add(leaf, SLOW, 1);
        addEdge(WAIT, leaf, askedOf, 0, System.identityHashCode(lock), time);
    }

    // Reports that the thread asks for a monitor while it has another one.
    private void order(Object lock, long leaf) {
        long from = leaves[depth - 1];
        long pair = from * 0x9e3779b97f4a7c15L ^ leaf;
        int at = (int) (pair * 0xd1342543de82ef95L >>> 58);
        if (known[at] == pair) return;
        int object = System.identityHashCode(locks[depth - 1]);
        if (addEdge(ORDER, from, leaf, object, System.identityHashCode(lock), 0)) known[at] = pair;
    }

    private void remove(int at) {
        addTime(at);
        int last = depth - 1;
        for (int i = at; i < last; ++i) {
            locks[i] = locks[i + 1];
            leaves[i] = leaves[i + 1];
            since[i] = since[i + 1];
            frames[i] = frames[i + 1];
        }
        locks[last] = null;
        depth = last;
        if (last == 0 && waited == null) MEMORY.putLongRelease(this, OWNER, 0);
    }

    private void addTime(int at) {
        if (timed && since[at] > 0) add(leaves[at], HELD_TIME, System.nanoTime() - since[at]);
    }

    private static void add(long leaf, int value, long amount) {
        long at = values + JprofCounter.indexOf(leaf) * row + value;
        MEMORY.putLong(null, at, MEMORY.getLong(null, at) + amount);
    }

    // The place of the innermost, or the outermost, of this monitor; -1: the thread does not have it.
    private int last(Object lock) {
        int at = depth - 1;
        while (at >= 0 && locks[at] != lock) --at;
        return at;
    }

    private int first(Object lock) {
        for (int at = 0; at < depth; ++at) {
            if (locks[at] == lock) return at;
        }
        return -1;
    }

    private void grow() {
        int size = 2 * depth;
        Object[] moreLocks = new Object[size];
        long[] moreLeaves = new long[size];
        long[] moreSince = new long[size];
        long[] moreFrames = new long[size];
        System.arraycopy(locks, 0, moreLocks, 0, depth);
        System.arraycopy(leaves, 0, moreLeaves, 0, depth);
        System.arraycopy(since, 0, moreSince, 0, depth);
        System.arraycopy(frames, 0, moreFrames, 0, depth);
        locks = moreLocks;
        leaves = moreLeaves;
        since = moreSince;
        frames = moreFrames;
    }

    private static long idOf(Thread thread) {
        return MEMORY.getLong(thread, THREAD_ID);
    }

    private static JprofLocks headOf(long id) {
        return THREADS[(int) id & LISTS - 1];
    }

    private static JprofLocks find(long id) {
        if (id == 0) return null; // its Thread is being constructed
        for (JprofLocks held = headOf(id).next; held != null; held = held.next) {
            if (held.owner == id) return held;
        }
        return null;
    }

    private static JprofLocks own(long id) {
        JprofLocks known = find(id);
        if (known != null) return known;
        JprofLocks head = headOf(id);
        JprofLocks first = head.next;
        for (JprofLocks held = first; held != null; held = held.next) {
            if (held.owner == 0 && MEMORY.compareAndSetLong(held, OWNER, 0, id)) return held;
        }
        JprofLocks made = new JprofLocks();
        made.owner = id;
        do {
            made.next = head.next;
        } while (!MEMORY.compareAndSetReference(head, NEXT, made.next, made));
        return made;
    }

    // The node of the monitor where another thread has taken it; 0: not known. Other threads may
    // change what is read here.
    private static long holder(Object lock) {
        long own = idOf(Thread.currentThread());
        for (JprofLocks head : THREADS) {
            for (JprofLocks held = head.next; held != null; held = held.next) {
                if (held.owner == 0 || held.owner == own) continue;
                Object[] all = held.locks;
                for (int at = 0; at < all.length && at < held.depth; ++at) {
                    if (all[at] != lock) continue;
                    if (held.since[at] != WAITING) return held.leaves[at];
                    break;
                }
            }
        }
        return 0;
    }

    private static int classId(Class<?> type) {
        int hash = System.identityHashCode(type) & CLASSES - 1;
        Object[] known = classes[hash];
        if (known == null || known[0] != type) known = classes[hash ^ 1];
        return known != null && known[0] == type ? ((int[]) known[1])[0] : addClass(type, hash);
    }

    private static int addClass(Class<?> type, int hash) {
        Object[] added = {type, new int[] {idOf(type)}};
        MEMORY.storeFence();
        classes[classes[hash] == null ? hash : hash ^ 1] = added;
        return ((int[]) added[1])[0];
    }

    // The id of the class in the profile.
    private static native int idOf(Class<?> type);

    // Adds to the edge of two nodes and the hashes of their objects. Returns whether a later one of
    // these nodes need not be added.
    private static native boolean addEdge(
            int kind, long from, long to, int fromObject, int toObject, long time);
}
