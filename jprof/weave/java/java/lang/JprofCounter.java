package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * What woven methods call (weave.h). The agent defines this class in the boot loader and registers
 * its native methods. It is in java.lang because every module reads java.base and every class
 * loader finds java.lang there.
 *
 * <p>A word of the VM's thread (JavaThread) has the thread's current node. Only the thread itself
 * changes it. Nodes are those of the profile (engine/woven.h) and are in one region of addresses
 * for each recording. A method that is still running when its recording ends makes, at its exit, a
 * node of that recording the current one. All methods of a later recording have then returned, and
 * the next one that is entered finds that the current node is not of its region.
 *
 * <p>A node is given by its place, the distance of its address from EMPTY, which is the address of
 * a node without children. Before its first event a thread has place 0, that node, and enter needs
 * no test for that.
 */
public final class JprofCounter {
    private static final Unsafe MEMORY = Unsafe.getUnsafe();

    // The field of a platform thread with the address of the VM's thread.
    private static final long VM_THREAD = MEMORY.objectFieldOffset(Thread.class, "eetop");
    private static final long THREAD_ID = MEMORY.objectFieldOffset(Thread.class, "tid");
    // Whether the current thread may be virtual. The agent changes it to true, and has all code
    // compiled anew, before the first virtual thread exists.
    private static final boolean HAS_CARRIERS = hasCarriers();
    // In the VM's thread.
    private static final long CURRENT = currentOffset();
    // If it is below 2^31, processors add it to an address within the instruction that loads.
    private static final long EMPTY = emptyNode();

    // Nodes, their slots and tables of children: engine/woven.h.
    private static final int REGION_SHIFT = 34;
    private static final int MORE = 32, TABLE = (1 << 28) - 1, TABLE_SHIFT = 28;
    private static final int NODE = 64, NODE_SHIFT = 6;
    static final int INDEX_BITS = REGION_SHIFT - NODE_SHIFT; // of the number of a node
    private static final int TYPE = 10 << 28, CLASS = 12 << 28, SITE = 7 << 28;
    private static final int LABEL = 13 << 28, KIND_SHIFT = 28, PARENT = 4;
    private static final int THREAD_KIND = 9;
    private static final int COUNT = 8;
    private static final int CHILD = 8;
    private static final int MISSES = 4; // of a table
    private static final int HASH = 0x9e3779b1, RECORD_SHIFT = 16, FIRST_SHIFT = 24;
    private static final int SELDOM = 63; // one in 64 takes the slot of a more frequent child

    // The place of the recording's node 0, where its region begins. As a thread's current node it
    // means that the thread is not recorded. Set by the agent. NONE: there is no recording.
    private static final long NONE = 1L << 62;
    private static long region = NONE;

    // Whether a label has been set: only then can a caught exception have left one in the same method.
    private static boolean hasLabels;

    private JprofCounter() {}

    // enter and exit call no methods of this class that are inlined: the compilers would inline them
    // again with every method of the program. docs/decisions/0033-woven-code-is-written-out.md

    /** Counts an entry of a method in the current context. Returns the caller's node. */
    @ForceInline
    public static long enter(int id) {
        long thread = MEMORY.getLong(Thread.currentThread(), VM_THREAD);
        if (HAS_CARRIERS && thread == 0) {
            thread = MEMORY.getLong(Thread.currentCarrierThread(), VM_THREAD);
        }
        long current = MEMORY.getLong(null, thread + CURRENT);
        int slot = id & 7; // slotOf, slot
        int child = MEMORY.getInt(null, current + (EMPTY + (16 + (slot << 2) + (slot + 6 >> 3 << 4))));
        long node = (child & 0xffffffffL) << NODE_SHIFT;
        if (MEMORY.getInt(null, node + EMPTY) != TYPE + id) {
            return enterOther(thread, current, id);
        }
        long count = MEMORY.getLong(null, node + (EMPTY + COUNT));
        MEMORY.putLong(null, node + (EMPTY + COUNT), count + 1);
        MEMORY.putLong(null, thread + CURRENT, node);
        return current;
    }

