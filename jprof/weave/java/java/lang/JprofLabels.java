package java.lang;

import jdk.internal.misc.Unsafe;

/**
 * The ids of labels by their texts, which JprofCounter.label looks up. An object is a table of one
 * recording. Its entries are only added, so that they are found without a lock.
 */
final class JprofLabels {
    private static final Unsafe MEMORY = Unsafe.getUnsafe();
    // The hash that a string keeps; 0: it is not known yet.
    private static final long HASH = MEMORY.objectFieldOffset(String.class, "hash");
    private static final int FIRST_SIZE = 64, LONGEST = 500;

    private static volatile JprofLabels table = new JprofLabels(0, FIRST_SIZE);

    private final long region; // of the recording
    private final String[] texts; // open addressing, at most half full
    private final int[] ids;
    private int count;
    private int others; // the id of the label for those that are too many; 0: there is space

    private JprofLabels(long region, int size) {
        this.region = region;
        texts = new String[size];
        ids = new int[size];
    }

    /** The id of a text that has been found before as this very object; 0: it has not. */
    static int find(long region, String text) {
        JprofLabels known = table;
        int hash = MEMORY.getInt(text, HASH);
        if (hash == 0 || known.region != region) {
            return 0;
        }
        String[] texts = known.texts;
        int last = texts.length - 1;
        for (int at = hash & last;; at = at + 1 & last) {
            String other = texts[at];
            if (other == text) {
                return known.ids[at];
            }
            if (other == null) {
                return 0;
            }
        }
    }

    /** The same for a text that may be another object. It is added if it is new. */
    static int findOrAdd(long region, String text) {
        if (text.length() > LONGEST) {
            text = text.substring(0, LONGEST);
        }
        JprofLabels known = table;
        int id = known.region == region ? known.idOf(text) : 0;
        return id != 0 ? id : add(region, text);
    }

    /** The text of an object that is used as a label. Nothing that its method throws gets out. */
    static String textOf(Object object) {
        boolean hasText =
                object == null
                        || object instanceof CharSequence
                        || object instanceof Enum
                        || object instanceof Number
                        || object instanceof Character
                        || object instanceof Boolean;
        try {
            String text = hasText ? String.valueOf(object) : object.getClass().getName();
            return text != null ? text : "null";
        } catch (Throwable failed) { // by the program's code, or for lack of memory
            return "(no text)";
        }
    }

    private int idOf(String text) {
        int last = texts.length - 1;
        for (int at = text.hashCode() & last;; at = at + 1 & last) {
            String other = texts[at];
            if (other == null) {
                return others;
            }
            if (other.equals(text)) {
                return ids[at];
            }
        }
    }

    private static synchronized int add(long region, String text) {
        JprofLabels known = table;
        if (known.region != region) {
            known = new JprofLabels(region, FIRST_SIZE);
        }
        int id = known.idOf(text);
        if (id != 0) {
            return id;
        }
        id = JprofCounter.labelId(text);
        if (id < 0) {
            known.others = -id;
            table = known;
            return -id;
        }
        if (id > 0) {
            table = known.count * 2 < known.texts.length ? known : known.larger();
            table.put(text, id);
        }
        return id;
    }

    private JprofLabels larger() {
        JprofLabels larger = new JprofLabels(region, texts.length * 2);
        for (int at = 0; at < texts.length; ++at) {
            if (texts[at] != null) {
                larger.put(texts[at], ids[at]);
            }
        }
        return larger;
    }

    private void put(String text, int id) {
        int last = texts.length - 1;
        int at = text.hashCode() & last;
        while (texts[at] != null) {
            at = at + 1 & last;
        }
        ids[at] = id;
        MEMORY.storeFence();
        texts[at] = text;
        ++count;
    }
}
