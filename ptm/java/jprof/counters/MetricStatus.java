package jprof.counters;

/**
 * How a metric is counted.
 *
 * @param running the share of time on a counter; if it is below 1, the value is scaled
 * @param userOnly whether events in the kernel are not counted, because that is not permitted
 * @param byCall whether each read is a system call
 * @param failedReads how many reads returned the previous value
 */
public record MetricStatus(double running, boolean userOnly, boolean byCall, long failedReads) {}
