package jprof.trainers;

/** The calling thread's own counters, so that a trainer knows what its work truly counts. One thread only. */
final class Counters {
  private Counters() {}

  /** Starts counting "raw:...+raw:..." (ptm/event_spec.h); returns how many. Ends the program if they cannot be had. */
  static native int open(String metrics);

  static native void read(long[] values);
}
