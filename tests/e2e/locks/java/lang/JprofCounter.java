package java.lang;

/** Stands for the class of jprof/weave/java: gives each id one node. */
final class JprofCounter {
    static final int INDEX_BITS = 28;
    static final long NONE = 1L << 62;
    static final long NODES = JprofHeld.MEMORY.allocateMemory(1 << 20);

    static long region = 1L << 34; // NONE: the recording has ended
    static boolean recorded = true; // whether the thread is
    static long takenBack;

    private JprofCounter() {}

    static long count(int id) {
        return recorded && id != 0 ? region + (id << 6) : 0;
    }

    static void takeBack(long node) {
        ++takenBack;
    }

    static long addressOf(long place) {
        return NODES + (place & (1 << 20) - 1);
    }

    static long indexOf(long place) {
        return place - region >> 6;
    }
}
