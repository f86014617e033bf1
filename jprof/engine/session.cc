#include "jprof/engine/session.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <utility>

#include "common/uninterrupted_lock.h"
#include "jprof/engine/events.h"
#include "jprof/engine/tree.h"

namespace jprof::engine {

__thread Thread* current_thread __attribute__((tls_model("initial-exec"))) = nullptr;
__thread bool in_rare_work __attribute__((tls_model("initial-exec"))) = false;
SpinLock Session::lock_;
bool Session::has_functions_ = false;

namespace {

constexpr uint32_t kFirstBuckets = 16;
constexpr uint32_t kMostBuckets = 1 << 18;
constexpr size_t kFirstFrames = 1024;
// With functions, a shadow stack is large enough for a stack of 8 MiB, whose frames have 32 bytes
// or more. Only what is used takes memory.
constexpr size_t kFunctionFrames = 1 << 18;
// With functions, a virtual thread's is large enough for the 1 MiB of a carrier's stack, since a
// handler that makes the frames move would leave the interrupted code with their old address.
constexpr size_t kVirtualFunctionFrames = 1 << 15;
constexpr char kMainThread[] = "main";
constexpr uint64_t kNoHealing = ~uint64_t{0};

// Describes the one mapping per thread: its state, the first method cache and the first shadow
// stack.
struct ThreadMemory {
  Thread thread;
  MethodBucket buckets[kFirstBuckets];
  Frame frames[kFirstFrames];  // or more: Thread::first_frames
};
size_t BytesOfThread(size_t frames) {
  return offsetof(ThreadMemory, frames) + frames * sizeof(Frame);
}
struct TimelineMemory {
  Timeline timeline;
  size_t first_frames;
  Frame frames[kFirstFrames];  // or more: first_frames
};
size_t BytesOfTimeline(size_t frames) {
  return offsetof(TimelineMemory, frames) + frames * sizeof(Frame);
}

void* Map(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

// Marks a thread whose counters could not be read: the program may have closed their descriptors.
void NoteFailedReads(Thread& thread) {
  for (int i = 0; i < thread.counting.group.size(); ++i) {
    if (thread.counting.group.slot(i).failed_reads == 0) continue;
    __atomic_fetch_or(&thread.record->flags, uint32_t{profile::kThreadNoCounters},
                      __ATOMIC_RELAXED);
  }
}

uint32_t BucketCount(const Thread& thread) { return 1u << (64 - thread.bucket_shift); }

// Frees the parts of a timeline that are outside its first mapping: its ring of trace blocks, and
// frames that GrowFrames has allocated. `first` points to the frames inside that mapping. Requires
// that the timeline's cursor is saved.
void FreePartsOf(const Timeline& timeline, const Frame* first) {
  if (timeline.ring != nullptr)
    munmap(timeline.ring, timeline.ring_capacity * sizeof(profile::TraceBlock*));
  if (timeline.frames != first)
    munmap(timeline.frames, (timeline.cursor.limit - timeline.frames) * sizeof(Frame));
}

// Frees the timeline of a virtual thread.
void FreeTimeline(Timeline* timeline) {
  auto* const memory = reinterpret_cast<TimelineMemory*>(timeline);
  FreePartsOf(*timeline, memory->frames);
  munmap(memory, BytesOfTimeline(memory->first_frames));
}
void FreeTimelines(Timeline* list) {
  while (list != nullptr) FreeTimeline(std::exchange(list, list->next));
}

// Copies the thread's cursor into its timeline, and back.
void Save(Thread& thread) { thread.timeline.cursor = thread.cursor; }
void Load(Thread& thread, const Timeline& timeline) {
  thread.timeline = timeline;
  thread.cursor = timeline.cursor;
}

// Frees a thread's memory. Requires that no Session::Hold can reach it, and that its cursor is
// saved.
void FreeThread(Thread& thread) {
  auto* memory = reinterpret_cast<ThreadMemory*>(&thread);
  if (ThreadExtension* extension = thread.extension) extension->Release();
  if (thread.buckets != memory->buckets) {
    munmap(thread.buckets, BucketCount(thread) * sizeof(MethodBucket));
  }
  for (size_t i = 0; i < std::size(thread.outgrown_buckets); ++i) {
    if (thread.outgrown_buckets[i] != nullptr)
      munmap(thread.outgrown_buckets[i], (kFirstBuckets << i) * sizeof(MethodBucket));
  }
  FreePartsOf(thread.timeline, memory->frames);
  const size_t bytes = BytesOfThread(thread.first_frames);
  thread.~Thread();
  munmap(memory, bytes);
}

// All sessions use one key, because a thread that exits may have been recorded by an earlier one.
pthread_key_t at_thread_exit;
bool MakeExitKey() {
  static const bool made =
      pthread_key_create(&at_thread_exit, [](void*) { Session::Detach(); }) == 0;
  return made;
}

// Returns the first frames of the thread's timeline. They are part of the mapping of the mounted
// virtual thread's timeline, or else of the thread's state.
const Frame* FirstFrames(const Thread& thread) {
  if (thread.mounted != nullptr)
    return reinterpret_cast<const TimelineMemory*>(thread.mounted)->frames;
  return reinterpret_cast<const ThreadMemory*>(&thread)->frames;
}

// Frees the memory of a recorded thread at the end of its session, also the timeline of the mounted
// virtual thread.
void FreeRecordedThread(Thread* thread) {
  Save(*thread);
  if (thread->mounted != nullptr) {
    *thread->mounted = std::exchange(thread->timeline, thread->carrier);
    FreeTimeline(thread->mounted);
  }
  FreeThread(*thread);
}

}  // namespace

Result<void> Session::Start(SessionOptions options, MethodSource* source) {
  options_ = std::move(options);
  source_ = source;
  if (auto opened = writer_.Open(options_.files); !opened) return opened;
  if (!methods_.Open(&writer_, options_.method_filter)) {
    return Fail("cannot set up the method table in {}: no memory or a full disk",
                options_.files.directory);
  }
  if (!options_.counters.empty()) options_.bracket_period = 1;  // every event has a late read
  clock_.ticks_per_second = ptm::MeasureTicksPerSecond(10);
  clock_.read_ticks = ptm::MeasureReadTicks();
  clock_.granularity = ptm::MeasureGranularity();
  clock_.bracket_ticks = ptm::MeasureTimerOverhead();
  bracket_bias_ = std::llround((options_.bracket_period - 1) * clock_.bracket_ticks);
  overhead_residue_ = bracket_bias_ / options_.bracket_period;
  longest_walk_ =
      std::llround(clock_.ticks_per_second / 1e9 * 1000);  // 1 us: more is not the tree update
  profile::ControlHeader* header = writer_.header();
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  start_unix_ns_ = uint64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
  header->start_unix_ns = start_unix_ns_;
  header->start_ticks = ptm::ReadTsc();
  header->ticks_per_second = std::llround(clock_.ticks_per_second);
  if (options_.files.trace && options_.trace_keep == TraceKeep::kContinuous &&
      !drain_.Start(&writer_)) {
    return Fail("cannot start writing {} in {}", profile::kCompressedTraceFile,
                options_.files.directory);
  }
  if (!MakeExitKey()) return Fail("no thread-specific key is left in this process");
  SetSession(this);
  return {};
}

void Session::SetVm(MethodSource* source, MethodTable::Filter filter) {
  const RareWork work;
  source_ = source;
  methods_.SetFilter(std::move(filter));
}

// Can be called again after it has failed.
bool Session::OpenTimeline(Timeline& timeline, uint32_t flags) {
  if (timeline.record == nullptr) timeline.record = writer_.AllocateThread();
  if (timeline.record == nullptr) return false;
  const uint32_t root = MakeRoot(*this, timeline);
  if (root == 0) {
    timeline.record->flags = profile::kThreadDisarmed;
    return false;
  }
  *timeline.cursor.top++ = {0, kNoHealing, writer_.nodes() + root};
  timeline.record->root = root;
  timeline.record->flags = flags;
  timeline.record->start_ticks = ptm::ReadTsc();
  timeline.record->state = profile::kThreadLive;
  return true;
}

// Makes the state of a thread, without a timeline of its own.
Thread* Session::NewThread() {
  const size_t frames = functions_ != nullptr ? kFunctionFrames : kFirstFrames;
  auto* memory = static_cast<ThreadMemory*>(Map(BytesOfThread(frames)));
  if (memory == nullptr) {
    ++writer_.header()->lost_threads;
    return nullptr;
  }
  Thread* thread = new (&memory->thread) Thread;
  thread->session = this;
  thread->buckets = memory->buckets;
  thread->bucket_shift = 64 - 4;
  static_assert(kFirstBuckets == 1 << 4);
  thread->nodes = writer_.nodes();
  thread->extra = writer_.extra();
  thread->random = (reinterpret_cast<uint64_t>(thread) ^ ptm::ReadTsc()) | 1;
  thread->until_timed = options_.bracket_period;
  thread->joined_late = options_.joins_late;
  Timeline& timeline = thread->timeline;
  timeline.frames = timeline.cursor.top = memory->frames;
  timeline.cursor.limit = memory->frames + frames;
  thread->first_frames = frames;
  return thread;
}

// Adds a thread to the session and, if `slot` is its owner's `current_thread`, makes it known
// there. Without a timeline, each of its events is counted as lost, without another attempt.
void Session::List(Thread& thread, Thread** slot) {
  if (slot != nullptr) SetRareWork(thread, true);  // its owner is in Attach
  const UninterruptedLock guard(lock_, has_functions_);
  if (thread.timeline.record != nullptr && thread.timeline.record->root != 0) {
    threads_.push_back(thread);
  } else {
    thread.attention = kNotRecorded;
    thread.next_gone = std::exchange(failed_, &thread);
  }
  thread.slot = slot;
  if (slot != nullptr) *slot = &thread;
}

Thread* Session::Attach() {
  const RareWork work;
  if (current_thread != nullptr) return current_thread;  // by a signal handler, just before
  Thread* const thread = NewThread();
  if (thread == nullptr) return nullptr;
  const bool clocked = options_.clock && thread->clock.Open(clock_.ticks_per_second / 1e9);
  uint32_t flags = options_.clock && !clocked ? uint32_t{profile::kThreadNoClock} : 0;
  if (!options_.counters.empty() && thread->counting.group.Open(options_.counters).Failed()) {
    flags |= profile::kThreadNoCounters;
  }
  const bool opened = OpenTimeline(thread->timeline, flags);
  thread->record = thread->timeline.record;
  if (opened) {
    thread->record->tid = static_cast<uint32_t>(syscall(SYS_gettid));
    prctl(PR_GET_NAME, thread->record->name);  // until the VM reports its full name
    thread->record->cpu_ns_start = ptm::VirtualClock::CpuNanos();
    Load(*thread, Timeline(thread->timeline));
  }
  List(*thread, &current_thread);
  DetachAtExit();
  if (!opened) return thread;
  if (options_.kernel_names) {
    char name[sizeof thread->record->name];
    std::memcpy(name, thread->record->name, sizeof name);
    Name(thread, thread->record->tid == static_cast<uint32_t>(getpid()) ? kMainThread : name);
  } else if (options_.name_of) {
    const std::string_view name = options_.name_of(thread->record->tid);
    if (!name.empty()) Name(thread, name);
  } else if (writer_.IndexOf(thread->record) == 0) {
    // The thread that creates the VM is called main; it records before the VM can be queried.
    Name(thread, kMainThread);
  }
  thread->counting.group.ReadAll(thread->counting.late);
  thread->counting.group.ReadAll(thread->counting.early);
  thread->last = thread->clock.Restart();
  thread->page_lock = thread->clock.lock();
  thread->page_seen = thread->clock.seen();
  if (thread->record->tid == static_cast<uint32_t>(getpid())) PushOpenFrames(*thread);
  return thread;
}

// Enters the functions that were open when the recording began. Their rows have no calls, unless
// they are called again in the same context.
void Session::PushOpenFrames(Thread& thread) {
  for (const Frame& open : options_.open_frames) {
    if ((open.method & kFunctionBit) == 0) return;
    if (thread.cursor.top == thread.cursor.limit && !GrowFrames(thread)) return;
    const uint64_t method = open.method & ~kOpenBit;
    const uint32_t word = Resolve(thread, method, 0)->word;
    profile::Node* const node = FindOrAddChild(thread, thread.cursor.top[-1].node, word).node;
    *thread.cursor.top++ = {method | kOpenBit, open.sp, node};
  }
}

Thread* Session::AttachOnce() {
  const Thread* const thread = current_thread;
  if (thread != nullptr && thread->record != nullptr &&
      thread->record->state == profile::kThreadEnded)
    Detach();
  return current_thread != nullptr ? current_thread : Attach();
}

Thread* Session::AttachOther(uint32_t tid) {
  const RareWork work;
  Thread* const thread = NewThread();
  if (thread == nullptr) return nullptr;
  const bool opened = OpenTimeline(thread->timeline, 0);
  thread->record = thread->timeline.record;
  thread->page_lock = thread->clock.lock();
  if (opened) {
    thread->record->tid = tid;
    thread->record->cpu_ns_start =
        static_cast<uint64_t>(ptm::VirtualClock::CpuNanosOf(tid).value_or(0));
    Load(*thread, Timeline(thread->timeline));
  }
  List(*thread, nullptr);
  return opened ? thread : nullptr;
}

void Session::Adopt(Thread& thread) {
  thread.slot = &current_thread;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  current_thread = &thread;
}

void Session::DetachAtExit() { pthread_setspecific(at_thread_exit, this); }

bool Session::AddRow(const char* name, uint32_t flags, Timeline* timeline) {
  const RareWork work;
  Frame bottom;
  timeline->frames = timeline->cursor.top = &bottom;
  const bool opened = OpenTimeline(*timeline, flags);
  timeline->frames = timeline->cursor.top = nullptr;
  if (opened) std::strncpy(timeline->record->name, name, sizeof timeline->record->name - 1);
  return opened;
}

void Session::Name(Thread* thread, std::string_view name) {
  if (thread->record == nullptr) return;
  thread->named = true;
  char* out = thread->record->name;
  const size_t length = std::min(name.size(), sizeof thread->record->name - 1);
  std::memcpy(out, name.data(), length);
  std::memset(out + length, 0, sizeof thread->record->name - length);
  if (options_.thread_filter && !options_.thread_filter(name)) {
    __atomic_fetch_or(&thread->record->flags, uint32_t{profile::kThreadFiltered}, __ATOMIC_RELAXED);
    __atomic_fetch_or(&thread->attention, uint32_t{kNotRecorded}, __ATOMIC_ACQ_REL);
  }
}

void Session::End() {
  Thread* thread = current_thread;
  if (thread != nullptr && thread->record != nullptr) EndOf(*thread);
}

void Session::EndOf(Thread& thread) {
  if (options_.kernel_names && thread.record->tid != static_cast<uint32_t>(getpid()))
    prctl(PR_GET_NAME, thread.record->name);
  thread.record->end_ticks = ptm::ReadTsc();
  thread.record->cpu_ns_end = ptm::VirtualClock::CpuNanos();
  thread.record->state = profile::kThreadEnded;
  NoteFailedReads(thread);  // first: NoteMultiplexing reads all events by system call
  NoteMultiplexing(thread);
}

// Notes the part of the time that each counter ran, because a multiplexed counter is scaled.
void Session::NoteMultiplexing(Thread& thread) {
  for (int i = 0; i < thread.counting.group.size(); ++i) {
    const auto permille = static_cast<uint32_t>(thread.counting.group.Status(i).running * 1000);
    uint32_t& least = writer_.header()->least_running_permille[i + (options_.clock ? 1 : 0)];
    if (permille < least) least = permille;
  }
}

// Removes the calling thread from its session. Close waits while `leaving_` is not 0, so the
// session exists until the thread has left it. Until then it may free the thread's state, which
// only the lock protects.
void Session::Detach() {
  const RareWork work(nullptr);
  Thread* thread;
  {
    const UninterruptedLock guard(lock_, has_functions_);
    thread = std::exchange(current_thread, nullptr);
    if (thread == nullptr) return;
    thread->slot = nullptr;
    ++thread->session->leaving_;
  }
  Session& session = *thread->session;
  if (thread->continuation != 0) session.SwitchTimeline(*thread, 0, 0);
  if (thread->record != nullptr) session.EndOf(*thread);
  Save(*thread);
  session.EndTrace(*thread);
  {
    const UninterruptedLock guard(lock_, has_functions_);
    if (!thread->link.is_linked()) {
      Thread** link = &session.failed_;
      while (*link != thread) link = &(*link)->next_gone;
      *link = thread->next_gone;
    }
    if (thread->link.is_linked() && session.holds_ != 0) {
      thread->gone = true;  // ~Hold frees it
      thread->next_gone = std::exchange(session.gone_, thread);
      --session.leaving_;
      return;
    }
    if (thread->link.is_linked()) session.threads_.erase(session.threads_.iterator_to(*thread));
  }
  FreeThread(*thread);
  const UninterruptedLock guard(lock_, has_functions_);
  --session.leaving_;
}

void Session::Close() {
  const RareWork work;
  {
    const UninterruptedLock guard(lock_, has_functions_);
    const auto forget = [](Thread& thread) {
      if (Thread** slot = std::exchange(thread.slot, nullptr))
        __atomic_store_n(slot, nullptr, __ATOMIC_RELEASE);
    };
    for (Thread& thread : threads_) forget(thread);
    for (Thread* thread = failed_; thread != nullptr; thread = thread->next_gone) forget(*thread);
  }
  SetSession(nullptr);
  const timespec pause = {0, 1'000'000};
  for (;; nanosleep(&pause, nullptr)) {
    const UninterruptedLock guard(lock_, has_functions_);
    if (holds_ == 0 && leaving_ == 0) break;
  }
  threads_.clear_and_dispose(FreeRecordedThread);
  for (Timeline*& list : parked_) FreeTimelines(std::exchange(list, nullptr));
  for (Timeline** list : {&free_timelines_, &unopened_timelines_})
    FreeTimelines(std::exchange(*list, nullptr));
  while (failed_ != nullptr) FreeThread(*std::exchange(failed_, failed_->next_gone));
  writer_.Close();
}

void Session::AbandonInChild() {
  new (&lock_) SpinLock;
  current_thread = nullptr;
  for (Thread& thread : threads_) {
    thread.clock.Close();
    thread.counting.group.Close();
  }
  SetSession(nullptr);
  writer_.Close();
}

Session::Hold::Hold(Session& session) : session_(session) {
  const RareWork work;
  const UninterruptedLock guard(lock_, has_functions_);
  ++session.holds_;
  last_ = session.threads_.empty() ? nullptr : &session.threads_.back();
}

Session::Hold::~Hold() {
  const RareWork work;
  Thread* gone = nullptr;
  {
    const UninterruptedLock guard(lock_, has_functions_);
    if (--session_.holds_ != 0) return;
    ++session_.leaving_;
    gone = std::exchange(session_.gone_, nullptr);
    for (Thread* thread = gone; thread != nullptr; thread = thread->next_gone)
      session_.threads_.erase(session_.threads_.iterator_to(*thread));
  }
  while (gone != nullptr) FreeThread(*std::exchange(gone, gone->next_gone));
  const UninterruptedLock guard(lock_, has_functions_);
  --session_.leaving_;
}

// Returns the next live thread after `after`, or the first one if that is null. Returns null if
// there is none up to the hold's last.
Thread* Session::Next(Thread* after, const Hold& hold) {
  if (after == hold.last_) return nullptr;
  const RareWork work;
  const UninterruptedLock guard(lock_, has_functions_);
  auto at = after == nullptr ? threads_.begin() : std::next(threads_.iterator_to(*after));
  while (at->gone && &*at != hold.last_) ++at;
  return at->gone ? nullptr : &*at;
}

void Session::ForgetMethods() {
  const RareWork work;
  const UninterruptedLock guard(lock_, has_functions_);
  for (Thread& thread : threads_)
    __atomic_fetch_or(&thread.attention, uint32_t{kForgetMethods}, __ATOMIC_ACQ_REL);
}

bool Session::HandleAttention(Thread& thread) {
  const uint32_t attention = __atomic_load_n(&thread.attention, __ATOMIC_ACQUIRE);
  if (attention & kNotRecorded) return false;
  if (attention & kForgetMethods) {
    __atomic_fetch_and(&thread.attention, ~uint32_t{kForgetMethods}, __ATOMIC_ACQ_REL);
    for (uint32_t i = 0; i < BucketCount(thread); ++i) thread.buckets[i] = MethodBucket{};
    thread.method_count = 0;
    ++thread.forgets;
  }
  return true;
}

void Session::Finish() {
  const uint64_t end = ptm::ReadTsc();
  ForEachThread([&](Thread& thread) {
    if (thread.record->state != profile::kThreadLive) return;
    thread.record->end_ticks = end;
    NoteFailedReads(thread);
    const auto cpu_ns = ptm::VirtualClock::CpuNanosOf(thread.record->tid);
    // The thread is gone but was never reported as ended: its CPU time is unknown; reports show 0
    // s.
    thread.record->cpu_ns_end =
        cpu_ns ? static_cast<uint64_t>(*cpu_ns) : thread.record->cpu_ns_start;
  });
  FinishTrace();
  writer_.Finish(end);
}

MethodSource& Session::SourceOf(uint64_t method) {
  return functions_ != nullptr && (method & kFunctionBit) != 0 ? *functions_ : *source_;
}

CachedMethod* Session::Resolve(Thread& thread, uint64_t method, uint64_t return_address) {
  CachedMethod* cached = FindCached(thread, method);
  if (cached != nullptr) {
    if (cached->return_address != static_cast<uint32_t>(return_address)) {
      cached->return_address = static_cast<uint32_t>(return_address);
      if (profile::TypeOf(cached->word) != FrameKind::kNative) {
        cached->word = profile::PackMethod(SourceOf(method).Classify(return_address),
                                           profile::MethodOf(cached->word));
      }
    }
    return cached;
  }
  MethodSource& source = SourceOf(method);
  const MethodTable::Id id = methods_.Find(source, method);
  const FrameKind type = id.is_native ? FrameKind::kNative : source.Classify(return_address);
  return PutInCache(
      thread, {method, profile::PackMethod(type, id.id), static_cast<uint32_t>(return_address)});
}

CachedMethod* Session::Remember(Thread& thread, MethodSource& source, uint64_t method) {
  return PutInCache(thread, {method, IndexOf(methods_.Find(source, method).id), 0});
}

CachedMethod* Session::PutInCache(Thread& thread, const CachedMethod& method) {
  MethodBucket* bucket = &thread.buckets[BucketOf(thread, method.method)];
  if (bucket->entry[3].method != 0 && GrowBuckets(thread)) {
    bucket = &thread.buckets[BucketOf(thread, method.method)];
  }
  std::move_backward(bucket->entry, bucket->entry + 3, bucket->entry + 4);
  bucket->entry[0] = method;
  ++thread.method_count;
  return &bucket->entry[0];
}

bool Session::GrowBuckets(Thread& thread) {
  const uint32_t old_count = BucketCount(thread);
  // Below a load factor of 1/4 a full bucket is clustering: growing would not help.
  if (old_count >= kMostBuckets || thread.method_count < old_count) return false;
  auto* buckets = static_cast<MethodBucket*>(Map(old_count * 2 * sizeof(MethodBucket)));
  if (buckets == nullptr) return false;
  MethodBucket* const old = thread.buckets;
  thread.buckets = buckets;
  --thread.bucket_shift;
  for (uint32_t i = 0; i < old_count; ++i) {
    for (const CachedMethod& cached : old[i].entry) {
      if (cached.method == 0) continue;
      MethodBucket& bucket = buckets[BucketOf(thread, cached.method)];
      for (CachedMethod& entry : bucket.entry) {
        if (entry.method != 0) continue;
        entry = cached;
        break;
      }
    }
  }
  if (old == reinterpret_cast<ThreadMemory*>(&thread)->buckets) return true;
  if (functions_ != nullptr) {  // the handler of a signal may have interrupted a search there
    thread.outgrown_buckets[std::countr_zero(old_count / kFirstBuckets)] = old;
  } else {
    munmap(old, old_count * sizeof(MethodBucket));
  }
  return true;
}

bool Session::GrowFrames(Thread& thread) {
  Timeline& timeline = thread.timeline;
  const size_t count = thread.cursor.limit - timeline.frames;
  auto* frames = static_cast<Frame*>(Map(count * 2 * sizeof(Frame)));
  if (frames == nullptr) return false;
  std::copy(timeline.frames, timeline.frames + count, frames);
  Frame* const old = timeline.frames;
  thread.cursor.top =
      frames + (thread.cursor.top - old);  // set first, because a sample may interrupt this
  timeline.frames = frames;
  thread.cursor.limit = frames + count * 2;
  if (old != FirstFrames(thread)) munmap(old, count * sizeof(Frame));
  return true;
}

void Session::SwitchTimeline(Thread& thread, uint64_t continuation, uint64_t vm_thread) {
  SwitchTo(thread, continuation, continuation != 0 ? source_->VirtualThreadId(vm_thread) : 0);
}

void Session::SwitchToVirtualThread(Thread& thread, uint64_t identity) {
  SwitchTo(thread, identity, identity);
}

void Session::SwitchTo(Thread& thread, uint64_t continuation, uint64_t identity) {
  if (options_.clock) {  // time up to here belongs to the previous timeline
    if (__atomic_load_n(thread.page_lock, __ATOMIC_RELAXED) == thread.page_seen) {
      const int64_t now = ptm::ReadTsc();
      thread.cursor.top[-1].node->self += now - thread.last;
      thread.last = now;
    }
  }
  Save(thread);
  if (thread.continuation != 0) {
    *thread.mounted = thread.timeline;
    Park(thread.mounted, thread.virtual_thread);
    thread.mounted = nullptr;
  } else {
    thread.carrier = thread.timeline;
  }
  thread.continuation = continuation;
  if (continuation == 0) return Load(thread, thread.carrier);
  thread.virtual_thread = identity;
  Timeline* timeline = TakeTimeline(thread.virtual_thread);
  if (timeline == nullptr) {
    thread.continuation = 0;  // no memory: its events go to the carrier and are healed there
    return Load(thread, thread.carrier);
  }
  // The frames may have another position on this stack than before unmounting.
  for (Frame* frame = timeline->frames; frame != timeline->cursor.top; ++frame)
    frame->sp = kNoHealing;
  thread.mounted = timeline;
  Load(thread, *timeline);
}

Timeline* Session::TakeTimeline(uint64_t virtual_thread) {
  {
    const UninterruptedLock guard(lock_, has_functions_);
    Timeline** link = &parked_[virtual_thread % kParkedBuckets];
    for (; *link != nullptr; link = &(*link)->next) {
      Timeline* timeline = *link;
      if (timeline->virtual_thread != virtual_thread) continue;
      *link = timeline->next;
      return timeline;
    }
    if (Timeline* timeline = free_timelines_) {
      free_timelines_ = timeline->next;
      return timeline;
    }
  }
  Timeline* const timeline = NewTimeline();
  if (timeline == nullptr) return nullptr;
  if (OpenTimeline(*timeline, profile::kThreadVirtual)) {
    std::strcpy(timeline->record->name, "virtual threads");
    return timeline;
  }
  const UninterruptedLock guard(lock_, has_functions_);
  timeline->next = std::exchange(unopened_timelines_, timeline);
  return nullptr;
}

// Returns a timeline that could not be opened before, which may already have a row, or else a new
// one. Returns null if there is no memory.
Timeline* Session::NewTimeline() {
  {
    const UninterruptedLock guard(lock_, has_functions_);
    if (Timeline* unopened = unopened_timelines_) {
      unopened_timelines_ = unopened->next;
      return unopened;
    }
  }
  const size_t frames = functions_ != nullptr ? kVirtualFunctionFrames : kFirstFrames;
  auto* memory = static_cast<TimelineMemory*>(Map(BytesOfTimeline(frames)));
  if (memory == nullptr) return nullptr;
  Timeline* timeline = new (&memory->timeline) Timeline;
  memory->first_frames = frames;
  timeline->frames = timeline->cursor.top = memory->frames;
  timeline->cursor.limit = memory->frames + frames;
  return timeline;
}

void Session::Park(Timeline* timeline, uint64_t virtual_thread) {
  const bool ended = timeline->cursor.top == timeline->frames + 1;
  timeline->virtual_thread = virtual_thread;
  const UninterruptedLock guard(lock_, has_functions_);
  Timeline** head = ended ? &free_timelines_ : &parked_[virtual_thread % kParkedBuckets];
  timeline->next = *head;
  *head = timeline;
}

void Session::NextTrainRecords(Thread& thread) {
  constexpr uint32_t kRun = 1 << 14;
  if (profile::TrainRecord* records = writer_.AllocateTrain(kRun)) {
    thread.training = {records, records + kRun};
  } else {
    thread.training = {std::begin(thread.train_sink), std::end(thread.train_sink)};
  }
}

}  // namespace jprof::engine
