package jprof.counters;

/** Metrics cannot be counted. The message is one line with the metric, the reason and the remedy. */
public final class CountersException extends Exception {
    private static final long serialVersionUID = 1L;

    CountersException(String message) {
        super(message);
    }
}