    /** The method returns normally: its caller's node is the current one again. */
    @ForceInline
    public static void exit(long parent) {
        long thread = MEMORY.getLong(Thread.currentThread(), VM_THREAD);
        if (HAS_CARRIERS && thread == 0) {
            thread = MEMORY.getLong(Thread.currentCarrierThread(), VM_THREAD);
        }
        MEMORY.putLong(null, thread + CURRENT, parent);
    }

    /** Counts an entry of a method that calls nothing. The caller's node stays the current one. */
    @ForceInline
    public static void leaf(int id) {
        long thread = MEMORY.getLong(Thread.currentThread(), VM_THREAD);
        if (HAS_CARRIERS && thread == 0) {
            thread = MEMORY.getLong(Thread.currentCarrierThread(), VM_THREAD);
        }
        long current = MEMORY.getLong(null, thread + CURRENT);
        int slot = id & 7; // slotOf, slot
        int child = MEMORY.getInt(null, current + (EMPTY + (16 + (slot << 2) + (slot + 6 >> 3 << 4))));
        long node = (child & 0xffffffffL) << NODE_SHIFT;
        if (MEMORY.getInt(null, node + EMPTY) != TYPE + id) {
            leafOther(thread, current, id);
            return;
        }
        MEMORY.putLong(null, node + (EMPTY + COUNT), MEMORY.getLong(null, node + (EMPTY + COUNT)) + 1);
    }

    /** The method caught an exception: callees that it has left are no longer current. */
    @DontInline
    public static void caught(long parent, int id) {
        long begin = region;
        if (isOf(begin, parent)) {
            long child = find(begin, parent, TYPE, id);
            if (child == 0) {
                child = overflow(parent);
            }
            if (child != 0) {
                long thread = vmThread();
                long own = child << NODE_SHIFT;
                if (hasLabels) own = labelled(begin, MEMORY.getLong(null, thread + CURRENT), own);
                MEMORY.putLong(null, thread + CURRENT, own);
            }
        }
    }

    /**
     * The method that called Label.set or, with LABEL_FROM, has just been entered sets a label, which
     * replaces the one that it has set before. Null: it ends that one.
     */
    public static void label(String text) {
        long thread = vmThread();
        long current = MEMORY.getLong(null, thread + CURRENT);
        long begin = region;
        if (!isOf(begin, current) || current == begin) {
            current = joined(thread, begin, current);
            if (!isOf(begin, current) || current == begin) { // not recorded
                return;
            }
        }
        int kind = MEMORY.getInt(null, current + EMPTY) >>> KIND_SHIFT;
        if (kind == LABEL >>> KIND_SHIFT) {
            current = parentOf(begin, current);
        } else if (kind == THREAD_KIND) { // no method that is counted runs
            return;
        }
        if (text == null) {
            MEMORY.putLong(null, thread + CURRENT, current);
            return;
        }
        int id = JprofLabels.find(begin, text);
        if (id == 0) {
            id = newLabel(begin, text);
            if (id == 0) {
                return;
            }
            thread = vmThread(); // a virtual thread that waited for a lock may have another carrier
        }
        long child = slot(current, id);
        if (!isChild(child, LABEL, id)) {
            child = labelOther(begin, current, id);
            if (child == 0) {
                return;
            }
        }
        long node = child << NODE_SHIFT;
        MEMORY.putLong(null, node + (EMPTY + COUNT), MEMORY.getLong(null, node + (EMPTY + COUNT)) + 1);
        MEMORY.putLong(null, thread + CURRENT, node);
    }

    /** The same with the text of an object, or the name of its class if its text may be anything. */
    @DontInline
    public static void labelOf(Object object) {
        label(object instanceof String ? (String) object : textOf(object, 0, false));
    }

