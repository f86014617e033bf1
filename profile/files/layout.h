// The on-disk profile, byte by byte. docs/PROFILE_FORMAT.md describes it. Change both together with
// the writer, the reader and their tests, and raise kFormatVersion.
//
// A profile is a directory of these files:
//
//   meta.json         the recording's command, options, machine and JVM; written once, at its start
//   control           ControlHeader (4096 bytes), then ThreadRecord[thread_count]
//   nodes             Node[node_count]: one call tree per thread, interleaved in chunks
//   extra             int64[node_count][metrics - 1]: metrics beyond the first, if any
//   methods           MethodRecord, appended; ids are dense from 1
//   trace             trace blocks, in trace modes
//   trace.zst         the same, compressed, in continuous modes; or trace-000001.zst and so on
//   train             TrainRecord, one per event, in runs of `jprof calibrate`
//   locks             LockEdge (lock_edge.h), one per pair of nodes and objects, in runs of `jprof
//                     locks`
//   live              LiveRecord, in runs of `jprof objects --live`
//   distributions     DistributionRecord (distribution.h), with `jprof callflow --distribution`
//   slow_calls        SlowCall and SlowCounts (slow_call.h), with `jprof trace --slow`
//   calibration.json  the table that the profile is corrected with, if there was one
//   merged.json       the list of inputs of a merged profile
//   spread            how the inputs of a merged profile differ, for each context
//   events            a folder of traces, if events over time were recorded (docs/TIMELINE.md)
//
// All integers are little-endian. The profiled process maps the files (except the JSON files and
// trace.zst) and writes them in place: a killed program loses nothing that it counted. Mapped files
// are longer than their used part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "common/frame_kind.h"

