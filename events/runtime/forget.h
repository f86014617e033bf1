/* For a library that contains the runtime and is to leave a process, such as an agent that is
 * detached. It is not part of libjprof-events. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Makes the process able to open another trace: unmaps the packets of all threads, and forgets
 * their statistics. Requires that no thread writes an event or asks for statistics meanwhile. Does
 * nothing if no trace has been closed. */
void jprof_events_forget(void);

#ifdef __cplusplus
}
#endif
