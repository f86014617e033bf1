package jprof.events;

/**
 * How a trace is written.
 *
 * @param mode what happens when a thread has filled its packets
 * @param packetBytes the size of a packet, a multiple of 64 KiB
 * @param packets how many each thread has, at least 2
 * @param noControl whether there is no thread that serves <code>jprof ctl</code>
 */
public record Options(Mode mode, int packetBytes, int packets, boolean noControl) {
    /** What happens when a thread has filled its packets. */
    public enum Mode {
        /** Later events are discarded and counted. */
        NORMAL,
        /** The oldest packet is overwritten. */
        WRAP,
        /** There is always another packet. */
        CONTINUOUS,
    }

    /** Eight packets of 256 KiB in the mode normal. */
    public Options() {
        this(Mode.NORMAL, 256 << 10, 8);
    }

    /** Options of a trace that <code>jprof ctl</code> can control. */
    public Options(Mode mode, int packetBytes, int packets) {
        this(mode, packetBytes, packets, false);
    }

    public Options {
        if (packetBytes <= 0 || packetBytes % (64 << 10) != 0 || packetBytes > 1 << 30) {
            throw new IllegalArgumentException("packetBytes must be a multiple of 64 KiB, to 1 GiB");
        }
        if (packets < 2 || packets > 100000) {
            throw new IllegalArgumentException("packets must be from 2 to 100000");
        }
    }
}
