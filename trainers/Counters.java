package jprof.trainers;

/** The counters of the calling thread, for the true counts of a trainer's work. One thread only. */
final class Counters {
  private Counters() {}

  /**
   * Starts counting "raw:...+raw:..." (ptm/event_spec.h); returns how many. Ends the program if
   * they are not available.
   */
  static native int open(String metrics);

  static native void read(long[] values);

  /** Between these the program is traced if its instructions are counted so. */
  static native void begin();

  static native void end();
}
