/* What C and C++ programs tell jprof while it records them: labels, and which time to record.
 *
 * Labels: gives what the calling function does from here on a name, such as
 * "GET /cart". In the profile the label is a level of the call tree: calls and time below it are
 * those of work of this kind. See docs/LABELS.md.
 *
 * The functions have an effect in programs whose functions have hooks or sleds (docs/HOOKS.md)
 * while jprof records them. Without jprof they cost a test. Nothing has to be linked.
 *
 * A label ends when the function that has set it returns, sets another one, or calls
 * jprof_label_end. A label that a callee sets is below that of its caller. A new thread has none.
 * A function that the compiler inlines keeps its own hooks, and so its own label; with sleds its
 * label is that of the function that it is inlined into.
 */
#ifndef JPROF_LABEL_H
#define JPROF_LABEL_H

#ifdef __cplusplus
extern "C" {
#endif

/* The library of jprof has this function while a program is recorded. Null ends the label. */
void jprof_label_set(const char* text) __attribute__((weak));

/* The same, see below. */
void jprof_recording_start(void) __attribute__((weak));
void jprof_recording_stop(void) __attribute__((weak));
void jprof_recording_mark(const char* text) __attribute__((weak));

#ifdef __cplusplus
}
#endif

/* Sets the label with this text, in UTF-8, of which 500 bytes are kept. */
__attribute__((no_instrument_function, always_inline, unused)) static inline void jprof_label(
    const char* text) {
  if (jprof_label_set) jprof_label_set(text);
}

/* Ends the label that the calling function has set. */
__attribute__((no_instrument_function, always_inline, unused)) static inline void jprof_label_end(
    void) {
  if (jprof_label_set) jprof_label_set(0);
}

/* Start and stop the recording of this process, on all its threads (docs/TRIGGERS.md). They have an
 * effect while jprof records functions with hooks or sleds, and in a JVM while it records calls by
 * probes, or takes samples. With --nostart nothing is recorded before the first start. */
__attribute__((no_instrument_function, always_inline, unused)) static inline void jprof_start(
    void) {
  if (jprof_recording_start) jprof_recording_start();
}
__attribute__((no_instrument_function, always_inline, unused)) static inline void jprof_stop(void) {
  if (jprof_recording_stop) jprof_recording_stop();
}

/* Marks this place: the calling context gets a label "mark TEXT", which counts how often it was
 * marked; a trace has it at this moment. */
__attribute__((no_instrument_function, always_inline, unused)) static inline void jprof_mark_here(
    const char* text) {
  if (jprof_recording_mark) jprof_recording_mark(text);
}

#ifdef __cplusplus
/* Sets a label that ends at the end of a block. */
namespace jprof {
class Label {
 public:
  __attribute__((no_instrument_function)) explicit Label(const char* text) { jprof_label(text); }
  __attribute__((no_instrument_function)) ~Label() { jprof_label_end(); }
  Label(const Label&) = delete;
  Label& operator=(const Label&) = delete;
};
} /* namespace jprof */
#endif

#endif
