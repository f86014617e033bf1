/* Labels for C and C++: gives what the calling function does from here on a name, such as
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
