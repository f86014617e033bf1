/* What the program in the kernel shares with the one that reads its records. It is C. */
#pragma once

#include "profile/files/context_places.h"

#define KERNEL_COUNTERS 4 /* most counters of a recording */
#define KERNEL_NESTING 8  /* most interrupts within each other whose duration is known */

/* The state of one processor. */
struct kernel_processor_state {
  uint64_t lost;                     /* records that found no room */
  uint64_t counted[KERNEL_COUNTERS]; /* values at the last dispatch */
  uint64_t begin[KERNEL_NESTING];    /* of the interrupts that it serves, the outermost first */
  uint32_t depth;                    /* the number of these */
  uint32_t reserved;
};
