package org.openjdk.jmh.results;

/** What jprof needs of JMH's class of this name. */
public class ScalarResult extends Result<ScalarResult> {
    private final double value;
    private final String unit;

    public ScalarResult(String label, double value, String unit, AggregationPolicy policy) {
        super(label);
        this.value = value;
        this.unit = unit;
    }

    @Override
    public String toString() {
        return value + " " + unit;
    }
}