    /** The same with the digits of a number. */
    @DontInline
    public static void labelNumber(long number) {
        label(textOf(null, number, true));
    }

    /** The method is about to allocate an object of a class, which has this id. */
    @ForceInline
    public static void asked(int id) {
        long thread = MEMORY.getLong(Thread.currentThread(), VM_THREAD);
        if (HAS_CARRIERS && thread == 0) {
            thread = MEMORY.getLong(Thread.currentCarrierThread(), VM_THREAD);
        }
        long current = MEMORY.getLong(null, thread + CURRENT);
        int slot = id & 7; // slotOf, slot
        int child = MEMORY.getInt(null, current + (EMPTY + (16 + (slot << 2) + (slot + 6 >> 3 << 4))));
        long node = (child & 0xffffffffL) << NODE_SHIFT;
        if (MEMORY.getInt(null, node + EMPTY) != CLASS + id) {
            askedOther(current, 1, id);
            return;
        }
        MEMORY.putLong(null, node + (EMPTY + COUNT), MEMORY.getLong(null, node + (EMPTY + COUNT)) + 1);
    }

    /** The same of several objects; of none if the number is negative. */
    @DontInline
    public static void asked(int number, int id) {
        if (number > 0) askedOther(MEMORY.getLong(null, vmThread() + CURRENT), number, id);
    }

    /** The method is about to box a number. Those of a byte exist already. */
    @ForceInline
    public static void askedBox(int value, int id) {
        if (value != (byte) value) asked(id);
    }

    @ForceInline
    public static void askedBox(long value, int id) {
        if (value != (byte) value) asked(id);
    }

    /** The node of the method that has just been entered. */
    @ForceInline
    public static long current() {
        long thread = MEMORY.getLong(Thread.currentThread(), VM_THREAD);
        if (HAS_CARRIERS && thread == 0) {
            thread = MEMORY.getLong(Thread.currentCarrierThread(), VM_THREAD);
        }
        return MEMORY.getLong(null, thread + CURRENT);
    }

    /**
     * The method with this node is about to call another one at a site. What it calls is below the
     * site's node, which stays current until the method's next call or its end.
     */
    @ForceInline
    public static void site(long own, int id) {
        int slot = id & 7; // slotOf, slot
        int child = MEMORY.getInt(null, own + (EMPTY + (16 + (slot << 2) + (slot + 6 >> 3 << 4))));
        long node = (child & 0xffffffffL) << NODE_SHIFT;
        if (MEMORY.getInt(null, node + EMPTY) != SITE + id) {
            siteOther(own, id);
            return;
        }
        long thread = MEMORY.getLong(Thread.currentThread(), VM_THREAD);
        if (HAS_CARRIERS && thread == 0) {
            thread = MEMORY.getLong(Thread.currentCarrierThread(), VM_THREAD);
        }
        MEMORY.putLong(null, thread + CURRENT, node);
    }

    /** A virtual thread has been mounted or unmounted, or the first one can be made from now on. */
    @DontInline
    public static void announce() {
        if (!HAS_CARRIERS) {
            expectVirtualThreads();
            return;
        }
        if (region == NONE) { // methods are not counted yet: enterOther announces the thread then
            return;
        }
        Thread mounted = Thread.currentThread();
        boolean isVirtual = MEMORY.getLong(mounted, VM_THREAD) == 0;
        mounted(vmThread(), isVirtual ? MEMORY.getLong(mounted, THREAD_ID) : 0);
    }

    /**
     * Returns the class if `loader` is a class loader and the name is one that woven code refers
     * to, else null. The VM would otherwise request these classes by calling loadClass, which may be
     * the program's code.
     */
    public static native Class<?> answer(Object loader, String name);

