package org.openjdk.jmh.results;

/** What jprof needs of JMH's class of this name. */
public abstract class Result<T extends Result<T>> {
    private final String label;

    protected Result(String label) {
        this.label = label;
    }

    public String getLabel() {
        return label;
    }
}
