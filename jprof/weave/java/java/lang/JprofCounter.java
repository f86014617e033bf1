package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * What woven methods call (weave.h). The agent defines this class in the boot loader and registers
 * its native methods. It is in java.lang because every module reads java.base and every class
 * loader finds java.lang there.
 *
 * <p>A word of the VM's thread (JavaThread) has the address of the thread's current node. Only the
 * thread itself changes it. Nodes are those of the profile (engine/woven.h) and are in one region
 * of addresses for each recording. A method that is still running when its recording ends makes, at
 * its exit, a node of that recording the current one. All methods of a later recording have then
 * returned, and the next one that is entered finds that the current node is not of its region.
 */
public final class JprofCounter {
    private static final Unsafe MEMORY = Unsafe.getUnsafe();

    // The field of a platform thread with the address of the VM's thread; 0 in a virtual thread.
    private static final long VM_THREAD = MEMORY.objectFieldOffset(Thread.class, "eetop");
    private static final long THREAD_ID = MEMORY.objectFieldOffset(Thread.class, "tid");
    // In the VM's thread.
    private static final long CURRENT = currentOffset();

    // Nodes and tables of children: engine/woven.h. The word of a node at offset 0 is TYPE + id.
    private static final long REGION = -1L << 34;
    private static final int TYPE = 10 << 28;
    private static final int COUNT = 8;
    private static final int MORE = 32;
    private static final int NODE = 64, NODE_SHIFT = 6;
    private static final int LAST_RECORD = 4;
    private static final int SLOT = 8;
    private static final int HASH = 0x9e3779b1, HASH_SHIFT = 16;

    // Where the region of the recording begins; 0: there is none. Set by the agent. As a thread's
    // current node it means that the thread is not recorded.
    private static long region;

    private JprofCounter() {}

    /** Counts an entry of a method in the current context. Returns the caller's node. */
    @ForceInline
    public static long enter(int id) {
        long thread = MEMORY.getLong(Thread.currentThread(), VM_THREAD);
        return thread != 0 ? enterOn(thread, id) : enterVirtual(id);
    }

    /** The method returns normally: its caller's node is the current one again. */
    @ForceInline
    public static void exit(long parent) {
        long thread = MEMORY.getLong(Thread.currentThread(), VM_THREAD);
        if (thread == 0) {
            thread = carrier();
        }
        MEMORY.putLong(null, thread + CURRENT, parent);
    }

    /** The method caught an exception: callees that it has left are no longer current. */
    @DontInline
    public static void caught(long parent, int id) {
        if (parent != 0 && ((region ^ parent) & REGION) == 0) {
            long node = find(parent, id);
            if (node == 0) {
                node = overflow(parent);
            }
            if (node != 0) {
                MEMORY.putLong(null, vmThread() + CURRENT, node);
            }
        }
    }

    /** A virtual thread has been mounted or unmounted. */
    @DontInline
    public static void announce() {
        long thread = vmThread();
        if (MEMORY.getLong(null, thread + CURRENT) != region) {
            Thread mounted = Thread.currentThread();
            boolean isVirtual = MEMORY.getLong(mounted, VM_THREAD) == 0;
            mounted(thread, isVirtual ? MEMORY.getLong(mounted, THREAD_ID) : 0);
        }
    }

    @ForceInline
    private static void count(long thread, long node) {
        MEMORY.putLong(null, thread + CURRENT, node);
        MEMORY.putLong(null, node + COUNT, MEMORY.getLong(null, node + COUNT) + 1);
    }

    // Where a child's address is in its parent.
    @ForceInline
    private static int slotOf(int id) {
        int slot = id & 3;
        return slot == 0 ? 16 : 32 + (slot << 3);
    }

    // The VM's thread of the carrier, or of the platform thread.
    @ForceInline
    private static long vmThread() {
        long thread = MEMORY.getLong(Thread.currentThread(), VM_THREAD);
        return thread != 0 ? thread : MEMORY.getLong(Thread.currentCarrierThread(), VM_THREAD);
    }

    @DontInline
    private static long carrier() {
        return MEMORY.getLong(Thread.currentCarrierThread(), VM_THREAD);
    }

    @ForceInline
    private static long enterOn(long thread, int id) {
        long current = MEMORY.getLong(null, thread + CURRENT);
        if (current != 0) {
            long node = MEMORY.getLong(null, current + slotOf(id));
            if (MEMORY.getInt(null, node) == TYPE + id) {
                count(thread, node);
                return current;
            }
        }
        return enterOther(thread, current, id);
    }

    @DontInline
    private static long enterVirtual(int id) {
        return enterOn(carrier(), id);
    }

    // The child is not in its own slot, or the thread has no node of this recording yet.
    @DontInline
    private static long enterOther(long thread, long current, int id) {
        long begin = region;
        if (((current ^ begin) & REGION) != 0) {
            current = root(thread);
            MEMORY.putLong(null, thread + CURRENT, current);
        }
        if ((current & ~REGION) == 0) { // not recorded; also without a recording
            return current;
        }
        long node = find(current, id);
        if (node == 0) {
            node = add(current, id);
            if (node == 0) {
                return current;
            }
        }
        long count = MEMORY.getLong(null, node + COUNT);
        count(thread, node);
        if ((count & 7) == 0) { // children that are entered often get the slot
            MEMORY.putLong(null, current + slotOf(id), node);
        }
        return current;
    }

    // The child of a node for a method; 0: there is none.
    @ForceInline
    private static long find(long parent, int id) {
        long own = MEMORY.getLong(null, parent + slotOf(id));
        if (MEMORY.getInt(null, own) == TYPE + id) {
            return own;
        }
        long more = MEMORY.getInt(null, parent + MORE) & 0xffffffffL;
        if (more == 0) {
            return 0;
        }
        long begin = parent & REGION;
        long table = begin + (more << NODE_SHIFT);
        int last = MEMORY.getInt(null, table + LAST_RECORD);
        for (int record = id * HASH >>> HASH_SHIFT & last;; record = record + 1 & last) {
            long at = table + ((long) record << NODE_SHIFT);
            for (long end = at + NODE; (at += SLOT) < end; ) {
                long slot = MEMORY.getLong(null, at);
                if ((int) slot == id) {
                    return begin + (slot >>> 32 << NODE_SHIFT);
                }
                if (slot == 0) {
                    return 0;
                }
            }
        }
    }

    // Where the current node is in the VM's thread.
    private static native long currentOffset();

    // The root of the calling thread's tree; the begin of the region: the thread is not recorded; 0:
    // there is no recording.
    private static native long root(long thread);

    // Adds a child; without space, the node that stands for such contexts; 0: the recording has
    // ended.
    private static native long add(long parent, int id);

    // The node that add() has returned for children without space; 0: the recording has ended.
    private static native long overflow(long parent);

    // `id` 0: no virtual thread is mounted.
    private static native void mounted(long thread, long id);
}
