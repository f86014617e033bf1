package jprof.counters;

/**
 * The counts of one thread, the one that called {@link Counters#start}. Values count from then on
 * and never decrease. Only that thread may call the methods: others get an IllegalStateException,
 * and so does the thread after {@link #close}.
 */
public final class ThreadCounters implements AutoCloseable {
    private final Thread owner = Thread.currentThread();
    private final int size;
    private long address; // of the counters in C; 0 when they are closed

    ThreadCounters(long address, int size) {
        this.address = address;
        this.size = size;
    }

    /** Returns the first metric. */
    public long readOne() {
        return Native.readOne(checked());
    }

    /** Reads the first two metrics; the second is 0 if there is one metric only. */
    public void readTwo(long[] values) {
        Native.readTwo(checked(values, 2), values);
    }

    /** Reads all metrics in the order of the names. Other elements stay as they are. */
    public void readAll(long[] values) {
        Native.readAll(checked(values, size), values, size);
    }

    /** Returns how the metric with this index, from 0, is counted. */
    public MetricStatus status(int metric) {
        if (metric < 0 || metric >= size) {
            throw new IndexOutOfBoundsException("there is no metric " + metric + " of " + size);
        }
        double[] values = new double[4];
        Native.status(checked(), metric, values);
        return new MetricStatus(values[0], values[1] != 0, values[2] != 0, (long) values[3]);
    }

    /** Ends counting on this thread. */
    public void stop() {
        close();
    }

    /** Ends counting on this thread. Does nothing if it has ended before. */
    @Override
    public void close() {
        if (Thread.currentThread() != owner) {
            throw otherThread();
        }
        if (address != 0) {
            Native.stop(address);
            address = 0;
        }
    }

    private long checked() {
        if (Thread.currentThread() != owner) {
            throw otherThread();
        }
        if (address == 0) {
            throw new IllegalStateException("the counters of this thread have been stopped");
        }
        return address;
    }

    private long checked(long[] values, int least) {
        if (values.length < least) {
            throw new IllegalArgumentException(
                    "an array of " + values.length + " elements; " + least + " are needed");
        }
        return checked();
    }

    private IllegalStateException otherThread() {
        return new IllegalStateException("these are the counters of another thread: " + owner);
    }
}
