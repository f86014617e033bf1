package org.openjdk.jmh.results;

/** What jprof needs of JMH's class of this name. */
public class TextResult extends Result<TextResult> {
    private final String text;

    public TextResult(String text, String label) {
        super(label);
        this.text = text;
    }

    @Override
    public String toString() {
        return text;
    }
}
