package java.lang;

import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * What the woven methods of java.util.concurrent call where they take and release locks
 * (lock_methods.h). A thread that asks for a lock has it in its JprofHeld from then on, as one that
 * it does not hold yet. If the thread parks meanwhile, it waits for the lock until it has it.
 */
public final class JprofConcurrent {
    // LockKind of common/lock_kind.h. Those from SEMAPHORE on are not held.
    private static final int SEMAPHORE = 4, CONDITION = 6;
    private static final int KIND = JprofHeld.KIND;
    // Beside a kind (lock_methods.h): the thread does not wait; it has the lock, maybe of another
    // kind; the kind is not known.
    private static final int TRIES = JprofHeld.TRIES, CONVERTS = 32, ANY = 64;
    private static final int ASKED = KIND | TRIES;

    private static final long OF_LOCK = offset(ReentrantLock.class, "sync");
    private static final long OF_READ = offset(ReentrantReadWriteLock.ReadLock.class, "sync");
    private static final long OF_WRITE = offset(ReentrantReadWriteLock.WriteLock.class, "sync");
    private static final long OF_CONDITION =
            offset(AbstractQueuedSynchronizer.ConditionObject.class, "this$0");

    private JprofConcurrent() {}

    /** The thread asks for a lock. */
    public static void ask(Object lock, int what) {
        long id = JprofHeld.idOf(Thread.currentThread());
        if (!JprofLocks.on || id == 0) return;
        int kind = what & KIND;
        long leaf = JprofCounter.count(JprofLocks.classId(lock.getClass(), kind));
        if (leaf == 0) return; // the thread is not recorded
        JprofHeld held = JprofHeld.own(id);
        if (kind == CONDITION) pause(held, lock);
        held.push(lock, leaf, JprofHeld.BLOCK - (what & ASKED), JprofHeld.ASKING);
    }

    /** The thread has got the lock unless `result` is 0 or, of a condition, negative. */
    public static void taken(int result, Object lock, int what) {
        JprofHeld held = JprofLocks.on ? JprofHeld.find() : null;
        int at = held == null ? -1 : held.lastAsked(what & ASKED);
        if (at < 0 || held.locks[at] != lock) return;
        boolean failed = (what & KIND) == CONDITION ? result <= 0 : result == 0;
        end(held, at);
        if (failed) {
            forget(held, at);
        } else if ((what & KIND) >= SEMAPHORE) {
            held.addFirst(held.leaves[at]);
            held.drop(at);
        } else {
            take(held, at, what);
        }
    }

    /** An exception ends the method in which the thread asks for a lock. */
    public static void failed(int what) {
        JprofHeld held = JprofLocks.on ? JprofHeld.find() : null;
        int at = held == null ? -1 : held.lastAsked(what & ASKED);
        if (at < 0) return;
        end(held, at);
        forget(held, at);
    }

    /** The thread is about to release a lock. */
    public static void release(Object lock, int what) {
        JprofHeld held = JprofLocks.on ? JprofHeld.find() : null;
        int at = held == null ? -1 : held.lastHeld(lock, what == ANY ? ANY : what & KIND);
        if (at >= 0) held.remove(at);
    }

    /** The thread is about to park. */
    public static void parks() {
        JprofHeld held = JprofLocks.on ? JprofHeld.find() : null;
        int at = held == null ? -1 : held.lastAsked();
        if (at < 0 || held.since[at] != JprofHeld.ASKING) return;
        boolean hasOwner = held.kindOf(at) < SEMAPHORE;
        held.owners[at] = hasOwner ? JprofHeld.holder(held.locks[at]) : 0;
        if (hasOwner) held.order(held.locks[at], held.leaves[at]);
        held.since[at] = -System.nanoTime();
    }

    /** The thread waits for a lock, as it does when it has waited for a condition of it. */
    public static void reacquires() {
        JprofHeld held = JprofLocks.on ? JprofHeld.find() : null;
        int at = held == null ? -1 : held.lastAsked();
        if (at < 0 || held.frames[at] != JprofHeld.BLOCK - CONDITION) return;
        held.endWait(at, false);
        held.since[at] = JprofHeld.WAITING;
        int lock = lockOf(held, held.locks[at]);
        if (lock >= 0) held.since[lock] = JprofHeld.ASKING;
    }

    private static void end(JprofHeld held, int at) {
        int kind = held.kindOf(at);
        held.endWait(at, kind < SEMAPHORE);
        int lock = kind == CONDITION ? lockOf(held, held.locks[at]) : -1;
        if (lock < 0) return;
        held.endWait(lock, true);
        held.since[lock] = JprofHeld.now();
    }

    private static void forget(JprofHeld held, int at) {
        JprofCounter.takeBack(held.leaves[at]);
        held.drop(at);
    }

    private static void take(JprofHeld held, int at, int what) {
        Object lock = held.locks[at];
        boolean again = held.lastHeld(lock, what & KIND) >= 0;
        if ((what & CONVERTS) != 0) {
            if (again) {
                forget(held, at);
                return;
            }
            int other = held.lastHeld(lock, ANY);
            if (other >= 0) {
                held.remove(other);
                --at;
            }
        }
        if (!again) {
            held.addFirst(held.leaves[at]);
            if ((what & (TRIES | CONVERTS)) == 0) held.order(lock, held.leaves[at]);
        }
        held.since[at] = again ? JprofHeld.AGAIN : JprofHeld.now();
    }

    // The lock of a condition is not held while the thread waits for the condition.
    private static void pause(JprofHeld held, Object condition) {
        int at = lockOf(held, condition);
        if (at < 0) return;
        held.addTime(at);
        held.since[at] = JprofHeld.WAITING;
    }

    private static int lockOf(JprofHeld held, Object condition) {
        Object body = JprofHeld.MEMORY.getReference(condition, OF_CONDITION);
        for (int at = 0; at < held.depth; ++at) {
            if (held.frames[at] < JprofHeld.BLOCK && bodyOf(held.locks[at]) == body) return at;
        }
        return -1;
    }

    /** What is the same object for the locks of which one excludes the other. */
    static Object bodyOf(Object lock) {
        if (lock instanceof ReentrantLock) return JprofHeld.MEMORY.getReference(lock, OF_LOCK);
        if (lock instanceof ReentrantReadWriteLock.ReadLock) {
            return JprofHeld.MEMORY.getReference(lock, OF_READ);
        }
        return lock instanceof ReentrantReadWriteLock.WriteLock
                ? JprofHeld.MEMORY.getReference(lock, OF_WRITE)
                : lock;
    }

    private static long offset(Class<?> type, String field) {
        return JprofHeld.MEMORY.objectFieldOffset(type, field);
    }
}
