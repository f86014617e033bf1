package org.openjdk.jmh.profile;

/** What jprof needs of JMH's interface of this name. */
public interface Profiler {
    String getDescription();
}
