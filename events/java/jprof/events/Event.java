package jprof.events;

/** One event of a specification. Generated code makes it; {@link Trace} sets its level. */
public final class Event {
    /** The levels, which can be combined. */
    public static final int OFF = 0;
    public static final int STATISTICS = 1;
    public static final int LOG = 2;

    final String name;
    final String metadata;
    final int id;
    final int version;
    final int initialLevel;
    /** Where its statistics are; negative until it is registered, or if another event has its id. */
    int index = -1;

    private volatile int level;

    /** Makes an event that is off. For generated code. */
    public Event(String name, int version, int id, int initialLevel, String metadata) {
        this.name = name;
        this.version = version;
        this.id = id;
        this.initialLevel = initialLevel;
        this.metadata = metadata;
    }

    /** Returns the level, which any thread may change at any time. */
    public int level() {
        return level;
    }

    void setLevel(int newLevel) {
        level = index < 0 ? OFF : newLevel;
    }
}
