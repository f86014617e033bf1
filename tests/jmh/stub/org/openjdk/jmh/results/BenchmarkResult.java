package org.openjdk.jmh.results;

import org.openjdk.jmh.infra.BenchmarkParams;

/** What jprof needs of JMH's class of this name. */
public class BenchmarkResult {
    private final BenchmarkParams params;

    public BenchmarkResult(BenchmarkParams params) {
        this.params = params;
    }

    public BenchmarkParams getParams() {
        return params;
    }
}
