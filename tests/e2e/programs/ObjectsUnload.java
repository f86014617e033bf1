import java.io.InputStream;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.nio.charset.StandardCharsets;

/**
 * Loads a class under another name in each generation, allocates COUNT objects and one array of it,
 * and lets it be unloaded, so that the JVM uses the memory of classes again.
 */
public final class ObjectsUnload {
    static final int COUNT = 50;
    static final String TEMPLATE = "ObjectsUnload$Made0000";
    static Object kept;

    static final class Made0000 {
        long a, b;

        Made0000() {}
    }

    static final class Loader extends ClassLoader {
        Class<?> define(byte[] bytes, String name) {
            return defineClass(name, bytes, 0, bytes.length);
        }
    }

    /** The name has as many characters as the template's. */
    static byte[] renamed(byte[] bytes, String name) {
        byte[] from = TEMPLATE.getBytes(StandardCharsets.US_ASCII);
        byte[] to = name.getBytes(StandardCharsets.US_ASCII);
        byte[] made = bytes.clone();
        for (int at = 0; at + from.length <= made.length; ++at) {
            int same = 0;
            while (same < from.length && bytes[at + same] == from[same]) ++same;
            if (same == from.length) System.arraycopy(to, 0, made, at, to.length);
        }
        return made;
    }

    static void generation(byte[] bytes, int number) throws ReflectiveOperationException {
        String name = String.format("ObjectsUnload$Made%04d", number);
        Class<?> made = new Loader().define(renamed(bytes, name), name);
        Constructor<?> constructor = made.getDeclaredConstructor();
        constructor.setAccessible(true);
        for (int i = 0; i < COUNT; ++i) kept = constructor.newInstance();
        kept = Array.newInstance(made, 3);
        kept = null;
    }

    public static void main(String[] arguments) throws Exception {
        byte[] bytes;
        try (InputStream in = ObjectsUnload.class.getResourceAsStream(TEMPLATE + ".class")) {
            bytes = in.readAllBytes();
        }
        int generations = Integer.parseInt(arguments[0]);
        for (int number = 1; number <= generations; ++number) {
            generation(bytes, number);
            if (number % 10 == 0) System.gc();
        }
    }
}
