package java.lang;

/** Stands for the agent's class of this name. */
public final class JprofCounter {
    private JprofCounter() {}

    public static long enter(int id) {
        return id;
    }

    public static void exit(long node) {}

    public static void caught(long node, int id) {}

    public static void announce() {}

    public static Class<?> answer(Object loader, String name) {
        return null;
    }
}