namespace jprof::profile {

inline constexpr uint32_t kFormatVersion = 1;
inline constexpr char kMagic[8] = {'J', 'P', 'R', 'O', 'F', 'C', 'T', 'L'};

inline constexpr char kMetaFile[] = "meta.json";
inline constexpr char kControlFile[] = "control";
inline constexpr char kNodesFile[] = "nodes";
inline constexpr char kExtraFile[] = "extra";
inline constexpr char kMethodsFile[] = "methods";
inline constexpr char kTraceFile[] = "trace";
inline constexpr char kCompressedTraceFile[] = "trace.zst";
inline constexpr char kTrainFile[] = "train";
inline constexpr char kLocksFile[] = "locks";
inline constexpr char kLiveFile[] = "live";
inline constexpr char kKernelCountsFile[] = "kernel_counts";
inline constexpr char kJitLogFile[] = "jitlog";
inline constexpr char kCalibrationFile[] = "calibration.json";
inline constexpr char kMergedFile[] = "merged.json";  // the inputs of a merged profile
inline constexpr char kSpreadFile[] = "spread";       // how they differ (spread.h)

// The folder of events over time, which has recording.json (recording_meta.h) and the folders of
// traces in Common Trace Format: two, and in `programs` one of each program that wrote events.
inline constexpr char kEventsFolder[] = "events";
inline constexpr char kKernelFolder[] = "kernel";
inline constexpr char kJvmFolder[] = "jvm";
inline constexpr char kProgramsFolder[] = "programs";

// The number of a method in the profile, which is its place in the file of names.
enum class MethodId : uint32_t {};
constexpr uint32_t IndexOf(MethodId method) { return static_cast<uint32_t>(method); }

// Contains the method and the type of a node or an event: the type in the top 4 bits, the method id
// in the low 28.
enum class MethodRef : uint32_t {};
inline constexpr uint32_t kMethodBits = 28;
inline constexpr uint32_t kMethodMask = (1u << kMethodBits) - 1;
inline constexpr MethodId kRootMethod{0};  // the thread row; none where a method is optional
inline constexpr MethodId kOverflowMethod{kMethodMask};  // contexts past the memory cap
constexpr MethodRef PackMethod(FrameKind type, MethodId method) {
  return MethodRef{static_cast<uint32_t>(type) << kMethodBits | IndexOf(method)};
}
constexpr FrameKind TypeOf(MethodRef ref) {
  return static_cast<FrameKind>(std::to_underlying(ref) >> kMethodBits);
}
constexpr MethodId MethodOf(MethodRef ref) {
  return MethodId{std::to_underlying(ref) & kMethodMask};
}
inline constexpr MethodRef kNoMethodRef{0};  // of an unused record; none where one is optional

struct ChildSlot {
  // Distinguishes children: the method id, in sampled trees id and type. It is 0 if empty.
  uint32_t key = 0;
  uint32_t node = 0;  // the child; in a folded tree possibly an ancestor (recursion)
};

// One calling context, which occupies one cache line. Invariants:
//
// - parent < own index (a root's parent is 0).
// - Node 0 is never used; `ref` is kNoMethodRef in an unused record.
// - A node of type kSite is a bytecode of its parent's method: its children were called there, and
//   its values belong to the parent. It has no counts. Only recordings with
//   RecordingOptions::sites have such nodes.
// - A node of type kWoven counts entries in one 64-bit number, entries[0] and [1], and each entry
//   has exactly one exit: `exits` and `child` are slots for children (jprof/engine/woven.h).
// - A node of type kLabel is below the method that has set it, and above what that called then. It
//   counts in the same way how often it was set there; only woven trees have slots.
// - When the method of a context changes type (I -> J -> R), or when its counters approach 2^31,
//   its values move to a *superseded* record, which has the same method, the old type, the live
//   node as its parent, and more == kSuperseded.
struct Node {
  MethodRef ref{};  // of type kBlock if this record is a ChildBlock
  uint32_t parent = 0;
  // Entries and exits of this method. [0] counts those whose previous event was an entry, [1] those
  // whose previous event was an exit.
  uint32_t entries[2] = {};
  uint32_t exits[2] = {};
  int64_t self = 0;         // first metric, while this node was current; signed
  uint32_t more = 0;        // index of a ChildBlock with more children; 0 if none; or kSuperseded
  uint32_t dispatches = 0;  // times the thread was scheduled in while this node was current
  ChildSlot child[3] = {};
};
// Returns whether a node of this type counts in one 64-bit number.
constexpr bool HasOneCount(MethodRef ref) {
  return TypeOf(ref) == FrameKind::kWoven || TypeOf(ref) == FrameKind::kLabel;
}
inline constexpr uint32_t kSuperseded = 0xffffffffu;
static_assert(sizeof(Node) == 64 && offsetof(Node, child) == 40);

struct ChildBlock {
  MethodRef ref = PackMethod(FrameKind::kBlock, kRootMethod);
  uint32_t next = 0;  // index of the next block, 0 if there is none
  ChildSlot child[7] = {};
};
static_assert(sizeof(ChildBlock) == sizeof(Node));

enum ThreadState : uint32_t { kThreadUnused = 0, kThreadLive = 1, kThreadEnded = 2 };
enum ThreadFlags : uint32_t {
  kThreadVirtual = 1,        // one tree for consecutive virtual threads
  kThreadFiltered = 2,       // not recorded: excluded by --threads
  kThreadDisarmed = 4,       // recording stopped early (disk full, no memory)
  kThreadNoClock = 8,        // time is wall clock, as the per-thread clock could not be opened
  kThreadNoCounters = 16,    // its counters could not be opened or read, so metrics are too low
  kThreadNotSampled = 32,    // not sampled, or not by every event; the error is in the top 8 bits
  kThreadBlocksSignal = 64,  // it ran with the signal of sampling blocked, and was not sampled then
  // It was sampled by a POSIX timer because its perf event could not be opened, or without kernel
  // functions because the event's buffer could not be locked; the error is in the top 8 bits.
  kThreadOtherTimer = 128,
};
// Stores an error number of Linux, up to 255, in the top 8 bits of the flags.
constexpr uint32_t FlagsOfError(int error) { return static_cast<uint32_t>(error) << 24; }
constexpr uint32_t WithoutError(uint32_t flags) { return flags & 0x00ff'ffff; }
constexpr int ErrorOfFlags(uint32_t flags) { return static_cast<int>(flags >> 24); }

// The record of one thread, which only the thread itself writes.
struct ThreadRecord {
  uint32_t state = kThreadUnused;
  uint32_t flags = 0;
  uint32_t tid = 0;          // kernel thread id; 0 for virtual threads
  uint32_t root = 0;         // node index of its tree's root (the thread row)
  uint64_t start_ticks = 0;  // raw clock at start and end
  uint64_t end_ticks = 0;
  uint64_t cpu_ns_start = 0;  // the kernel's CPU time of the thread when recording began and ended
  uint64_t cpu_ns_end = 0;
  int64_t own_ticks = 0;  // excluded as the profiler's overhead
  uint64_t dispatches = 0;
  uint64_t healed = 0;             // frames found gone and popped, counted as exits
  uint64_t unmatched = 0;          // exits without an entry on the stack, which are ignored
  uint64_t overflow = 0;           // entries attributed to an overflow node
  uint64_t dropped = 0;            // events not recorded, after the end or while disarmed
  uint64_t trace_events = 0;       // events written to the trace
  uint64_t trace_dropped = 0;      // events for which the trace had no space
  uint64_t trace_overwritten = 0;  // events overwritten (wrap)
  uint64_t samples = 0;            // stacks recorded in the tree (all events)
  uint64_t samples_unknown = 0;    // samples whose stack walk ended at something unknown
  char name[88] = {};              // UTF-8, zero terminated, cut to fit
  uint64_t samples_truncated = 0;  // samples whose stack was deeper than is recorded
  uint64_t samples_own = 0;        // taken inside the profiler and dropped
  uint64_t samples_lost = 0;       // not recorded: no memory, or a sample was in progress
  uint64_t sampling_ticks = 0;     // time spent taking samples, by the raw clock
};
static_assert(sizeof(ThreadRecord) == 256);

// Methods, classes or modules whose calls are not counted: their number and the names of the first
// ones, separated by ", " and zero terminated.
struct UncountedRecord {
  uint64_t count = 0;
  char names[504] = {};
};

// The first page of `control`.
struct ControlHeader {
  char magic[8] = {};
  uint32_t version = 0;
  uint32_t header_bytes = 4096;
  uint32_t thread_record_bytes = 256;
  uint32_t node_bytes = 64;
  uint32_t thread_count = 0;  // records used
  uint32_t metric_count = 1;
  uint64_t node_count = 0;     // records allocated in `nodes` (some are unused)
  uint64_t node_limit = 0;     // the cap
  uint64_t methods_bytes = 0;  // bytes of complete records in `methods`
  uint32_t method_count = 0;
  uint32_t finished = 0;       // 1 if the program ended normally
  uint64_t trace_blocks = 0;   // blocks allocated in `trace`
  uint64_t train_records = 0;  // records in `train`
  uint64_t start_unix_ns = 0;
  uint64_t start_ticks = 0;
  uint64_t end_ticks = 0;
  uint64_t ticks_per_second = 0;
  // Losses of the whole process; those of each thread are in its record.
  uint64_t lost_threads = 0;   // threads that could not be recorded at all
  uint64_t lost_events = 0;    // events of those threads, and events after a thread's end
  uint64_t disk_full = 0;      // 1 if a file could not grow; recording stopped then
  uint64_t name_failures = 0;  // methods whose name could not be read
  uint64_t tree_full = 0;      // 1 if the memory cap was reached
  // For each metric, the smallest part of the time, over all threads, that it was on a counter. If
  // this is below 1000, values are scaled.
  uint32_t least_running_permille[9] = {1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000};
  uint32_t filtered_methods = 0;  // part of method_count: excluded by the method filter
  // With FOCUS, the numbers of methods that were compiled with probes and without, and of methods
  // whose names could not be read (they have probes).
  uint32_t focus_probed = 0, focus_unprobed = 0, focus_undecided = 0;
  // The raw clock when half of the cap was used. From then on recursion is folded, in separate
  // trees below the same roots. 0 if half was not used, or if recursion was folded from the start.
  uint64_t folded_ticks = 0;
  // In merged profiles, the number of threads with such a flag, beyond those whose records in this
  // file show it.
  uint64_t more_disarmed = 0, more_no_clock = 0, more_no_counters = 0, more_not_sampled = 0;
  uint64_t more_blocks_signal = 0;
  // For samples by CPU time, the CPU time of the sampled threads while sampling was on, and the
  // part of it that the timers' signals stood for. 0 if nothing was sampled by CPU time.
  uint64_t sampled_cpu_ns = 0, signalled_cpu_ns = 0;
  // The raw clock when another handler was found in place of the sampler's (0 if never), the signal
  // that it handles, and the path of its module.
  uint64_t signal_taken_ticks = 0;
  uint32_t signal_taken = 0;
  char signal_taken_by[252] = {};
  // With disk_full, the error (Linux's number), and the limit on the size of files if that was the
  // cause. 0 if unknown.
  uint64_t file_size_limit = 0;
  uint32_t growth_error = 0;
  UncountedRecord unwoven_methods, unwoven_classes;  // that woven counting could not change
  uint64_t more_other_timer = 0;                     // like more_disarmed
  // The number of virtual threads' stacks that end early, because outer frames were still in the
  // heap after parking.
  uint64_t samples_in_heap = 0;
  uint64_t memory_failures = 0;       // events for which the agent found no memory
  UncountedRecord unprobed_methods;   // methods compiled without the probe's calls
  UncountedRecord unpatched_modules;  // modules whose sleds could not be patched
  uint64_t lock_edges = 0;            // records in `locks`
  uint64_t live_records = 0;          // records in `live`
  // The number of complete snapshots, which are numbered from 1. A merged profile has the most of
  // its parts, and no records of them.
  uint64_t live_snapshots = 0;
  uint64_t lost_lock_edges = 0;    // events between locks for which `locks` had no space
  uint32_t sites = 0;              // part of method_count
  uint32_t labels = 0;             // part of method_count
  uint32_t labels_full = 0;        // 1 if there were more, which are the label (other labels)
  uint32_t label_methods[8] = {};  // how many methods each item of LABEL_FROM matched
  uint64_t distributions = 0;      // records in `distributions`
  uint64_t lost_durations = 0;     // calls of watched methods for which it had no space
  uint64_t watched_patterns = 0;   // bit i: item i of DISTRIBUTION or SLOW selects a seen method
  // With SLOW (slow_call.h), the number of its items, the records in `slow_calls`, and the calls
  // that had no space, that have lost events, and that were left without an exit.
  uint64_t slow_items = 0, slow_records = 0, slow_not_kept = 0, slow_cut = 0, slow_unended = 0;
  uint64_t gate_patterns = 0;  // bit i: pattern i of WITHIN selects a method that was seen
  uint64_t gate_calls = 0;  // outermost calls of WITHIN's methods, and those that AFTER leaves out
  uint32_t starts = 0, stops = 0;  // of the recording of calls, by the program or `jprof ctl`
  uint32_t paused = 0;             // 1 while it is stopped
  // With TIME_EVERY: how many intervals were timed; how many of these stand for TIME_EVERY
  // intervals, with the sum of their ticks and of the squares; and the ticks of long intervals that
  // were not timed, whose context is known only roughly.
  uint64_t timed_intervals = 0, sampled_intervals = 0, sampled_ticks = 0, sampled_squares = 0;
  uint64_t untimed_ticks = 0;
};
static_assert(sizeof(ControlHeader) <= 4096);
inline constexpr size_t kControlHeaderBytes = 4096;

// One method. Its strings follow (class, name, signature; not terminated), padded to 8 bytes.
enum MethodFlags : uint16_t {
  kMethodStatic = 1,
  kMethodNative = 2,
  kMethodFiltered = 4,  // excluded; its name is kept for messages, no node has it
  // The following kinds of frames in sampled stacks are not Java methods.
  kMethodCode = 8,     // a native function: class = path of its module, name = link address, 0x...
  kMethodKernel = 16,  // a function of the kernel: class = vmlinux or [module], name = symbol
  kMethodStub = 32,    // code of the VM that is not a method: name only
  kMethodClass = 64,   // a class of objects, below the allocating or waiting frame: class only
  // Its calls are partly counted: HotSpot has an intrinsic for it, and callers may use that,
  // because they are compiled without probes (FOCUS=) or with intrinsics (KEEP_INTRINSICS).
  kMethodIntrinsic = 128,
  // A site, a bytecode of any method: class = name of the source file, or empty; name = its index
  // and source line, "17:42", or "17:0" if the line is unknown. Its nodes have the kind kSite.
  kMethodSite = 256,
  // A label of the program: class = "label", name = its text. Its nodes have the kind kLabel.
  kMethodLabel = 512,
};
// The flags of frames that are not Java methods.
inline constexpr uint16_t kMethodNotJava =
    kMethodCode | kMethodKernel | kMethodStub | kMethodClass | kMethodSite | kMethodLabel;

struct MethodRecord {
  uint32_t bytes = 0;  // of the whole record, a multiple of 8
  uint32_t id = 0;
  uint16_t flags = 0;
  uint16_t class_length = 0;  // internal form, pkg/Class
  uint16_t name_length = 0;
  uint16_t signature_length = 0;
};
static_assert(sizeof(MethodRecord) == 16);

// The trace consists of blocks of kTraceBlockBytes, each of one thread. A block begins with this
// header; events follow, each encoded as varint(head) and varint(zigzag(delta of the first metric
// since the thread's last event)), where
//
//   head = (method << 5) | (type << 1) | exit, and method is a full id (28 bits).
//
// `bytes` counts what is complete, so that a killed program's last block is valid up to its
// last event.
// With SLOW, an event of kRootMethod is a wait inside a watched call, which no count includes: the
// delta is the time by the raw clock that the thread was not running before the next event.
inline constexpr uint32_t kTraceBlockBytes = 32 * 1024;
struct TraceBlock {
  uint32_t thread = 0;       // index into the thread records
  uint32_t bytes = 0;        // of events, after the header
  uint64_t sequence = 0;     // from 1, per thread; missing ones were overwritten or dropped
  uint64_t first_event = 0;  // number of events of this thread before this block
  int64_t first_value = 0;   // the thread's metric value before this block's first event
  uint32_t events = 0;
  uint32_t kept = 0;  // kKeptBlock if it is kept for a slow call
};
inline constexpr uint32_t kKeptBlock = 1;
static_assert(sizeof(TraceBlock) == 40);

// One metric of one trained event. For an entry, `from` is the running method and `to` the entered
// one. For an exit, `from` is the exiting method and `to` the one it returns to.
struct TrainRecord {
  uint32_t delta = 0;  // of the metric since the previous event on this thread; kDirty if not clean
  MethodRef from{};
  MethodRef to{};
  uint16_t handler = 0;  // ticks inside the handler if this was a timed event, else 0
  uint8_t previous = 0;  // EventKind
  uint8_t event = 0;     // EventKind | number of the metric << 1
};
inline constexpr uint32_t kDirty = 0xffffffffu;
static_assert(sizeof(TrainRecord) == 16);

}  // namespace jprof::profile
