package jprof.label;

/**
 * Decides what a profiler records of the program: from start() to stop(), on all threads. See
 * docs/TRIGGERS.md. With the option --nostart nothing is recorded before the first start().
 *
 * <p>Calls are recorded or left out while jprof callflow, trace, or calltree with probes records
 * them. Where samples are taken, with jprof scs or calltree --sample, the methods start and stop
 * these, as jprof ctl does.
 *
 * <p>Without a profiler all methods do nothing. They may be called by any thread, platform or
 * virtual, and any number of times.
 */
public final class Recording {
    private static final int START = 0;
    private static final int STOP = 1;
    private static final int MARK = 2;

    // Whether there is an agent to be told, which may change this later.
    private static boolean told = listens();

    private Recording() {}

    /** Records from here on. Other threads see it at their next call. */
    public static void start() {
        if (told) {
            tell(START, null);
        }
    }

    /** Records nothing from here on, until the next start(). */
    public static void stop() {
        if (told) {
            tell(STOP, null);
        }
    }

    /**
     * Marks this place: the calling context gets a label "mark TEXT", which counts how often it was
     * marked; a trace has it at this moment.
     */
    public static void mark(String text) {
        if (told && text != null) {
            tell(MARK, text);
        }
    }

    // The agent binds both methods when this class is loaded.
    private static boolean listens() {
        try {
            return agentListens();
        } catch (UnsatisfiedLinkError noAgent) {
            return false;
        }
    }

    private static native boolean agentListens();

    private static native void tell(int command, String text);
}
