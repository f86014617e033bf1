package jprof.events;

import java.io.IOException;
import java.nio.MappedByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** The statistics of one thread, in a file as that of events/runtime/statistics.c. */
final class Statistics {
    private static final int HEAD_BYTES = 64;
    private static final int EVENT_BYTES = 544;
    private static final int HISTOGRAM = 32;
    private static final int COUNT = 256; // of events in a process; others are discarded

    private final MappedByteBuffer file;
    private int epoch;

    Statistics(int number, int thread) throws IOException {
        Path folder = Trace.directory.resolve("statistics");
        Path hidden = folder.resolve(".thread-" + number);
        file = MappedFile.make(hidden, HEAD_BYTES + COUNT * EVENT_BYTES);
        file.put(0, "JPEVSTA1".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
        file.putInt(8, (int) ProcessHandle.current().pid());
        file.putInt(12, thread);
        file.putInt(20, COUNT);
        file.put(24, MappedFile.name(Thread.currentThread().getName()));
        begin(Trace.epoch);
        Files.move(hidden, folder.resolve("thread-" + number), StandardCopyOption.ATOMIC_MOVE);
    }

    private void begin(int newEpoch) {
        byte[] zeros = new byte[EVENT_BYTES];
        for (int at = HEAD_BYTES; at < file.capacity(); at += EVENT_BYTES) {
            file.put(at, zeros);
            file.putLong(at + 8, Long.MAX_VALUE);
            file.putLong(at + 16, Long.MIN_VALUE);
        }
        epoch = newEpoch;
        file.putInt(16, epoch);
    }

    /** Returns whether there was room for the event. */
    boolean add(int index, long value) {
        if (epoch != Trace.epoch) {
            begin(Trace.epoch);
        }
        if (index >= COUNT) {
            return false;
        }
        int at = HEAD_BYTES + index * EVENT_BYTES;
        file.putLong(at, file.getLong(at) + value);
        if (value < file.getLong(at + 8)) {
            file.putLong(at + 8, value);
        }
        if (value > file.getLong(at + 16)) {
            file.putLong(at + 16, value);
        }
        int bucket = at + HISTOGRAM + 8 * (64 - Long.numberOfLeadingZeros(Math.max(value, 0)));
        file.putLong(bucket, file.getLong(bucket) + 1);
        return true;
    }
}
