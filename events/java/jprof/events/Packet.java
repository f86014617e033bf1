package jprof.events;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * Reads a packet, a file thread-N-M of a trace in any language. {@link #hasNext} says whether there
 * is another record, which one of the generated readers reads: <code>OrderBeginRecord.read(packet)
 * </code> returns null if the record is one of another event. If that is so with every reader, the
 * rest of the packet cannot be read.
 */
public final class Packet {
    private static final int MAGIC = 0xc1fc1fc1;
    private static final int HEAD_BYTES = 104;
    private static final int ID = 8; // in a record, after the time
    private static final int HEADER_BYTES = 12; // of a record

    private final ByteBuffer bytes;
    private int record; // where the next one begins
    private boolean complete;

    private Packet(ByteBuffer bytes) {
        this.bytes = bytes;
    }

    /** Reads the packets of a trace, each thread's in the order of time. */
    public static List<Packet> of(Path trace) throws IOException {
        List<Packet> packets = new ArrayList<>();
        List<Path> files;
        try (Stream<Path> all = Files.list(trace)) {
            files = all.filter(one -> one.getFileName().toString().startsWith("thread-")).toList();
        }
        for (Path file : files) {
            packets.add(read(file));
        }
        packets.sort(Comparator.comparingLong(Packet::number).thenComparingLong(Packet::begin));
        return packets;
    }

    /** Reads a file. Throws IOException if it is no packet. */
    public static Packet read(Path file) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        if (bytes.limit() < HEAD_BYTES || bytes.getInt(0) != MAGIC) {
            throw new IOException(file + ": is not a packet of events");
        }
        long content = bytes.getLong(48) / 8;
        if (content < HEAD_BYTES || content > bytes.limit()) {
            throw new IOException(file + ": has another size than it says");
        }
        Packet packet = new Packet(bytes.limit((int) content));
        packet.record = HEAD_BYTES;
        return packet;
    }

    /** Returns the number of the thread, which no other thread of the trace has. */
    public long number() {
        return bytes.getLong(24);
    }

    /** Returns the time at which the packet begins, in ticks of the trace's clock. */
    public long begin() {
        return bytes.getLong(32);
    }

    /** Returns how many events the thread has discarded until the end of the packet. */
    public long discarded() {
        return bytes.getLong(64);
    }

    /** Returns the process id. */
    public int process() {
        return bytes.getInt(72);
    }

    /** Returns the kernel's id of the thread, or 0 if it is unknown. */
    public int thread() {
        return bytes.getInt(76);
    }

    /** Returns whether there is another record. */
    public boolean hasNext() {
        return record < bytes.limit();
    }

    /** Begins to read a record, if it is of this event. For generated code, as what follows. */
    public boolean begin(int id) {
        complete = true;
        if (bytes.limit() - record < HEADER_BYTES || bytes.getInt(record + ID) != id) {
            return false;
        }
        bytes.position(record + HEADER_BYTES);
        return true;
    }

    public long ticks() {
        return bytes.getLong(record);
    }

    /** Ends a record. Returns whether it was complete; if not, it is still the next one. */
    public boolean end() {
        if (complete) {
            record = bytes.position();
        }
        return complete;
    }

    public byte getByte() {
        return has(1) ? bytes.get() : 0;
    }

    public short getShort() {
        return has(2) ? bytes.getShort() : 0;
    }

    public int getInt() {
        return has(4) ? bytes.getInt() : 0;
    }

    public long getLong() {
        return has(8) ? bytes.getLong() : 0;
    }

    public double getDouble() {
        return has(8) ? bytes.getDouble() : 0;
    }

    public String getText() {
        int from = bytes.position();
        while (has(1)) {
            if (bytes.get() == 0) {
                int size = bytes.position() - 1 - from;
                return new String(bytes.array(), from, size, StandardCharsets.UTF_8);
            }
        }
        return "";
    }

    private boolean has(int size) {
        complete &= bytes.remaining() >= size;
        return complete;
    }
}
