package jprof.events;

import java.io.IOException;
import marks_events.MarksEvents;

/** Texts at points in time, without a specification of the program. See docs/EVENTS.md. */
public final class Mark {
    private static final Options CONTINUOUS =
            new Options(Options.Mode.CONTINUOUS, 64 << 10, 8, true);
    private static volatile boolean first = true;

    private Mark() {}

    /**
     * Writes the event process::marks::mark, whose text is cut off after 255 bytes of UTF-8. If no
     * trace has been opened, the first call in a process opens that of the environment variable
     * JPROF_EVENTS_FOLDER. Returns whether a trace is open.
     */
    public static boolean mark(String text) {
        if (first) {
            open();
        }
        if (!Trace.isOpen()) {
            return false;
        }
        MarksEvents.Marks.mark(text);
        return true;
    }

    private static synchronized void open() {
        if (first && !Trace.isOpen()) {
            try {
                Trace.openFromEnvironment(CONTINUOUS);
            } catch (IOException | RuntimeException none) {
                // The program goes on without a trace.
            }
        }
        first = false;
    }
}
