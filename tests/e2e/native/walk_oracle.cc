// An agent that checks the stack walker where it is used: it interrupts every running Java thread
// several thousand times per second, walks its stack, and compares with AsyncGetCallTrace; in JVMTI
// callbacks it compares with GetStackTrace. Options: the file for the findings, the signals per
// second and, to record stacks for unit tests, the file for these. It also contains StackShapes'
// native method.
#include <dlfcn.h>
#include <jvmti.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "jprof/hotspot/vm/vm.h"
#include "jprof/hotspot/walk/stack_walker.h"
#if defined(__x86_64__)
#include "tests/e2e/native/stack_recorder.h"
#endif

namespace {

using jprof::FrameKind;
using jprof::hotspot::StackFrame;
using jprof::hotspot::StackWalk;

constexpr uint32_t kRoom = 2048;

// The layout that AsyncGetCallTrace requires.
struct CallFrame {
  jint bci;
  jmethodID method;
};
struct CallTrace {
  JNIEnv* env;
  jint count;
  CallFrame* frames;
};
using AsyncGetCallTrace = void (*)(CallTrace*, jint, void*);

struct Thread {
  pid_t tid = 0;
  JNIEnv* env = nullptr;
  uint64_t vm_thread = 0;
  jprof::unwind::StackBounds stack;
  int64_t cpu = 0;             // when last sampled
  std::atomic<int> state = 0;  // 1: requested, 2: in progress, 3: done
  StackWalk walk;
  int64_t nanos = 0;
  uint64_t pc = 0;           // interrupted
  StackFrame frames[kRoom];  // of the walk with a cache
  jprof::hotspot::LastStack last;
  StackWalk plain;  // of the walk without a cache
  StackFrame plain_frames[kRoom];
  CallTrace trace = {};
  CallFrame trace_frames[kRoom];
  jvmtiFrameInfo jvmti_frames[kRoom];  // for callbacks, as are the next
  StackFrame java_frames[kRoom];
};

struct Findings {
  std::mutex lock;
  long samples = 0, unknown = 0, truncated = 0, on_virtual = 0, in_heap = 0, java = 0;
  long both = 0, same = 0, same_but_top = 0, only_ours = 0, only_theirs = 0;
  long stacks = 0, equal_stacks = 0;
  long frames = 0, kept = 0, unlike_plain = 0;
  std::map<int, long> their_errors;
  std::map<std::string, long> edges, bottoms, lost_at, letters;
  std::map<std::string, std::string> examples;  // by edge
  std::vector<std::string> differences;
  std::vector<std::pair<uint32_t, int64_t>> times;  // depth, nanoseconds
};

jprof::unwind::Unwinder* unwinder;
jprof::hotspot::StackWalker* walker;
jprof::hotspot::Vm* vm;
jvmtiEnv* jvmti;
AsyncGetCallTrace async_get_call_trace;
std::mutex threads_lock;
std::vector<Thread*> threads;
thread_local Thread* self __attribute__((tls_model("initial-exec")));
Findings* findings;
std::atomic<bool> stopped = false;
std::string output, recorded;
int rate = 2000;

// Stacks as recorded unit tests: one of each kind, of few frames.
#if defined(__x86_64__)
jprof::hotspot::StackRecorder* recorder;
FILE* recording;

void PrepareToRecord() {
  if (recorder != nullptr) recorder->Prepare();
}
void Record(const Thread& thread, const void* context) {
  if (recorder != nullptr) recorder->Walk(context, thread.stack, thread.vm_thread);
}
// The kind of a stack: the letters of its frames, without repetitions.
void KeepRecorded(const Thread& thread) {
  static std::map<std::string, int> kinds;
  constexpr uint32_t kMostFrames = 28;
  if (recorder == nullptr || recorder->overflow()) return;
  const StackWalk& walk = recorder->walk();
  bool good = !walk.unknown && walk.depth == thread.plain.depth && walk.depth <= kMostFrames;
  std::string kind;
  for (uint32_t i = 0; good && i < walk.depth; ++i) {
    const StackFrame &frame = recorder->frames()[i], &live = thread.plain_frames[i];
    good = frame.method == live.method && frame.pc == live.pc && frame.bci == live.bci;
    const char letter = jprof::Letter(frame.type);
    if (kind.empty() || kind.back() != letter) kind += letter;
  }
  if (!good || kinds[kind]++ > 0) return;
  recorder->Print(recording, kind.c_str());
}
void OpenRecorder(const jprof::hotspot::VmStructs& structs) {
  if (recorded.empty() || (recording = fopen(recorded.c_str(), "w")) == nullptr) return;
  recorder = new jprof::hotspot::StackRecorder(structs, *unwinder);
  recorder->PrintVm(recording);
}
void CloseRecorder() {
  if (recording != nullptr) fclose(recording);
}
#else
void PrepareToRecord() {}
void Record(const Thread&, const void*) {}
void KeepRecorded(const Thread&) {}
void OpenRecorder(const jprof::hotspot::VmStructs&) {}
void CloseRecorder() {}
#endif

int64_t Now(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * 1'000'000'000L + time.tv_nsec;
}

// Values that identify their frame.
struct Refs final : jprof::hotspot::FrameNames {
  static jprof::profile::MethodRef Of(const StackFrame& frame) {
    const uint64_t mixed = (frame.method + static_cast<uint64_t>(frame.type)) * 0x9e3779b97f4a7c15;
    return static_cast<jprof::profile::MethodRef>(mixed >> 32 | 1);
  }
  jprof::profile::MethodRef RefOf(const StackFrame& frame) override { return Of(frame); }
};

void OnSignal(int, siginfo_t*, void* context) {
  const int saved = errno;
  Thread* thread = self;
  int asked = 1;
  if (thread != nullptr && thread->state.compare_exchange_strong(asked, 2)) {
    const int64_t begin = Now(CLOCK_MONOTONIC);
    Refs refs;
    thread->walk =
        walker->WalkSignal(context, thread->stack, thread->vm_thread, refs, thread->last);
    thread->nanos = Now(CLOCK_MONOTONIC) - begin;
    std::ranges::copy(thread->last.frames(), thread->frames);
    thread->plain =
        walker->WalkSignal(context, thread->stack, thread->vm_thread, thread->plain_frames, kRoom);
    Record(*thread, context);
    thread->pc = jprof::unwind::OfSignal(context).pc;
    thread->trace = {thread->env, 0, thread->trace_frames};
    async_get_call_trace(&thread->trace, kRoom, context);
    thread->state.store(3);
  }
  errno = saved;
}

bool IsJava(FrameKind type) { return type != FrameKind::kFunction && type != FrameKind::kOther; }

// "Class.method" of a Method*; only from the sampling thread, or under the findings' lock.
const std::string& NameOf(uint64_t method) {
  static std::unordered_map<uint64_t, std::string> names;
  std::string& name = names[method];
  jprof::engine::MethodText text;
  if (name.empty() && vm->Describe(method, &text))
    name = std::string(text.class_name) + "." + std::string(text.name);
  return name;
}

std::string Text(const StackFrame& frame) {
  char where[160];
  if (frame.type == FrameKind::kFunction) {
    Dl_info info;
    const char* symbol =
        dladdr(reinterpret_cast<void*>(frame.pc), &info) != 0 ? info.dli_sname : nullptr;
    snprintf(where, sizeof where, "F %s %lx", symbol != nullptr ? symbol : "?", frame.pc);
    return where;
  }
  if (frame.type == FrameKind::kOther) {
    snprintf(where, sizeof where, "O %.80s %lx", reinterpret_cast<const char*>(frame.method),
             frame.pc);
    return where;
  }
  return std::string(1, jprof::Letter(frame.type)) + " " + NameOf(frame.method) + "@" +
         std::to_string(frame.bci);
}

// The instructions before and after the innermost pc, of generated code.
std::string Code(const Thread& thread) {
  if (thread.walk.depth != 0 && thread.frames[0].type == FrameKind::kFunction) return "";
  std::string text = " | code";
  for (int i = -16; i < 16; ++i) {
    char byte[8];
    snprintf(byte, sizeof byte, "%s%02x", i == 0 ? " * " : " ",
             reinterpret_cast<const uint8_t*>(thread.pc)[i]);
    text += byte;
  }
  return text;
}

uint64_t MethodOf(jmethodID id) { return id == nullptr ? 0 : *reinterpret_cast<uint64_t*>(id); }

void Differ(const Thread& thread, const std::vector<const StackFrame*>& ours) {
  if (findings->differences.size() >= 12) return;
  std::string text = "differs:";
  for (uint32_t i = 0; i < std::min<uint32_t>(thread.walk.depth, 14); ++i)
    text += "\n   " + Text(thread.frames[i]);
  text +=
      "\n  theirs " + std::to_string(thread.trace.count) + " ours " + std::to_string(ours.size());
  for (int i = 0; i < std::min(thread.trace.count, 10); ++i) {
    const CallFrame& theirs = thread.trace.frames[i];
    text += "\n   " + NameOf(MethodOf(theirs.method)) + "@" + std::to_string(theirs.bci);
  }
  findings->differences.push_back(text);
}

// Whether the methods are equal and, from the second frame on, also the bytecode positions.
void CompareWithTheirs(const Thread& thread) {
  std::vector<const StackFrame*> ours;
  for (uint32_t i = 0; i < thread.walk.depth; ++i) {
    if (IsJava(thread.frames[i].type)) ours.push_back(&thread.frames[i]);
  }
  findings->java += !ours.empty();
  const CallTrace& theirs = thread.trace;
  if (theirs.count <= 0) {
    findings->only_ours += !ours.empty();
    ++findings->their_errors[theirs.count];
    return;
  }
  if (ours.empty()) {
    ++findings->only_theirs;
    return Differ(thread, ours);
  }
  ++findings->both;
  // They go on into the carrier of a virtual thread.
  bool same = thread.walk.is_virtual || static_cast<size_t>(theirs.count) == ours.size();
  bool top = true;
  for (size_t i = 0; i < ours.size() && static_cast<int>(i) < theirs.count; ++i) {
    const bool method = MethodOf(theirs.frames[i].method) == ours[i]->method;
    const bool bci =
        ours[i]->bci == std::max(theirs.frames[i].bci, -1) || ours[i]->type == FrameKind::kNative;
    if (i == 0) {
      top = method && bci;
    } else {
      same = same && method && bci;
    }
  }
  findings->same += same && top;
  findings->same_but_top += same && !top;
  if (!same) Differ(thread, ours);
}

// Returns the frames around this one, and the Java frames of AsyncGetCallTrace around the same one,
// in one line.
std::string Around(const Thread& thread, uint32_t at) {
  const uint32_t begin = at > 5 ? at - 5 : 0, end = std::min(at + 5, thread.walk.depth);
  std::string text = "frame " + std::to_string(at) + " of " + std::to_string(thread.walk.depth);
  for (uint32_t i = begin; i < end; ++i) text += " | " + Text(thread.frames[i]);
  text += " || theirs " + std::to_string(thread.trace.count);
  const auto java = [&thread](uint32_t until) {
    return static_cast<int>(std::count_if(thread.frames, thread.frames + until,
                                          [](const auto& frame) { return IsJava(frame.type); }));
  };
  for (int i = java(begin); i < std::min(java(end), thread.trace.count); ++i) {
    const CallFrame& frame = thread.trace.frames[i];
    text += " | " + NameOf(MethodOf(frame.method)) + "@" + std::to_string(frame.bci);
  }
  return text;
}

// Which of the program's methods calls which, ignoring others between them. Keeps the frames around
// the first such call, because the test knows only later which calls are wrong.
void NoteEdges(const Thread& thread) {
  std::string inner;
  for (uint32_t i = 0; i < thread.walk.depth; ++i) {
    if (!IsJava(thread.frames[i].type)) continue;
    const std::string& name = NameOf(thread.frames[i].method);
    if (name.rfind("StackShapes", 0) != 0 || name.find("$$Lambda") != std::string::npos) continue;
    if (!inner.empty()) {
      const std::string edge = name + " " + inner;
      if (++findings->edges[edge] == 1) findings->examples[edge] = Around(thread, i);
    }
    inner = name;
  }
  if (!inner.empty() && !thread.walk.unknown && !thread.walk.truncated && !thread.walk.in_heap)
    ++findings->bottoms[inner];
}

// Compares the walk with a cache and the one without.
void CompareWithPlain(const Thread& thread) {
  const StackWalk &ours = thread.walk, &plain = thread.plain;
  findings->frames += ours.depth;
  findings->kept += ours.kept;
  bool same = ours.depth == plain.depth && ours.unknown == plain.unknown &&
              ours.truncated == plain.truncated && ours.is_virtual == plain.is_virtual &&
              ours.in_heap == plain.in_heap;
  uint32_t at = 0;
  for (; same && at < ours.depth; ++at) {
    const StackFrame &mine = thread.frames[at], &right = thread.plain_frames[at];
    same = mine.type == right.type && mine.bci == right.bci && mine.method == right.method &&
           mine.pc == right.pc && mine.ref == Refs::Of(right);
  }
  if (same) return;
  if (++findings->unlike_plain > 5) return;
  std::string text = "remembered " + std::to_string(ours.depth) + " (" + std::to_string(ours.kept) +
                     " kept), plain " + std::to_string(plain.depth);
  for (uint32_t i = at > 3 ? at - 3 : 0; i < at + 2 && i < ours.depth && i < plain.depth; ++i)
    text += "\n   " + Text(thread.frames[i]) + "   " + Text(thread.plain_frames[i]);
  findings->differences.push_back(text);
}

void Judge(const Thread& thread) {
  std::lock_guard guard(findings->lock);
  CompareWithPlain(thread);
  ++findings->samples;
  findings->unknown += thread.walk.unknown;
  findings->truncated += thread.walk.truncated;
  findings->on_virtual += thread.walk.is_virtual;
  findings->in_heap += thread.walk.in_heap;
  for (uint32_t i = 0; i < thread.walk.depth; ++i) {
    ++findings->letters[std::string(1, jprof::Letter(thread.frames[i].type))];
  }
  if (thread.walk.unknown) {
    std::string text = std::to_string(thread.walk.depth);
    for (uint32_t i = thread.walk.depth > 3 ? thread.walk.depth - 3 : 0; i < thread.walk.depth;
         ++i) {
      text += " | " + Text(thread.frames[i]);
    }
    ++findings->lost_at[text + Code(thread)];
  }
  findings->times.emplace_back(thread.walk.depth, thread.nanos);
  CompareWithTheirs(thread);
  NoteEdges(thread);
}

// Whether the thread has run since its last sample.
bool HasRun(Thread& thread) {
  timespec time;
  const clockid_t clock =
      ~static_cast<clockid_t>(thread.tid) << 3 | 6;  // the CPU clock of a thread id
  if (clock_gettime(clock, &time) != 0) return false;
  const int64_t cpu = time.tv_sec * 1'000'000'000L + time.tv_nsec;
  return std::exchange(thread.cpu, cpu) != cpu;
}

void SampleOnce(Thread& thread) {
  if (!HasRun(thread)) return;
  PrepareToRecord();
  thread.state.store(1);
  if (syscall(SYS_tgkill, getpid(), thread.tid, SIGUSR2) != 0) return;
  for (int i = 0; i < 20'000 && thread.state.load() != 3; ++i) usleep(5);
  int asked = 1;
  if (thread.state.compare_exchange_strong(asked, 0))
    return;  // the thread did not handle it in time
  while (thread.state.load() == 2) usleep(5);
  KeepRecorded(thread);
  Judge(thread);
}

void Sample() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  while (!stopped) {
    if (unwinder->Stale()) (void)unwinder->Refresh();
    {
      std::lock_guard guard(threads_lock);
      for (Thread* thread : threads) SampleOnce(*thread);
    }
    usleep(1'000'000 / rate);
  }
}

void JNICALL OnThreadStart(jvmtiEnv*, JNIEnv* env, jthread) {
  if (self != nullptr) return;
  auto* thread = new Thread;
  thread->tid = static_cast<pid_t>(syscall(SYS_gettid));
  thread->env = env;
  pthread_attr_t attributes;
  void* low;
  size_t size;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_destroy(&attributes);
  thread->stack = {reinterpret_cast<uint64_t>(low), reinterpret_cast<uint64_t>(low) + size};
  thread->vm_thread = walker->VmThreadOf(env);
  if (thread->vm_thread == 0) fprintf(stderr, "walk_oracle: no VM thread\n");
  std::lock_guard guard(threads_lock);
  self = thread;
  threads.push_back(thread);
}

void JNICALL OnThreadEnd(jvmtiEnv*, JNIEnv*, jthread) {
  std::lock_guard guard(threads_lock);
  std::erase(threads, self);
  self = nullptr;  // leaked: a signal may be pending
}

// AsyncGetCallTrace requires existing method ids.
void MakeIds(jclass cls) {
  jint count;
  jmethodID* ids;
  if (jvmti->GetClassMethods(cls, &count, &ids) == JVMTI_ERROR_NONE)
    jvmti->Deallocate(reinterpret_cast<unsigned char*>(ids));
}

// Compares the walker with JVMTI on the calling thread.
void CompareStacks(jthread thread) {
  if (self == nullptr) return;
  jvmtiFrameInfo* theirs = self->jvmti_frames;
  StackFrame* ours = self->java_frames;
  jint count = 0;
  if (jvmti->GetStackTrace(thread, 0, kRoom, theirs, &count) != JVMTI_ERROR_NONE) return;
  const StackWalk walk = walker->WalkJava(self->stack, self->vm_thread, ours, kRoom);
  const auto depth = static_cast<jint>(walk.depth);
  bool equal = depth == count || (walk.in_heap && depth < count);
  for (jint i = 0; equal && i < depth; ++i) {
    equal = MethodOf(theirs[i].method) == ours[i].method && theirs[i].location == ours[i].bci;
  }
  std::lock_guard guard(findings->lock);
  ++findings->stacks;
  findings->equal_stacks += equal;
  if (equal || findings->differences.size() >= 12) return;
  std::string text =
      "JVMTI differs: " + std::to_string(walk.depth) + " of " + std::to_string(count);
  for (uint32_t i = 0; i < std::min<uint32_t>(12, std::max<uint32_t>(walk.depth, count)); ++i) {
    text += "\n   " + (i < walk.depth ? Text(ours[i]) : "-") + "   " +
            (static_cast<jint>(i) < count
                 ? NameOf(MethodOf(theirs[i].method)) + "@" + std::to_string(theirs[i].location)
                 : "-");
  }
  findings->differences.push_back(text);
}

void JNICALL OnClassLoad(jvmtiEnv*, JNIEnv*, jthread, jclass) {}
void JNICALL OnClassPrepare(jvmtiEnv*, JNIEnv*, jthread thread, jclass cls) {
  MakeIds(cls);
  CompareStacks(thread);
}
void JNICALL OnAllocation(jvmtiEnv*, JNIEnv*, jthread thread, jobject, jclass, jlong) {
  CompareStacks(thread);
}

void JNICALL OnInit(jvmtiEnv*, JNIEnv* env, jthread thread) {
  (void)unwinder->Refresh();
  jint count;
  jclass* classes;
  if (jvmti->GetLoadedClasses(&count, &classes) == JVMTI_ERROR_NONE) {
    for (jint i = 0; i < count; ++i) MakeIds(classes[i]);
  }
  OnThreadStart(jvmti, env, thread);
  std::thread(Sample).detach();
}

int64_t MedianAt(uint32_t low, uint32_t high) {
  std::vector<int64_t> found;
  for (const auto& [depth, nanos] : findings->times) {
    if (depth >= low && depth <= high) found.push_back(nanos);
  }
  if (found.empty()) return -1;
  std::nth_element(found.begin(), found.begin() + found.size() / 2, found.end());
  return found[found.size() / 2];
}

void WriteMap(FILE* file, const char* key, const std::map<std::string, long>& map) {
  for (const auto& [name, count] : map) fprintf(file, "%s\t%ld\t%s\n", key, count, name.c_str());
}

void JNICALL OnDeath(jvmtiEnv*, JNIEnv*) {
  stopped = true;
  std::lock_guard no_more(threads_lock);
  std::lock_guard guard(findings->lock);
  CloseRecorder();
  FILE* file = fopen(output.c_str(), "w");
  if (file == nullptr) return;
  const Findings& f = *findings;
  const std::pair<const char*, long> numbers[] = {{"samples", f.samples},
                                                  {"unknown", f.unknown},
                                                  {"truncated", f.truncated},
                                                  {"virtual", f.on_virtual},
                                                  {"in_heap", f.in_heap},
                                                  {"java", f.java},
                                                  {"both", f.both},
                                                  {"same", f.same},
                                                  {"same_but_top", f.same_but_top},
                                                  {"only_ours", f.only_ours},
                                                  {"only_theirs", f.only_theirs},
                                                  {"stacks", f.stacks},
                                                  {"equal_stacks", f.equal_stacks},
                                                  {"frames", f.frames},
                                                  {"kept", f.kept},
                                                  {"unlike_plain", f.unlike_plain},
                                                  {"ns_at_20", MedianAt(15, 30)},
                                                  {"ns_at_200", MedianAt(150, 250)},
                                                  {"ns_at_400", MedianAt(380, 480)}};
  for (const auto& [name, value] : numbers) fprintf(file, "number\t%ld\t%s\n", value, name);
  for (const auto& [code, count] : f.their_errors) fprintf(file, "error\t%ld\t%d\n", count, code);
  WriteMap(file, "edge", f.edges);
  WriteMap(file, "bottom", f.bottoms);
  for (const auto& [edge, text] : f.examples)
    fprintf(file, "example\t%s\t%s\n", edge.c_str(), text.c_str());
  WriteMap(file, "letter", f.letters);
  WriteMap(file, "lost", f.lost_at);
  for (const std::string& text : f.differences) fprintf(file, "# %s\n", text.c_str());
  fclose(file);
}

void HandleSignal() {
  struct sigaction action = {};
  action.sa_sigaction = OnSignal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGUSR2, &action, nullptr);
}

