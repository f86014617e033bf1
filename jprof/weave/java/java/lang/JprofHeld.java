package java.lang;

import jdk.internal.misc.Unsafe;

/**
 * The locks that one thread has or asks for, in the order in which it asked. The threads find theirs
 * by their id, virtual threads too. Only the thread itself changes its own; others read it to find
 * out who has a lock.
 *
 * <p>A lock is counted as a callee of the method that takes it: the node of its class and kind below
 * the current node. That node's values are the metrics of profile/files/lock_metrics.h.
 */
final class JprofHeld {
    static final Unsafe MEMORY = Unsafe.getUnsafe();
    private static final long THREAD_ID = MEMORY.objectFieldOffset(Thread.class, "tid");
    private static final long OWNER = MEMORY.objectFieldOffset(JprofHeld.class, "owner");
    private static final long NEXT = MEMORY.objectFieldOffset(JprofHeld.class, "next");

    // The threads' objects, in lists by the id of the thread. The heads are of no thread.
    private static final int LISTS = 256;
    private static final JprofHeld[] THREADS = new JprofHeld[LISTS];

    static {
        for (int list = 0; list < LISTS; ++list) {
            THREADS[list] = new JprofHeld();
        }
    }

    // The address of the values of node 0 beyond the first, and how many bytes a node has.
    private static long values;
    private static long row;
    static boolean timed; // whether hold times are measured

    // Where a node has its values: the first in the node itself, the others in its row.
    private static final int WAITED = 24;
    private static final int SLOW = 0;
    private static final int HELD_TIME = 8; // if `timed`

    // In `since`, in place of the time since which the lock is held (0: not timed). Numbers below
    // ASKING are the negative time since which the thread waits until it gets the lock.
    static final long AGAIN = -1; // held already
    static final long WAITING = -2; // not held, or no longer
    static final long ASKING = -3;

    // In `frames`: of a monitor the caller's node of a synchronized method, or BLOCK; of other locks
    // BLOCK - what, where `what` is a LockKind of common/lock_kind.h and, if it was not waited for,
    // TRIES (lock_methods.h).
    static final long BLOCK = -1;
    static final int KIND = 15, TRIES = 16;

    private static final int WAIT = 0, ORDER = 1; // LockEdgeKind of profile/files/layout.h

    private volatile long owner; // the thread's id; 0: free for the next thread
    private volatile JprofHeld next;
    int depth;
    Object[] locks = new Object[8];
    long[] leaves = new long[8]; // nodes of the locks
    long[] since = new long[8];
    long[] frames = new long[8];
    long[] owners = new long[8]; // while the thread waits, the node of the lock's owner
    // What order() need not report again: pairs of nodes, and those of nodes and objects.
    private final long[] known = new long[64];
    // Until the thread has the monitor: since when it waits, and of whom.
    long asked;
    long askedOf;
    // A monitor for which the thread has waited before its synchronized method began.
    Object waited;
    long waitedTime;

    private JprofHeld() {}

    static void begin(long values, long row, boolean timed) {
        forgetAll();
        JprofHeld.values = values;
        JprofHeld.row = row;
        JprofHeld.timed = timed;
    }

    /** Forgets what the threads have, so that their locks can be collected. */
    static void forgetAll() {
        for (JprofHeld head : THREADS) head.next = null;
    }

    /** The time from which a lock is held that the thread has got now. */
    static long now() {
        return timed ? System.nanoTime() : 0;
    }

    static long idOf(Thread thread) {
        return MEMORY.getLong(thread, THREAD_ID);
    }

    /** The current thread's object, or null if it has none. */
    static JprofHeld find() {
        return find(idOf(Thread.currentThread()));
    }

    static JprofHeld find(long id) {
        if (id == 0) return null; // its Thread is being constructed
        for (JprofHeld held = headOf(id).next; held != null; held = held.next) {
            if (held.owner == id) return held;
        }
        return null;
    }

    private static JprofHeld headOf(long id) {
        return THREADS[(int) id & LISTS - 1];
    }

