// Runs in the kernel: writes what processors do to a ring buffer for each of them, as records of
// the specification kernel.xml (docs/EVENTS.md). Fields of the kernel's structures are found by
// name when it is loaded (CO-RE).
#include "record/kernel/kernel_maps.h"

char LICENSE[] SEC("license") = "GPL";

ALWAYS uint8_t StateOf(unsigned state) {
  if (state == 0) return KERNEL_PROCESSOR_DISPATCH_PREVIOUS_STATE_RUNNABLE;
  if (state & 0x01) return KERNEL_PROCESSOR_DISPATCH_PREVIOUS_STATE_SLEEPING;
  if (state & 0x02) return KERNEL_PROCESSOR_DISPATCH_PREVIOUS_STATE_UNINTERRUPTIBLE;
  if (state & 0x0c) return KERNEL_PROCESSOR_DISPATCH_PREVIOUS_STATE_STOPPED;
  if (state & 0xb0) return KERNEL_PROCESSOR_DISPATCH_PREVIOUS_STATE_DEAD;
  return KERNEL_PROCESSOR_DISPATCH_PREVIOUS_STATE_OTHER;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_dispatch, _Bool preempted, struct task_struct* previous, struct task_struct* next,
             unsigned previous_state) {
  struct kernel_processor_state* state = Processor();
  if (state != 0) {
    state->depth = 0;  // an interrupt may have begun before its end was recorded
    if (counter_count != 0) Count(state);
  }
  if (counts_only) return 0;
  BEGIN(kernel_processor_dispatch, KERNEL_PROCESSOR_DISPATCH);
  record.previous_process = previous->tgid;
  record.previous_thread = previous->pid;
  record.previous_state =
      preempted ? KERNEL_PROCESSOR_DISPATCH_PREVIOUS_STATE_RUNNABLE : StateOf(previous_state);
  record.previous_call = -1;
  if (previous->mm != 0) {
    record.previous_context = ContextOf(previous);
    struct pt_regs* registers = (struct pt_regs*)bpf_task_pt_regs(previous);
    record.previous_instruction = PT_REGS_IP(registers);
#if defined(__TARGET_ARCH_x86)
    record.previous_call = (int32_t)registers->orig_rax;
#endif
    if (record.previous_call < -1) record.previous_call = -1;
  }
  record.next_process = next->tgid;
  record.next_thread = next->pid;
  record.decided = next->se.exec_start;
  Emit(&record, sizeof record);
  return 0;
}

// Counts an interrupt that is not within another one, for the current thread.
ALWAYS int CountInterrupt(struct kernel_processor_state* state) {
  if (state->depth++ != 0) return 0;
  const uint32_t thread = (uint32_t)bpf_get_current_pid_tgid();
  const uint64_t one = 1;
  uint64_t* count = bpf_map_lookup_elem(&interrupts, &thread);
  if (count != 0)
    __sync_fetch_and_add(count, 1);  // the idle threads of all processors have the number 0
  else
    bpf_map_update_elem(&interrupts, &thread, &one, BPF_ANY);
  return 0;
}

ALWAYS int InterruptBegin(uint8_t kind, uint32_t number) {
  struct kernel_processor_state* state = Processor();
  if (state == 0) return 0;
  if (counts_only) return CountInterrupt(state);
  BEGIN(kernel_processor_interrupt_begin, KERNEL_PROCESSOR_INTERRUPT_BEGIN);
  const uint32_t depth = state->depth++;
  if (depth < KERNEL_NESTING) state->begin[depth] = record.time;
  if (depth == 0) {
    struct task_struct* task = bpf_get_current_task_btf();
    if (task->mm != 0) record.calling_context = ContextOf(task);
  }
  record.kind = kind;
  record.number = number;
  Emit(&record, sizeof record);
  return 0;
}

ALWAYS int InterruptEnd(uint8_t kind, uint32_t number) {
  struct kernel_processor_state* state = Processor();
  if (state == 0 || state->depth == 0) return 0;  // it began before the recording
  const uint32_t depth = --state->depth;
  if (counts_only) return 0;
  BEGIN(kernel_processor_interrupt_end, KERNEL_PROCESSOR_INTERRUPT_END);
  record.kind = kind;
  record.number = number;
  if (depth < KERNEL_NESTING) record.duration = record.time - state->begin[depth];
  Emit(&record, sizeof record);
  return 0;
}

