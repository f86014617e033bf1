// The event of events.c as a tracepoint of lttng-ust.
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng_events.h"

#if !defined(JPROF_LTTNG_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define JPROF_LTTNG_EVENTS_H

#include <lttng/tracepoint.h>
#include <stdint.h>

LTTNG_UST_TRACEPOINT_EVENT(bench, work_done, LTTNG_UST_TP_ARGS(uint64_t, number, uint32_t, size),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, number, number)
                                                   lttng_ust_field_integer(uint32_t, size, size)))

#endif

#include <lttng/tracepoint-event.h>
