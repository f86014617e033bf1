package java.lang;

/** What methods that are woven with locks call. */
public final class JprofLocks {
    private JprofLocks() {}

    public static void ask(Object lock) {}

    public static void release(Object lock) {}

    public static void enter(Object lock, long node) {}

    public static void leave(long node) {}

    public static void ends() {}
}
