import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.nio.charset.StandardCharsets;

/**
 * Loads a class under another name in each generation, allocates COUNT objects and one array of it,
 * and lets it be unloaded, so that the JVM uses the memory of classes again. It does the same with
 * classes of one name: the objects of every third have 64 bytes, the others 32. A class is then where
 * one of another size was, ten generations before.
 */
public final class ObjectsUnload {
    static final int COUNT = 50;
    static final String TEMPLATE = "ObjectsUnload$Made0000", WIDE = "ObjectsUnload$Wide0000";
    static final String SAME = "ObjectsUnload$Same0000";
    static Object kept;

    static final class Made0000 {
        long a, b;

        Made0000() {}
    }

    static final class Wide0000 {
        long a, b, c, d, e, f;

        Wide0000() {}
    }

    static final class Loader extends ClassLoader {
        Class<?> define(byte[] bytes, String name) {
            return defineClass(name, bytes, 0, bytes.length);
        }
    }

    static byte[] bytesOf(String name) throws IOException {
        try (InputStream in = ObjectsUnload.class.getResourceAsStream(name + ".class")) {
            return in.readAllBytes();
        }
    }

    /** The name has as many characters as the template's. */
    static byte[] renamed(byte[] bytes, String template, String name) {
        byte[] from = template.getBytes(StandardCharsets.US_ASCII);
        byte[] to = name.getBytes(StandardCharsets.US_ASCII);
        byte[] made = bytes.clone();
        for (int at = 0; at + from.length <= made.length; ++at) {
            int same = 0;
            while (same < from.length && bytes[at + same] == from[same]) ++same;
            if (same == from.length) System.arraycopy(to, 0, made, at, to.length);
        }
        return made;
    }

    static Class<?> allocate(byte[] bytes, String name) throws ReflectiveOperationException {
        Class<?> made = new Loader().define(bytes, name);
        Constructor<?> constructor = made.getDeclaredConstructor();
        constructor.setAccessible(true);
        for (int i = 0; i < COUNT; ++i) kept = constructor.newInstance();
        return made;
    }

    public static void main(String[] arguments) throws Exception {
        byte[] made = bytesOf(TEMPLATE);
        byte[][] same = {renamed(made, TEMPLATE, SAME), renamed(bytesOf(WIDE), WIDE, SAME)};
        int generations = Integer.parseInt(arguments[0]);
        for (int number = 1; number <= generations; ++number) {
            String name = String.format("ObjectsUnload$Made%04d", number);
            kept = Array.newInstance(allocate(renamed(made, TEMPLATE, name), name), 3);
            kept = null;
            allocate(same[number % 3 == 0 ? 1 : 0], SAME);
            kept = null;
            if (number % 10 == 0) System.gc();
        }
    }
}