    /**
     * Counts something in the current context that is no method, and stays in that context. Returns
     * its place, or 0 if the thread is not recorded.
     */
    static long count(int id) {
        long parent = enter(id);
        long thread = vmThread();
        long node = MEMORY.getLong(null, thread + CURRENT);
        MEMORY.putLong(null, thread + CURRENT, parent);
        return node != parent && isOf(region, node) ? node : 0;
    }

    /** Takes back what count() has counted. */
    static void takeBack(long node) {
        long count = MEMORY.getLong(null, node + (EMPTY + COUNT));
        MEMORY.putLong(null, node + (EMPTY + COUNT), count - 1);
    }

    /** The address of a node, and its number. If it is not of this recording, that is too large. */
    static long addressOf(long place) {
        return place + EMPTY;
    }

    static long indexOf(long place) {
        return place - region >> NODE_SHIFT;
    }

    // Where a method's slot is in a node: slots 0 and 1 at 16, the others at 40.
    private static int slotOf(int id) {
        int slot = id & 7;
        return 16 + (slot << 2) + (slot + 6 >> 3 << 4);
    }

    // The child in the method's slot, which may be another method's: its place / 64.
    private static long slot(long parent, int id) {
        return MEMORY.getInt(null, parent + (EMPTY + slotOf(id))) & 0xffffffffL;
    }

    private static boolean isChild(long child, int type, int id) {
        return MEMORY.getInt(null, (child << NODE_SHIFT) + EMPTY) == type + id;
    }

    // The VM's thread, of the carrier if a virtual thread runs, which has 0 in its field. To use
    // the carrier always would take three loads each time: it can change while a method runs.
    private static long vmThread() {
        long thread = MEMORY.getLong(Thread.currentThread(), VM_THREAD);
        return HAS_CARRIERS && thread == 0
                ? MEMORY.getLong(Thread.currentCarrierThread(), VM_THREAD)
                : thread;
    }

    // Whether the node is of the recording with this region.
    @ForceInline
    private static boolean isOf(long begin, long node) {
        return node - begin >>> REGION_SHIFT == 0;
    }

    private static long parentOf(long begin, long node) {
        return begin + ((MEMORY.getInt(null, node + (EMPTY + PARENT)) & 0xffffffffL) << NODE_SHIFT);
    }

    // The thread's current node, if it may have none of this recording yet.
    @DontInline
    private static long joined(long thread, long begin, long current) {
        if (begin == NONE || current == begin) {
            return current;
        }
        current = root(thread);
        MEMORY.putLong(null, thread + CURRENT, current);
        if (!isOf(begin, current)) {
            return current;
        }
        if (HAS_CARRIERS) announce();
        return MEMORY.getLong(null, thread + CURRENT);
    }

    // The text of the object or the number, which is made without counting calls. Null: there is no
    // recording.
    private static String textOf(Object object, long number, boolean isNumber) {
        long begin = region;
        if (begin == NONE) {
            return null;
        }
        long current = pause(begin);
        try {
            return isNumber ? Long.toString(number) : JprofLabels.textOf(object);
        } finally {
            MEMORY.putLong(null, vmThread() + CURRENT, current);
        }
    }

    // Methods that are called from now on are not counted, until the node that is returned is the
    // current one again.
    private static long pause(long begin) {
        long thread = vmThread();
        long current = MEMORY.getLong(null, thread + CURRENT);
        MEMORY.putLong(null, thread + CURRENT, begin);
        return current;
    }

    // The text is not known by its identity. 0: there is no recording, or no such label.
    @DontInline
    private static int newLabel(long begin, String text) {
        long current = pause(begin);
        try {
            return JprofLabels.findOrAdd(begin, text);
        } catch (Throwable noMemory) { // the program must not see it
            return 0;
        } finally {
            MEMORY.putLong(null, vmThread() + CURRENT, current);
        }
    }

