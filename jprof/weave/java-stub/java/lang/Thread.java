package java.lang;

/**
 * Declares what JprofCounter uses, so that it can be compiled by a JDK whose Thread has no
 * currentCarrierThread (before 19). Not part of the result.
 */
public class Thread {
    private Thread() {}

    public static native Thread currentThread();

    static native Thread currentCarrierThread();
}
