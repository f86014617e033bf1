package java.lang;

/** Stands for the agent's class of this name. */
public final class JprofCounter {
    private JprofCounter() {}

    public static long enter(int id) {
        return id;
    }

    public static void exit(long node) {}

    public static void leaf(int id) {}

    public static void caught(long node, int id) {}

    public static long current() {
        return 0;
    }

    public static void site(long own, int id) {}

    public static void asked(int id) {}

    public static void asked(int number, int id) {}

    public static void askedBox(int value, int id) {}

    public static void askedBox(long value, int id) {}

    public static void announce() {}

    public static Class<?> answer(Object loader, String name) {
        return null;
    }
}