bool OpenWalker() {
  const auto structs = jprof::hotspot::VmStructs::Load();
  if (!structs) return false;
  unwinder = new jprof::unwind::Unwinder;
  auto opened = jprof::hotspot::StackWalker::Open(*structs, *unwinder);
  auto opened_vm = jprof::hotspot::Vm::Open(*structs);
  if (!opened || !opened_vm) {
    fprintf(stderr, "walk_oracle: %s\n",
            opened ? opened_vm.error().message.c_str() : opened.error().message.c_str());
    return false;
  }
  walker = new jprof::hotspot::StackWalker(*opened);
  vm = new jprof::hotspot::Vm(*opened_vm);
  OpenRecorder(*structs);
  return true;
}

}  // namespace

extern "C" JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* java, char* options, void*) {
  const std::string text = options == nullptr ? "" : options;
  const size_t comma = text.find(',');
  output = text.substr(0, comma);
  if (comma != std::string::npos) rate = std::max(1, atoi(text.c_str() + comma + 1));
  if (const size_t next = text.find(',', comma + 1); comma != next && next != std::string::npos)
    recorded = text.substr(next + 1);
  findings = new Findings;
  void* libjvm = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
  async_get_call_trace = reinterpret_cast<AsyncGetCallTrace>(dlsym(libjvm, "AsyncGetCallTrace"));
  if (async_get_call_trace == nullptr || !OpenWalker()) return JNI_ERR;
  if (java->GetEnv(reinterpret_cast<void**>(&jvmti), JVMTI_VERSION_11) != JNI_OK) return JNI_ERR;
  jvmtiCapabilities capabilities = {};
  capabilities.can_generate_sampled_object_alloc_events = 1;
  capabilities.can_generate_all_class_hook_events = 1;
  jvmti->AddCapabilities(&capabilities);
  jvmti->SetHeapSamplingInterval(64 << 10);
  jvmtiEventCallbacks callbacks = {};
  callbacks.VMInit = OnInit;
  callbacks.VMDeath = OnDeath;
  callbacks.ThreadStart = OnThreadStart;
  callbacks.ThreadEnd = OnThreadEnd;
  callbacks.ClassLoad = OnClassLoad;
  callbacks.ClassPrepare = OnClassPrepare;
  callbacks.SampledObjectAlloc = OnAllocation;
  jvmti->SetEventCallbacks(&callbacks, sizeof callbacks);
  for (const jvmtiEvent event :
       {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END,
        JVMTI_EVENT_CLASS_LOAD, JVMTI_EVENT_CLASS_PREPARE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC}) {
    jvmti->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr);
  }
  HandleSignal();
  return JNI_OK;
}

extern "C" JNIEXPORT jint JNICALL Java_StackShapes_nativeLoop(JNIEnv* env, jclass cls,
                                                              jint rounds) {
  jmethodID back = env->GetStaticMethodID(cls, "back", "(I)I");
  volatile jint sum = 0;
  for (jint i = 0; i < rounds; ++i) {
    for (int j = 0; j < 5'000; ++j) sum = sum + j;
    sum = sum + env->CallStaticIntMethod(cls, back, i);
  }
  return sum;
}
