package jprof.label;

/**
 * Gives what the calling method does from here on a label, such as "GET /cart". In the profile the
 * label is a level of the call tree: calls and time below it are those of work of this kind. See
 * docs/LABELS.md.
 *
 * <p>A label ends when the method that has set it returns or throws, when that method sets another
 * one, or when it clears it. A label that a callee sets is below that of its caller. A new thread has
 * no label.
 *
 * <p>Without a profiler all methods do nothing. They may be called by any thread, platform or
 * virtual.
 */
public final class Label implements AutoCloseable {
    // Whether set and clear have to tell the agent, which may change this later. Where methods count
    // themselves they do not: the agent then changes the code of both.
    private static boolean told = listens();

    private static final Label CLOSES = new Label("");

    private final String name;

    private Label(String name) {
        this.name = name;
    }

    /** Returns a label with this name, to be set often. */
    public static Label of(String name) {
        return new Label(name);
    }

    /** Sets the label with this name in the calling method. Null: the same as clear(). */
    public static void set(String name) {
        if (told) {
            tell(name);
        }
    }

    /** Sets this label in the calling method. */
    public void set() {
        set(name);
    }

    /** Ends the label that the calling method has set. */
    public static void clear() {
        if (told) {
            tell(null);
        }
    }

    /** Sets the label with this name, which ends at the end of a try statement with this resource. */
    public static Label open(String name) {
        set(name);
        return CLOSES;
    }

    /** Sets this label, which ends at the end of a try statement with this resource. */
    public Label open() {
        set(name);
        return this;
    }

    /** The same as clear(). */
    @Override
    public void close() {
        clear();
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

    private static native void tell(String name);
}