#define DEVICE KERNEL_PROCESSOR_INTERRUPT_BEGIN_KIND_DEVICE
#define SOFT KERNEL_PROCESSOR_INTERRUPT_BEGIN_KIND_SOFT
#define VECTOR KERNEL_PROCESSOR_INTERRUPT_BEGIN_KIND_VECTOR

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(on_device_begin, int number) { return InterruptBegin(DEVICE, number); }
SEC("tp_btf/irq_handler_exit")
int BPF_PROG(on_device_end, int number) { return InterruptEnd(DEVICE, number); }
SEC("tp_btf/softirq_entry")
int BPF_PROG(on_soft_begin, unsigned number) { return InterruptBegin(SOFT, number); }
SEC("tp_btf/softirq_exit")
int BPF_PROG(on_soft_end, unsigned number) { return InterruptEnd(SOFT, number); }

// The vectors of the processor itself. Architectures and kernels have different ones: those that
// are missing are not loaded.
#define VECTORS(name)                                                                    \
  SEC("tp_btf/" #name "_entry")                                                          \
  int BPF_PROG(on_##name##_begin, int vector) { return InterruptBegin(VECTOR, vector); } \
  SEC("tp_btf/" #name "_exit")                                                           \
  int BPF_PROG(on_##name##_end, int vector) { return InterruptEnd(VECTOR, vector); }
VECTORS(local_timer)
VECTORS(reschedule)
VECTORS(call_function)
VECTORS(call_function_single)
VECTORS(irq_work)
VECTORS(x86_platform_ipi)
VECTORS(error_apic)
VECTORS(spurious_apic)
VECTORS(thermal_apic)
VECTORS(threshold_apic)
VECTORS(deferred_error_apic)

SEC("tp_btf/sched_waking")
int BPF_PROG(on_wakeup, struct task_struct* task) {
  struct kernel_processor_state* state = Processor();
  BEGIN(kernel_threads_wakeup, KERNEL_THREADS_WAKEUP);
  record.woken_process = task->tgid;
  record.woken_thread = task->pid;
  record.by = state != 0 && state->depth != 0 ? KERNEL_THREADS_WAKEUP_BY_INTERRUPT
                                              : KERNEL_THREADS_WAKEUP_BY_THREAD;
  Emit(&record, sizeof record);
  return 0;
}

// The thread of a record is the current one.
#define BEGIN_OF_THREAD(name, NAME)                 \
  BEGIN(name, NAME);                                \
  const uint64_t both = bpf_get_current_pid_tgid(); \
  record.process = both >> 32;                      \
  record.thread = (uint32_t)both

// Emits a record whose text has this many bytes, with the zero byte, or could not be read.
#define EMIT_WITH_TEXT(record, text, bytes, most)                             \
  do {                                                                        \
    uint64_t size = (uint64_t)(bytes);                                        \
    barrier_var(size); /* older kernels lose what a copy was compared with */ \
    if (size < 1 || size > (most)) size = 1;                                  \
    Emit(&record, __builtin_offsetof(__typeof__(record), text) + size);       \
  } while (0)
#define NAME_BYTES 16

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct* parent, struct task_struct* child) {
  if (counts_only) {  // an earlier thread may have had this id
    const uint32_t thread = child->pid;
    bpf_map_delete_elem(&interrupts, &thread);
    return 0;
  }
  BEGIN_OF_THREAD(kernel_threads_fork, KERNEL_THREADS_FORK);
  record.new_process = child->tgid;
  record.new_thread = child->pid;
  const long bytes = bpf_probe_read_kernel_str(record.title, NAME_BYTES, child->comm);
  const uint8_t yes = 1;
  const uint32_t process = record.process, made = record.new_process;
  if (made != process) {  // an earlier process may have had this id
    bpf_map_delete_elem(&targets, &made);
    bpf_map_delete_elem(&contexts, &made);
  }
  if (made != process && bpf_map_lookup_elem(&targets, &process) != 0) {
    bpf_map_update_elem(&targets, &made, &yes, BPF_ANY);
    // Both have the same memory contents, until the child executes another program.
    const struct jprof_context_places* places = bpf_map_lookup_elem(&contexts, &process);
    if (places != 0) {
      const struct jprof_context_places copy = *places;
      bpf_map_update_elem(&contexts, &made, &copy, BPF_ANY);
    }
  }
  EMIT_WITH_TEXT(record, title, bytes, NAME_BYTES);
  return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct* task) {
  BEGIN_OF_THREAD(kernel_threads_exec, KERNEL_THREADS_EXEC);
  const long bytes = bpf_probe_read_kernel_str(record.title, NAME_BYTES, task->comm);
  const uint32_t process = record.process;
  bpf_map_delete_elem(&contexts, &process);
  EMIT_WITH_TEXT(record, title, bytes, NAME_BYTES);
  return 0;
}

SEC("tp_btf/task_rename")
int BPF_PROG(on_renamed, struct task_struct* task, const char* name) {
  BEGIN(kernel_threads_renamed, KERNEL_THREADS_RENAMED);
  record.process = task->tgid;
  record.thread = task->pid;
  const long bytes = bpf_probe_read_kernel_str(record.title, NAME_BYTES, name);
  EMIT_WITH_TEXT(record, title, bytes, NAME_BYTES);
  return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct* task) {
  BEGIN_OF_THREAD(kernel_threads_exit, KERNEL_THREADS_EXIT);
  record.cpu_time = task->se.sum_exec_runtime;
  record.voluntary = task->nvcsw;
  record.involuntary = task->nivcsw;
  const long bytes = bpf_probe_read_kernel_str(record.title, NAME_BYTES, task->comm);
  EMIT_WITH_TEXT(record, title, bytes, NAME_BYTES);
  return 0;
}

SEC("fentry/perf_event_mmap")
int BPF_PROG(on_map, struct vm_area_struct* area) {
  struct file* file = area->vm_file;
  if (file == 0) return 0;
  const uint32_t process = bpf_get_current_pid_tgid() >> 32;
  if (!IsTarget(process)) return 0;
  BEGIN_OF_THREAD(kernel_memory_map, KERNEL_MEMORY_MAP);
  record.address = area->vm_start;
  record.length = area->vm_end - area->vm_start;
  record.offset = area->vm_pgoff << 12;
  record.executable = (area->vm_flags & 4) != 0;
  const unsigned char* name = BPF_CORE_READ(file, f_path.dentry, d_name.name);
  const long bytes = bpf_probe_read_kernel_str(record.file, sizeof record.file, name);
  EMIT_WITH_TEXT(record, file, bytes, 255);
  return 0;
}

ALWAYS int PageFault(unsigned long address, struct pt_regs* registers, uint8_t kind) {
  const uint32_t target = bpf_get_current_pid_tgid() >> 32;
  if (!IsTarget(target)) return 0;
  BEGIN_OF_THREAD(kernel_memory_page_fault, KERNEL_MEMORY_PAGE_FAULT);
  record.calling_context = ContextOf(bpf_get_current_task_btf());
  record.address = address;
  record.instruction = PT_REGS_IP(registers);
  record.kind = kind;
  Emit(&record, sizeof record);
  return 0;
}

SEC("fexit/handle_mm_fault")
int BPF_PROG(on_page_fault, struct vm_area_struct* area, unsigned long address, unsigned flags,
             struct pt_regs* registers, unsigned result) {
  if (registers == 0) return 0;  // the kernel's own
  return PageFault(address, registers,
                   (result & 4) != 0 ? KERNEL_MEMORY_PAGE_FAULT_KIND_MAJOR
                                     : KERNEL_MEMORY_PAGE_FAULT_KIND_MINOR);
}

// Where the kernel allows no program at that function.
SEC("tp_btf/page_fault_user")
int BPF_PROG(on_user_page_fault, unsigned long address, struct pt_regs* registers) {
  return PageFault(address, registers, KERNEL_MEMORY_PAGE_FAULT_KIND_UNKNOWN);
}

SEC("tp_btf/sys_enter")
int BPF_PROG(on_call_begin, struct pt_regs* registers, long number) {
  const uint32_t target = bpf_get_current_pid_tgid() >> 32;
  if (!IsTarget(target)) return 0;
  BEGIN_OF_THREAD(kernel_calls_system_call_begin, KERNEL_CALLS_SYSTEM_CALL_BEGIN);
  record.calling_context = ContextOf(bpf_get_current_task_btf());
  record.number = (uint32_t)number;
  Emit(&record, sizeof record);
  return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_call_end, struct pt_regs* registers, long result) {
  const uint32_t target = bpf_get_current_pid_tgid() >> 32;
  if (!IsTarget(target)) return 0;
  BEGIN_OF_THREAD(kernel_calls_system_call_end, KERNEL_CALLS_SYSTEM_CALL_END);
#if defined(__TARGET_ARCH_x86)
  record.number = (uint32_t)registers->orig_rax;
#endif
  record.result = result;
  Emit(&record, sizeof record);
  return 0;
}

// The agent calls the function that this is attached to with the places of its threads' contexts.
SEC("uprobe")
int BPF_KPROBE(on_announced, const struct jprof_context_places* announced) {
  struct jprof_context_places places;
  if (bpf_probe_read_user(&places, sizeof places, announced) != 0) return 0;
  const uint32_t process = bpf_get_current_pid_tgid() >> 32;
  bpf_map_update_elem(&contexts, &process, &places, BPF_ANY);
  return 0;
}