    // The label is not in its own slot: its place / 64, or 0 if there is no space for it.
    @DontInline
    private static long labelOther(long begin, long current, int id) {
        hasLabels = true;
        long child = find(begin, current, LABEL, id);
        if (child == 0) {
            child = addLabel(current, id);
            if (!isChild(child, LABEL, id)) {
                return 0;
            }
        } else {
            prefer(current, id, child, MEMORY.getLong(null, (child << NODE_SHIFT) + (EMPTY + COUNT)));
        }
        return child;
    }

    // The label that the method with the node `own` has set when it called what is left now, or `own`
    // if it has set none. `current` is the innermost node that was left.
    private static long labelled(long begin, long current, long own) {
        for (long node = current; isOf(begin, node) && node > begin; ) {
            if (node == own) {
                return own;
            }
            long parent = parentOf(begin, node);
            if (parent == own) {
                return MEMORY.getInt(null, node + EMPTY) >>> KIND_SHIFT == LABEL >>> KIND_SHIFT ? node : own;
            }
            node = parent;
        }
        return own;
    }

    // The child is not in its own slot. One in ten calls of a large program is here.
    @DontInline
    private static long enterOther(long thread, long current, int id) {
        long begin = region;
        if (current - begin - 1 >>> REGION_SHIFT == 0) { // of this recording, and recorded
            int more = MEMORY.getInt(null, current + (EMPTY + MORE));
            long child = more != 0 ? inTable(begin, more, id) : 0;
            if (child != 0) {
                long node = child << NODE_SHIFT;
                long count = MEMORY.getLong(null, node + (EMPTY + COUNT));
                prefer(current, id, child, count);
                MEMORY.putLong(null, node + (EMPTY + COUNT), count + 1);
                MEMORY.putLong(null, thread + CURRENT, node);
                return current;
            }
        }
        return enterNew(thread, current, id);
    }

    // A child with this count was not in its slot. The most frequent child is to have the slot: then
    // processors predict whether a child is there. Now and then another child gets it, because
    // programs change; it keeps the slot while the most frequent one does not occur.
    @ForceInline
    private static void prefer(long parent, int id, long child, long count) {
        long other = slot(parent, id) << NODE_SHIFT;
        if (count >= MEMORY.getLong(null, other + (EMPTY + COUNT)) || (count & SELDOM) == SELDOM) {
            MEMORY.putInt(null, parent + (EMPTY + slotOf(id)), (int) child);
        }
    }

    // There is no such child yet, or the thread has no node of this recording yet.
    @DontInline
    private static long enterNew(long thread, long current, int id) {
        long begin = region;
        if (begin == NONE) { // a class that was being loaded when the recording ended
            return current;
        }
        if (!isOf(begin, current)) {
            current = root(thread);
            MEMORY.putLong(null, thread + CURRENT, current);
            if (!isOf(begin, current)) { // it has just begun or ended
                return current;
            }
            if (HAS_CARRIERS) announce(); // a virtual thread may have been mounted before the recording began
            current = MEMORY.getLong(null, thread + CURRENT);
        }
        if (current == begin) { // not recorded
            return current;
        }
        long child = find(begin, current, TYPE, id);
        if (child == 0) {
            child = add(current, id);
            if (child == 0) {
                return current;
            }
        }
        long node = child << NODE_SHIFT;
        MEMORY.putLong(null, node + (EMPTY + COUNT), MEMORY.getLong(null, node + (EMPTY + COUNT)) + 1);
        MEMORY.putLong(null, thread + CURRENT, node);
        return current;
    }

    // The same for a method that does not become current.
    @DontInline
    private static void leafOther(long thread, long current, int id) {
        long parent = enterOther(thread, current, id);
        MEMORY.putLong(null, vmThread() + CURRENT, parent);
    }

    // The child of a node for a method or, of type CLASS, a class: its place / 64; 0: there is none.
    private static long find(long begin, long parent, int type, int id) {
        long own = slot(parent, id);
        if (isChild(own, type, id)) {
            return own;
        }
        int more = MEMORY.getInt(null, parent + (EMPTY + MORE));
        return more != 0 ? inTable(begin, more, id) : 0;
    }

