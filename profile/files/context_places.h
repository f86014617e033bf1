/* Where the calling context of a thread is in the memory of a profiled process. A recorder outside
 * the process reads it there, also in the kernel while the thread runs; so this is C. */
#pragma once

#include <stdint.h>

/* All are distances in bytes unless they say otherwise. A node's index is its distance from the
 * first one divided by node_bytes. */
struct jprof_context_places {
  int64_t current_thread; /* from the thread pointer to a pointer to the thread's state, or to 0 */
  uint64_t nodes;         /* from that state to a pointer to the first node */
  uint64_t
      woven_current; /* from that state to a pointer to the place of the current node, or to 0 */
  uint64_t woven_origin; /* what is added to a place: an address */
  uint64_t top;          /* from that state to a pointer behind the current frame, if not woven */
  int64_t frame_node;    /* from there to the pointer to the current node */
  uint64_t node_bytes;   /* of a node */
  uint64_t most_bytes;   /* from the first node to the end of what nodes can have */
};
