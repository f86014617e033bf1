package org.openjdk.jmh.results;

/** What jprof needs of JMH's enumeration of this name. */
public enum AggregationPolicy { AVG }