    // The same from a table: its children are in a row, apart from the first word of each record.
    @ForceInline
    private static long inTable(long begin, int more, int id) {
        long table = begin + EMPTY + ((long) (more & TABLE) << NODE_SHIFT);
        int records = 1 << (more >>> TABLE_SHIFT), hash = id * HASH;
        int record = hash >>> RECORD_SHIFT & records - 1, first = (hash >>> FIRST_SHIFT) * 7 >>> 8;
        long at = table + ((long) record << NODE_SHIFT) + CHILD + first * CHILD;
        for (;;) {
            long child = MEMORY.getLong(null, at);
            if ((int) child == id) {
                return child >>> 32;
            }
            if (child == 0) {
                return 0;
            }
            at += CHILD;
            if ((at & NODE - 1) == 0) {
                at = at - table >>> NODE_SHIFT < records ? at + CHILD : table + CHILD;
            }
        }
    }

    // The class is not in its own slot, or the thread has no node of this recording yet.
    @DontInline
    private static void askedOther(long current, int number, int id) {
        long begin = region;
        if (!isOf(begin, current) || current == begin) { // not recorded
            return;
        }
        long child = find(begin, current, CLASS, id);
        if (child == 0) {
            child = addClass(current, id);
        }
        if (!isChild(child, CLASS, id)) { // there is no space for it
            return;
        }
        long node = child << NODE_SHIFT;
        long count = MEMORY.getLong(null, node + (EMPTY + COUNT));
        prefer(current, id, child, count);
        MEMORY.putLong(null, node + (EMPTY + COUNT), count + number);
    }

    // The site is not in its own slot, or the method is not of this recording.
    @DontInline
    private static void siteOther(long own, int id) {
        long begin = region;
        if (!isOf(begin, own) || own == begin) { // not recorded
            return;
        }
        long child = find(begin, own, SITE, id);
        if (child == 0) {
            child = addSite(own, id);
            if (child == 0) {
                return;
            }
        } else {
            // A site has no count, so the table has that of such calls. Frequent sites get the slot.
            long table = begin + EMPTY + ((long) (MEMORY.getInt(null, own + (EMPTY + MORE)) & TABLE) << NODE_SHIFT);
            int misses = MEMORY.getInt(null, table + MISSES);
            MEMORY.putInt(null, table + MISSES, misses + 1);
            if ((misses & 7) == 0) MEMORY.putInt(null, own + (EMPTY + slotOf(id)), (int) child);
        }
        MEMORY.putLong(null, vmThread() + CURRENT, child << NODE_SHIFT);
    }

    // Whether this VM has virtual threads, and so Thread.currentCarrierThread, and may have made
    // some already.
    private static native boolean hasCarriers();

    // Sets HAS_CARRIERS.
    private static native void expectVirtualThreads();

    // Where the current node is in the VM's thread.
    private static native long currentOffset();

    // The address of a node without children, of no recording.
    private static native long emptyNode();

    // The place of the root of the calling thread's tree; `region`: the thread is not recorded; 0:
    // there is no recording.
    private static native long root(long thread);

    // Adds a child and returns its place / 64; without space, that of the node that stands for such
    // contexts; 0: the recording has ended.
    private static native long add(long parent, int id);

    // Adds a class of objects in the same way.
    private static native long addClass(long parent, int id);

    // Adds a site in the same way; without space, the parent stands for it.
    private static native long addSite(long parent, int id);

    // Adds a label in the same way.
    private static native long addLabel(long parent, int id);

    // The id of a label, negative if it is the one for all that are too many; 0: there is no recording,
    // or labels are not recorded.
    static native int labelId(String text);

    // What add() has returned for children without space; 0: the recording has ended.
    private static native long overflow(long parent);

    // `id` 0: no virtual thread is mounted.
    private static native void mounted(long thread, long id);
}
