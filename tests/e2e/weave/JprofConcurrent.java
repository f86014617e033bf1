package java.lang;

/** What the methods of java.util.concurrent call that are woven with locks. */
public final class JprofConcurrent {
    private JprofConcurrent() {}

    public static void ask(Object lock, int what) {}

    public static void taken(int result, Object lock, int what) {}

    public static void failed(int what) {}

    public static void release(Object lock, int what) {}

    public static void parks() {}

    public static void reacquires() {}
}
