package jprof.counters;

import java.util.List;

/**
 * A set of metrics that a program counts of itself, as ptm/library/jprof_counters.h does for C. The
 * program opens a set once; each thread that counts starts the set for itself.
 *
 * <p>Names are those of <code>jprof events</code>: "time" (on-CPU nanoseconds), "dispatches", PAPI
 * presets ("PAPI_TOT_INS"), perf and native events ("perf::CYCLES", "page-faults").
 *
 * <p>All methods may be called by any thread. See docs/COUNTERS.md.
 */
public final class Counters implements AutoCloseable {
    /** The most metrics of a set. */
    public static final int MAX_METRICS = 8;

    private final List<String> names;
    private long address; // of the set in C; 0 when it is closed

    private Counters(List<String> names, long address) {
        this.names = names;
        this.address = address;
    }

    /**
     * Resolves the names, 1 to 8 without duplicates, and checks that each can be counted on this
     * machine.
     *
     * @throws CountersException if one is unknown or cannot be counted
     * @throws UnsatisfiedLinkError if the native library is not found
     */
    public static Counters open(String... names) throws CountersException {
        List<String> copied = List.of(names);
        synchronized (Counters.class) { // as jprof_counters_init demands
            long address = Native.init(copied.toArray(String[]::new));
            if (address == 0) {
                throw new CountersException(Native.error());
            }
            return new Counters(copied, address);
        }
    }

    /** Returns the names in the order in which values are read. */
    public List<String> names() {
        return names;
    }

    /**
     * Starts counting on the calling thread.
     *
     * @throws CountersException if the kernel refuses
     * @throws IllegalStateException if the set is closed, or the thread is a virtual one, whose
     *     counts would be those of the threads that carry it
     */
    public synchronized ThreadCounters start() throws CountersException {
        if (address == 0) {
            throw new IllegalStateException("the counters are closed");
        }
        if (Native.isVirtual(Thread.currentThread())) {
            throw new IllegalStateException("a virtual thread has no counts of its own");
        }
        long thread = Native.start(address);
        if (thread == 0) {
            throw new CountersException(Native.error());
        }
        return new ThreadCounters(thread, names.size());
    }

    /** Frees the set. Threads that have started it continue to count. */
    @Override
    public synchronized void close() {
        if (address != 0) {
            Native.terminate(address);
            address = 0;
        }
    }
}
