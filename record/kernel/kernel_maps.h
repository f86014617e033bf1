/* What the programs in the kernel share: the structures of the kernel that they read, their maps,
 * and how they write a record. It is C for the kernel's virtual machine. */
#pragma once

// The first ones define the types of the others.
// clang-format off
#include <stdint.h>
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include <kernel_layout.h>
#include "record/kernel/kernel_shared.h"
// clang-format on

#define READS __attribute__((preserve_access_index))
#define ALWAYS static __attribute__((always_inline))

// What is read of the kernel's structures.
struct mm_struct;
struct thread_struct {
#if defined(__TARGET_ARCH_arm64)
  struct {
    unsigned long tp_value;
  } uw;
#else
  unsigned long fsbase;
#endif
} READS;
struct sched_entity {
  uint64_t sum_exec_runtime, exec_start;
} READS;
struct task_struct {
  int pid, tgid;
  char comm[16];
  struct mm_struct* mm;
  struct sched_entity se;
  unsigned long nvcsw, nivcsw;
  struct thread_struct thread;
} READS;
struct qstr {
  const unsigned char* name;
} READS;
struct dentry {
  struct qstr d_name;
} READS;
struct path {
  struct dentry* dentry;
} READS;
struct file {
  struct path f_path;
} READS;
struct vm_area_struct {
  unsigned long vm_start, vm_end, vm_flags, vm_pgoff;
  struct file* vm_file;
} READS;

// Set before it is loaded.
const volatile uint32_t all_processes = 0;  // 0: calls, faults and maps of the targets only
const volatile uint32_t counter_count = 0;
const volatile uint32_t counts_only = 0;  // counts interrupts by thread and writes no records

struct ring {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 4096);  // replaced when it is loaded
};
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
  __uint(max_entries, 1);  // replaced by the number of processors
  __type(key, uint32_t);
  __array(values, struct ring);
} rings SEC(".maps");

// The processes that are recorded, by id.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 65536);
  __type(key, uint32_t);
  __type(value, uint8_t);
} targets SEC(".maps");

// How the calling context of a process's threads is read, by its id.
struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, 4096);
  __type(key, uint32_t);
  __type(value, struct jprof_context_places);
} contexts SEC(".maps");

// How many interrupts came while a thread ran, by its id.
struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, 65536);
  __type(key, uint32_t);
  __type(value, uint64_t);
} interrupts SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, uint32_t);
  __type(value, struct kernel_processor_state);
} processors SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
  __uint(max_entries, 1);  // replaced by KERNEL_COUNTERS for each processor
  __type(key, uint32_t);
  __type(value, uint32_t);
} counters SEC(".maps");

ALWAYS struct kernel_processor_state* Processor(void) {
  const uint32_t zero = 0;
  return bpf_map_lookup_elem(&processors, &zero);
}

ALWAYS void Emit(void* record, uint64_t bytes) {
  const uint32_t cpu = bpf_get_smp_processor_id();
  void* ring = bpf_map_lookup_elem(&rings, &cpu);
  if (ring != 0 && bpf_ringbuf_output(ring, record, bytes, BPF_RB_NO_WAKEUP) == 0) return;
  struct kernel_processor_state* state = Processor();
  if (state != 0) ++state->lost;
}

#define BEGIN(name, NAME)                      \
  struct name##_layout record;                 \
  __builtin_memset(&record, 0, sizeof record); \
  record.time = bpf_ktime_get_ns();            \
  record.id = NAME##_ID;                       \
  record.processor = bpf_get_smp_processor_id()

ALWAYS int IsTarget(uint32_t process) {
  return all_processes || bpf_map_lookup_elem(&targets, &process) != 0;
}

ALWAYS uint64_t Load(uint64_t address) {
  uint64_t value = 0;
  bpf_probe_read_user(&value, sizeof value, (const void*)address);
  return value;
}

// Returns the index of the current thread's node, or 0 if its calls are not counted.
ALWAYS uint64_t ContextOf(struct task_struct* task) {
  const uint32_t process = task->tgid;
  const struct jprof_context_places* places = bpf_map_lookup_elem(&contexts, &process);
  if (places == 0) return 0;
#if defined(__TARGET_ARCH_arm64)
  const uint64_t thread_pointer = task->thread.uw.tp_value;
#else
  const uint64_t thread_pointer = task->thread.fsbase;
#endif
  const uint64_t thread = Load(thread_pointer + places->current_thread);
  if (thread == 0) return 0;
  const uint64_t nodes = Load(thread + places->nodes);
  const uint64_t woven = Load(thread + places->woven_current);
  const uint64_t node = woven != 0 ? Load(woven) + places->woven_origin
                                   : Load(Load(thread + places->top) + places->frame_node);
  const uint64_t distance = node - nodes;
  return nodes != 0 && distance < places->most_bytes ? distance / places->node_bytes : 0;
}

// Writes what the counters counted on this processor since the last dispatch.
ALWAYS void Count(struct kernel_processor_state* state) {
  BEGIN(kernel_processor_counters, KERNEL_PROCESSOR_COUNTERS);
  uint64_t found[KERNEL_COUNTERS] = {};
  for (uint32_t i = 0; i < KERNEL_COUNTERS; ++i) {
    if (i >= counter_count) break;
    struct bpf_perf_event_value value = {};
    const uint32_t index = record.processor * KERNEL_COUNTERS + i;
    if (bpf_perf_event_read_value(&counters, index, &value, sizeof value) != 0) continue;
    found[i] = value.counter - state->counted[i];
    state->counted[i] = value.counter;
  }
  record.counter_0 = found[0];
  record.counter_1 = found[1];
  record.counter_2 = found[2];
  record.counter_3 = found[3];
  Emit(&record, sizeof record);
}
