package jprof.events;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * Writes the events of one thread. For generated code: {@link #begin} a record, put each of its
 * fields, {@link #commit} it. A packet is as in events/runtime/thread.c: a mapped file that is valid
 * whenever it has its name, also if the process is killed.
 */
public final class Writer {
    private static final int MAGIC = 0xc1fc1fc1;
    private static final int HEAD_BYTES = 104;
    private static final int TIMES = 32;
    private static final int TIME_END = 40;
    private static final int CONTENT_BITS = 48;
    private static final int PACKET_BITS = 56;
    private static final int DISCARDED = 64;
    private static final int MOST_TEXT_BYTES = 255;

    private static final ThreadLocal<Writer> OWN = ThreadLocal.withInitial(Writer::new);
    private static final VarHandle LONG =
            MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private final int number = Trace.THREADS.getAndIncrement();
    private final int thread = kernelId();
    private final MappedByteBuffer[] ring = new MappedByteBuffer[Trace.options.packets()];
    private MappedByteBuffer packet;
    private int at; // where the next byte of a record goes
    private int end; // of the last record
    private int limit;
    private int packets;
    private boolean full;
    private long time;
    private long discarded;
    private Statistics statistics;

    /** Begins a record with at most this many bytes of fields. Returns null if there is no room. */
    public static Writer begin(Event event, int mostBytes) {
        Writer own = OWN.get();
        if (own.limit - own.end < mostBytes + 12 && !own.makeRoom()) {
            return null;
        }
        own.time = System.nanoTime();
        own.packet.putLong(own.end, own.time);
        own.packet.putInt(own.end + 8, event.id);
        own.at = own.end + 12;
        return own;
    }

    /** Adds a value to the statistics of the calling thread. */
    public static void count(Event event, long value) {
        Writer own = OWN.get();
        try {
            if (own.statistics == null) {
                own.statistics = new Statistics(own.number, own.thread);
            }
            if (own.statistics.add(event.index, value)) {
                return;
            }
        } catch (IOException none) {
            own.full = true;
        }
        own.discard();
    }

    public void put(byte value) {
        packet.put(at, value);
        at += 1;
    }

    public void put(short value) {
        packet.putShort(at, value);
        at += 2;
    }

    public void put(int value) {
        packet.putInt(at, value);
        at += 4;
    }

    public void put(long value) {
        packet.putLong(at, value);
        at += 8;
    }

    public void put(double value) {
        packet.putDouble(at, value);
        at += 8;
    }

    /** Puts at most 255 bytes of UTF-8, without a part of a character. */
    public void put(String text) {
        int last = at + MOST_TEXT_BYTES;
        int length = text == null ? 0 : text.length();
        for (int i = 0; i < length; ++i) {
            char one = text.charAt(i);
            if (one != 0 && one < 128 && at < last) {
                packet.put(at++, (byte) one);
            } else if (one != 0) {
                putEncoded(text.substring(i), last);
                break;
            }
        }
        packet.put(at++, (byte) 0);
    }

    private void putEncoded(String text, int last) {
        byte[] bytes = text.replace("\0", "").getBytes(java.nio.charset.StandardCharsets.UTF_8);
        int size = Math.min(bytes.length, last - at);
        while (size > 0 && size < bytes.length && (bytes[size] & 0xc0) == 0x80) {
            --size;
        }
        packet.put(at, bytes, 0, size);
        at += size;
    }

    /** Makes the record part of the trace. */
    public void commit() {
        end = at;
        LONG.setRelease(packet, TIME_END, time);
        LONG.setRelease(packet, CONTENT_BITS, 8L * at);
    }

    private boolean makeRoom() {
        try {
            if (!full && nextPacket()) {
                return true;
            }
        } catch (IOException none) {
            // There are no more packets.
        }
        full = true;
        discard();
        return false;
    }

    private void discard() {
        ++discarded;
        Trace.DISCARDED.incrementAndGet();
        if (packet != null) {
            LONG.setRelease(packet, DISCARDED, discarded);
        }
    }

    private boolean nextPacket() throws IOException {
        Options options = Trace.options;
        int place = packets % options.packets();
        if (options.mode() == Options.Mode.NORMAL && packets == options.packets()) {
            return false;
        }
        boolean again = options.mode() == Options.Mode.WRAP && ring[place] != null;
        int file = again ? place : packets;
        Path hidden = Trace.directory.resolve(".thread-" + number + "-" + file);
        Path path = Trace.directory.resolve("thread-" + number + "-" + file);
        if (again) { // a reader that comes now finds the other packets
            Files.move(path, hidden, StandardCopyOption.ATOMIC_MOVE);
            packet = ring[place];
        } else {
            packet = MappedFile.make(hidden, options.packetBytes());
            ring[place] = options.mode() == Options.Mode.WRAP ? packet : null;
        }
        writeHead(options.packetBytes());
        Files.move(hidden, path, StandardCopyOption.ATOMIC_MOVE);
        ++packets;
        return true;
    }

    private void writeHead(int bytes) {
        long now = System.nanoTime();
        packet.putInt(0, MAGIC);
        ByteBuffer id = ByteBuffer.allocate(16);
        id.putLong(Trace.ID.getMostSignificantBits()).putLong(Trace.ID.getLeastSignificantBits());
        packet.put(4, id.array());
        packet.putLong(24, number);
        packet.putLong(TIMES, now);
        packet.putLong(TIME_END, now);
        packet.putLong(CONTENT_BITS, 8L * HEAD_BYTES);
        packet.putLong(PACKET_BITS, 8L * bytes);
        packet.putLong(DISCARDED, discarded);
        packet.putInt(72, (int) ProcessHandle.current().pid());
        packet.putInt(76, thread);
        packet.putLong(80, now);
        packet.put(88, MappedFile.name(Thread.currentThread().getName()));
        end = HEAD_BYTES;
        limit = bytes;
    }

    /** Returns 0 where there is no proc file system. */
    private static int kernelId() {
        try {
            Path task = Path.of("/proc/thread-self").toRealPath();
            return Integer.parseInt(task.getFileName().toString());
        } catch (IOException | NumberFormatException none) {
            return 0;
        }
    }
}