    /** The object of the current thread, whose id is not 0. */
    static JprofHeld own(long id) {
        JprofHeld known = find(id);
        if (known != null) return known;
        JprofHeld head = headOf(id);
        for (JprofHeld held = head.next; held != null; held = held.next) {
            if (held.owner == 0 && MEMORY.compareAndSetLong(held, OWNER, 0, id)) return held;
        }
        JprofHeld made = new JprofHeld();
        made.owner = id;
        do {
            made.next = head.next;
        } while (!MEMORY.compareAndSetReference(head, NEXT, made.next, made));
        return made;
    }

    void push(Object lock, long leaf, long frame, long time) {
        int at = depth;
        if (at == locks.length) grow();
        locks[at] = lock;
        leaves[at] = leaf;
        frames[at] = frame;
        since[at] = time;
        depth = at + 1;
    }

    void remove(int at) {
        addTime(at);
        drop(at);
    }

    /** Forgets a lock that the thread does not have. */
    void drop(int at) {
        int last = depth - 1;
        for (int i = at; i < last; ++i) {
            locks[i] = locks[i + 1];
            leaves[i] = leaves[i + 1];
            since[i] = since[i + 1];
            frames[i] = frames[i + 1];
            owners[i] = owners[i + 1];
        }
        locks[last] = null;
        depth = last;
        if (last == 0) free();
    }

    /** Leaves the object, which has no locks, to the next thread. */
    void free() {
        if (waited != null) waited = null;
        MEMORY.putLongRelease(this, OWNER, 0);
    }

    /** The thread ends. */
    void end() {
        int last = depth - 1;
        if (last < 0) free();
        for (int at = last; at >= 0; --at) remove(at); // the last one frees the object
    }

    /** The thread has got a lock that it did not have. */
    void addFirst(long leaf) {
        add(leaf, timed ? HELD_TIME + 8 : SLOW + 8, 1);
    }

    void addTime(int at) {
        if (timed && since[at] > 0) add(leaves[at], HELD_TIME, System.nanoTime() - since[at]);
    }

    /** The thread has waited, if it did, for a lock for which it has asked. */
    void endWait(int at, boolean hasOwner) {
        if (since[at] >= ASKING) return;
        long time = System.nanoTime() + since[at];
        since[at] = ASKING;
        addWait(leaves[at], time);
        if (hasOwner) addWaitFor(leaves[at], owners[at], time);
    }

    void addWait(long leaf, long time) {
        long at = JprofCounter.addressOf(leaf) + WAITED;
        MEMORY.putLong(null, at, MEMORY.getLong(null, at) + time);
        add(leaf, SLOW, 1);
    }

    static void addWaitFor(long leaf, long ownerLeaf, long time) {
        JprofLocks.addEdge(WAIT, leaf, ownerLeaf, 0, 0, time);
    }

    private static int hashOf(Object lock) {
        return System.identityHashCode(JprofConcurrent.bodyOf(lock));
    }

    // Reports that the thread asks for a lock while it has others: those down to the last one for
    // which it asked. That one has been reported with those below it.
    void order(Object lock, long leaf) {
        for (int at = depth - 1; at >= 0; --at) {
            if (since[at] < 0) continue; // held already, or not held
            addOrder(at, lock, leaf);
            if (!isTried(at)) return;
        }
    }

    private boolean isTried(int at) {
        return frames[at] < BLOCK && (BLOCK - frames[at] & TRIES) != 0;
    }

    private void addOrder(int at, Object lock, long leaf) {
        long from = leaves[at];
        long nodes = from * 0x9e3779b97f4a7c15L ^ leaf;
        if (known[placeOf(nodes)] == nodes) return;
        int fromObject = hashOf(locks[at]), toObject = hashOf(lock);
        long objects = nodes ^ ((long) fromObject << 32 | toObject) * 0x9e3779b97f4a7c15L;
        if (known[placeOf(objects)] == objects) return;
        boolean all = JprofLocks.addEdge(ORDER, from, leaf, fromObject, toObject, 0);
        long added = all ? nodes : objects;
        known[placeOf(added)] = added;
    }

