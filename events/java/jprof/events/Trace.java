package jprof.events;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;

/**
 * The trace of this process's Java events, in Common Trace Format 1.8: that of libjprof-events, but
 * with the clock of System.nanoTime. See docs/EVENTS.md.
 *
 * <p>All methods may be called by any thread.
 */
public final class Trace {
    private static final List<Provider> PROVIDERS = new ArrayList<>();
    private static final Map<Integer, Event> EVENTS = new HashMap<>();
    private static final String FOLDER = "JPROF_EVENTS_FOLDER";
    private static boolean closed;
    private static volatile boolean isOpen;

    static final UUID ID = UUID.randomUUID();
    static final AtomicInteger THREADS = new AtomicInteger();
    static final AtomicLong DISCARDED = new AtomicLong();
    static volatile int epoch = 1;
    static volatile Path directory;
    static volatile Options options;

    private Trace() {}

    /**
     * Creates the directory of a trace, and sets each event to the level of its specification. A
     * process can open one trace in its life.
     */
    public static synchronized void open(Path newDirectory, Options newOptions) throws IOException {
        checkIsFirst();
        Files.createDirectory(newDirectory);
        write(newDirectory.toRealPath(), newOptions);
    }

    /**
     * Opens the trace of this process in the folder that the environment variable
     * JPROF_EVENTS_FOLDER names.
     *
     * @throws IllegalStateException if it is not set, or if a trace has been opened before
     */
    public static synchronized void openFromEnvironment(Options newOptions) throws IOException {
        checkIsFirst();
        String folder = System.getenv(FOLDER);
        if (folder == null || folder.isEmpty()) {
            throw new IllegalStateException(FOLDER + " is not set");
        }
        write(makeOwnDirectory(folder).toRealPath(), newOptions);
    }

    private static void checkIsFirst() {
        if (directory != null) {
            throw new IllegalStateException("this process has opened a trace before");
        }
    }

    /** Another process, or libjprof-events in this one, may have used the number before. */
    private static Path makeOwnDirectory(String folder) throws IOException {
        String pid = Long.toString(ProcessHandle.current().pid());
        for (int used = 0; ; ++used) {
            try {
                return Files.createDirectory(Path.of(folder, used == 0 ? pid : pid + "-" + used));
            } catch (FileAlreadyExistsException exists) {
                if (used == 99) {
                    throw exists;
                }
            }
        }
    }

    private static void write(Path absolute, Options newOptions) throws IOException {
        Files.createDirectory(absolute.resolve("statistics"));
        Files.createDirectory(absolute.resolve("specifications"));
        options = newOptions;
        directory = absolute;
        writeMetadata();
        PROVIDERS.forEach(Trace::setInitialLevels);
        isOpen = true;
        if (!newOptions.noControl()) {
            Control.begin(absolute);
        }
    }

    /** Opens a trace with the default options. */
    public static void open(Path newDirectory) throws IOException {
        open(newDirectory, new Options());
    }

    static boolean isOpen() {
        return isOpen;
    }

    /** Sets all events to the level off. */
    public static synchronized void close() {
        if (!isOpen) {
            return;
        }
        isOpen = false;
        closed = true;
        Control.end();
        EVENTS.values().forEach(event -> event.setLevel(Event.OFF));
        try {
            writeMetadata();
        } catch (IOException full) {
            // The first ones remain.
        }
    }

    /**
     * Sets the events with this name to a level, and returns how many these are. The pattern is
     * layer::class::event, where * stands for any text. Events of classes that are initialised
     * later have the level of their specification.
     */
    public static synchronized int setLevel(String pattern, int level) {
        if (level < 0 || level > (Event.STATISTICS | Event.LOG)) {
            throw new IllegalArgumentException("not a combination of Event.STATISTICS and LOG");
        }
        if (!isOpen) {
            throw new IllegalStateException("no trace is open");
        }
        Pattern regular = Pattern.compile("\\Q" + pattern.replace("*", "\\E.*\\Q") + "\\E");
        int count = 0;
        for (Event event : EVENTS.values()) {
            if (regular.matcher(event.name).matches()) {
                event.setLevel(level);
                ++count;
            }
        }
        return count;
    }

    /** Begins all statistics again from 0. */
    public static synchronized void reset() throws IOException {
        ++epoch;
        if (directory != null) {
            writeMetadata();
        }
    }

    /** Returns the number of events that found no room. */
    public static long discarded() {
        return DISCARDED.get();
    }

    /**
     * Adds the events of a specification. For generated code, which calls it when its class is
     * initialised. If an event has the id of another one, it stays off.
     */
    public static synchronized void register(Provider provider) {
        for (Event event : provider.events()) {
            if (EVENTS.putIfAbsent(event.id, event) == null) {
                event.index = EVENTS.size() - 1;
            }
        }
        PROVIDERS.add(provider);
        if (!isOpen) {
            return;
        }
        try {
            writeMetadata();
            setInitialLevels(provider);
        } catch (IOException full) {
            // Readers would not know its events: they stay off.
        }
    }

    /** Returns level, version and name of each event, one on a line. */
    static synchronized String levels() {
        StringBuilder lines = new StringBuilder();
        for (Event event : inOrder()) {
            lines.append(String.format("event %d %d %s%n", event.level(), event.version, event.name));
        }
        return lines.toString();
    }

    private static List<Event> inOrder() {
        List<Event> sorted = new ArrayList<>(EVENTS.values());
        sorted.sort((a, b) -> Integer.compare(a.index, b.index));
        return sorted;
    }

    private static void setInitialLevels(Provider provider) {
        for (Event event : provider.events()) {
            event.setLevel(event.initialLevel);
        }
    }

    private static void writeMetadata() throws IOException {
        Map<String, String> specifications = new HashMap<>(); // several versions may be loaded
        for (Provider provider : PROVIDERS) {
            String name = provider.name();
            for (int number = 1; specifications.containsKey(name); ++number) {
                if (specifications.get(name).equals(provider.specification())) {
                    break;
                }
                name = provider.name() + "-" + number;
            }
            specifications.put(name, provider.specification());
            write("specifications/" + name + ".xml", provider.specification());
        }
        StringBuilder names = new StringBuilder("epoch " + epoch + "\n");
        StringBuilder metadata = new StringBuilder(Metadata.head(ID, closed));
        for (Event event : inOrder()) {
            names.append(String.format("%08x %s%n", event.id, event.name));
            metadata.append('\n').append(event.metadata);
        }
        write("statistics/events", names.toString());
        write("metadata", metadata.toString());
    }

    /** Readers find all of a file or none of it. */
    private static void write(String name, String text) throws IOException {
        Path hidden = directory.resolve(".unfinished");
        Files.writeString(hidden, text);
        Files.move(hidden, directory.resolve(name), StandardCopyOption.ATOMIC_MOVE);
    }
}
