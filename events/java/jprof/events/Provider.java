package jprof.events;

/** The events of one specification, and its text, which each trace contains. For generated code. */
public record Provider(String name, String specification, Event... events) {}
