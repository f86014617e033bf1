package jprof.counters;

import java.lang.reflect.Method;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;

/** What ptm/java/counters_java.cc defines: each method is one call of the library for C. */
final class Native {
    private static final String LIBRARY = "jprof_counters_java";
    private static final Method IS_VIRTUAL = isVirtual();

    static {
        load();
    }

    private Native() {}

    /** Returns the address of a set, or 0; then {@link #error} says why. */
    static native long init(String[] names);

    static native String error();

    /** Returns the address of the calling thread's counters, or 0. */
    static native long start(long set);

    static native long readOne(long thread);

    static native void readTwo(long thread, long[] values);

    static native void readAll(long thread, long[] values, int size);

    /** Sets running, user_only, by_call and failed_reads. */
    static native void status(long thread, int metric, double[] values);

    static native void stop(long thread);

    static native void terminate(long set);

    static boolean isVirtual(Thread thread) {
        try {
            return IS_VIRTUAL != null && (boolean) IS_VIRTUAL.invoke(thread);
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** JDK 17 has no virtual threads. */
    private static Method isVirtual() {
        try {
            return Thread.class.getMethod("isVirtual");
        } catch (NoSuchMethodException none) {
            return null;
        }
    }

    /**
     * Loads the library that the property jprof.counters.native names, else that of the
     * installation or build that the jar is in, else one where the JVM looks for native code.
     */
    private static void load() {
        String named = System.getProperty("jprof.counters.native");
        if (named != null) {
            System.load(Path.of(named).toAbsolutePath().toString());
            return;
        }
        Path share = folderOfJar();
        for (String place : new String[] {"../../lib/jprof", "../../lib"}) {
            Path file = share == null ? null : share.resolve(place + "/lib" + LIBRARY + ".so");
            if (file != null && Files.exists(file)) {
                System.load(file.normalize().toString());
                return;
            }
        }
        System.loadLibrary(LIBRARY);
    }

    private static Path folderOfJar() {
        CodeSource source = Native.class.getProtectionDomain().getCodeSource();
        if (source == null || source.getLocation() == null) {
            return null;
        }
        try {
            return Path.of(URI.create(source.getLocation().toString())).toRealPath().getParent();
        } catch (java.io.IOException | RuntimeException noFile) {
            return null;
        }
    }
}