    private static int placeOf(long pair) {
        return (int) (pair * 0xd1342543de82ef95L >>> 58);
    }

    // After the recording has ended, the nodes are in no region: their numbers are too large.
    private static void add(long leaf, int value, long amount) {
        long index = JprofCounter.indexOf(leaf);
        if (index >>> JprofCounter.INDEX_BITS != 0) return;
        long at = values + index * row + value;
        MEMORY.putLong(null, at, MEMORY.getLong(null, at) + amount);
    }

    // The place of the innermost, or the outermost, of this monitor; -1: the thread does not have it.
    int last(Object monitor) {
        int at = depth - 1;
        while (at >= 0 && (locks[at] != monitor || frames[at] < BLOCK)) --at;
        return at;
    }

    int first(Object monitor) {
        for (int at = 0; at < depth; ++at) {
            if (locks[at] == monitor && frames[at] >= BLOCK) return at;
        }
        return -1;
    }

    // The same of a lock of java.util.concurrent that the thread has, of a kind or of any (KIND + 1
    // and above).
    int lastHeld(Object lock, int kind) {
        int at = depth - 1;
        while (at >= 0 && !(locks[at] == lock && since[at] > WAITING && isOf(at, kind))) --at;
        return at;
    }

    private boolean isOf(int at, int kind) {
        return frames[at] == BLOCK - kind
                || frames[at] < BLOCK && (kind > KIND || (BLOCK - frames[at] & KIND) == kind);
    }

    /** The LockKind of a lock of java.util.concurrent. */
    int kindOf(int at) {
        return (int) (BLOCK - frames[at]) & KIND;
    }

    // The innermost that the thread has asked for and does not have yet.
    int lastAsked() {
        int at = depth - 1;
        while (at >= 0 && since[at] > ASKING) --at;
        return at;
    }

    // The innermost that the thread has asked for so (`what` of `frames`), although it may have
    // ended waiting.
    int lastAsked(int what) {
        int at = depth - 1;
        while (at >= 0 && !(since[at] <= WAITING && frames[at] == BLOCK - what)) --at;
        return at;
    }

    private void grow() {
        int size = 2 * depth;
        Object[] moreLocks = new Object[size];
        System.arraycopy(locks, 0, moreLocks, 0, depth);
        long[] moreLeaves = larger(leaves, size);
        long[] moreSince = larger(since, size);
        long[] moreFrames = larger(frames, size);
        long[] moreOwners = larger(owners, size);
        locks = moreLocks;
        leaves = moreLeaves;
        since = moreSince;
        frames = moreFrames;
        owners = moreOwners;
    }

    private static long[] larger(long[] values, int size) {
        long[] more = new long[size];
        System.arraycopy(values, 0, more, 0, values.length);
        return more;
    }

    /**
     * The node of the lock where another thread has taken it; 0: not known. Other threads may change
     * what is read here.
     */
    static long holder(Object lock) {
        long own = idOf(Thread.currentThread());
        Object body = JprofConcurrent.bodyOf(lock);
        for (JprofHeld head : THREADS) {
            for (JprofHeld held = head.next; held != null; held = held.next) {
                if (held.owner == 0 || held.owner == own) continue;
                long leaf = held.leafOf(body);
                if (leaf != 0) return leaf;
            }
        }
        return 0;
    }

    // The thread may replace and change each of the arrays meanwhile.
    private long leafOf(Object body) {
        Object[] all = locks;
        long[] times = since;
        long[] nodes = leaves;
        int least = Math.min(all.length, Math.min(times.length, nodes.length));
        for (int at = 0; at < least && at < depth; ++at) {
            Object lock = all[at];
            if (lock == null || JprofConcurrent.bodyOf(lock) != body) continue;
            return times[at] > WAITING ? nodes[at] : 0;
        }
        return 0;
    }
}
