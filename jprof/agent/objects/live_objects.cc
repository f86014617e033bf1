#include "jprof/agent/objects/live_objects.h"

#include <dlfcn.h>

#include "common/random.h"
#include "jprof/agent/objects/marked_objects.h"
#include "jprof/agent/vm/in_use.h"
#include "jprof/hotspot/objects/object_counts.h"
#include "jprof/setup/print_message.h"

namespace jprof::agent {
namespace {

constexpr jint kDefaultHeapInterval = 512 * 1024;  // of JVMTI
constexpr jlong kCounted = 1;                      // the tag of an object that has been counted

void Add(uint32_t node, uint64_t bytes, double weight, std::vector<LiveSum>& sums) {
  sums[node].objects += weight;
  sums[node].bytes += weight * static_cast<double>(bytes);
}

void JNICALL OnSampledAllocation(jvmtiEnv*, JNIEnv* jni, jthread, jobject object, jclass,
                                 jlong size) {
  const InUse<LiveObjects> live;
  if (live) live->OnSampled(jni, object, static_cast<uint64_t>(size));
}

void JNICALL OnStart(jvmtiEnv*, JNIEnv* jni, jthread thread) {
  const InUse<LiveObjects> live;
  if (live) live->OnThreadStart(jni, thread);
}

// The VM's implementation of Object.clone, which is null unless clones are followed.
using CloneFunction = jobject(JNICALL*)(JNIEnv*, jobject);
CloneFunction vm_clone = nullptr;

jobject JNICALL CloneAndFollow(JNIEnv* jni, jobject original) {
  const jobject clone = vm_clone(jni, original);
  if (clone == nullptr) return nullptr;
  const InUse<LiveObjects> live;
  if (live) NoteIfNoMemory([&] { live->OnCloned(jni, clone); });
  return clone;
}

void JNICALL OnNativeMethod(jvmtiEnv*, JNIEnv*, jthread, jmethodID, void* address,
                            void** new_address) {
  if (address == reinterpret_cast<void*>(vm_clone))
    *new_address = reinterpret_cast<void*>(CloneAndFollow);
}

void* VmFunction(const char* name) {
  return dlsym(dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD), name);
}

}  // namespace

LiveObjects::LiveObjects(const Setting& setting, jvmtiEnv* jvmti, AllocationInterval interval)
    : setting_(setting), jvmti_(jvmti), interval_(interval), records_(setting.session.writer()) {}

LiveObjects::~LiveObjects() {
  Unpublish(*this);
  // The interval belongs to the VM, not to an environment.
  if (!marks_) jvmti_->SetHeapSamplingInterval(kDefaultHeapInterval);
  jvmti_->DisposeEnvironment();
}

Result<std::unique_ptr<LiveObjects>> LiveObjects::Open(const Setting& setting) {
  jvmtiEnv* const jvmti = NewJvmtiEnv(setting.java);
  if (jvmti == nullptr) return Fail("this JVM has no JVMTI");
  const AllocationInterval interval(setting.options.live_interval, MajorVersion(setting.java));
  std::unique_ptr<LiveObjects> live(new LiveObjects(setting, jvmti, interval));
  if (setting.options.live == options::Live::kExact) {
    const auto marks = hotspot::ObjectMarks::Open(setting.vm.structs);
    if (!marks) return WrongUse("LIVE=exact: {}; use LIVE=sampled", marks.error().message);
    live->marks_ = *marks;
  }
  if (auto opened = live->OpenEvents(); !opened) return std::unexpected(opened.error());
  return live;
}

Result<void> LiveObjects::OpenEvents() {
  using Slots = jvmtiEventCallbacks;
  jvmtiCapabilities wanted = {};
  wanted.can_tag_objects = marks_.has_value();
  wanted.can_generate_native_method_bind_events = marks_.has_value();
  wanted.can_generate_sampled_object_alloc_events = !marks_.has_value();
  if (jvmti_->AddCapabilities(&wanted) != JVMTI_ERROR_NONE)
    return Fail("this JVM does not report {}", marks_ ? "live objects" : "samples of allocations");
  AddVirtualThreadSupport(jvmti_);
  events_.Add(JVMTI_EVENT_THREAD_START, &Slots::ThreadStart, kGuarded<OnStart>);
  if (marks_) {
    // The code with which C2 replaces clone() clears the mark word of some objects.
    if (hotspot::Vm::IsOn(setting_.vm.structs, "UseZGC"))
      hotspot::Vm::DisableIntrinsic(setting_.vm.structs, "_clone");
    vm_clone = reinterpret_cast<CloneFunction>(VmFunction("JVM_Clone"));
    events_.Add(JVMTI_EVENT_NATIVE_METHOD_BIND, &Slots::NativeMethodBind, kGuarded<OnNativeMethod>);
  } else {
    jvmti_->SetHeapSamplingInterval(static_cast<jint>(interval_.vm_bytes()));
    events_.Add(JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, &Slots::SampledObjectAlloc,
                kGuarded<OnSampledAllocation>);
  }
  return {};
}

// Clones are followed from the start. Objects can be sampled in the live phase only.
void LiveObjects::BeginWithJvm() {
  Publish(*this);
  if (marks_) events_.Install(jvmti_);
}

void LiveObjects::Begin(JNIEnv* jni) {
  if (!marks_) events_.Install(jvmti_);
  program_end_.Begin(jni);
  const uint64_t seconds = setting_.options.snapshots;
  const auto take = [this](JNIEnv* of_thread) { TakeSnapshot(of_thread); };
  if (seconds != 0 && !snapshots_.Begin(jvmti_, jni, seconds, take))
    setup::PrintMessage("SNAPSHOTS: the JVM makes no thread; live objects are counted at the end");
}

void LiveObjects::OnThreadStart(JNIEnv* jni, jthread thread) {
  if (!program_end_.IsNow(jni, thread)) return;
  snapshots_.End();
  TakeSnapshot(jni);
  const std::lock_guard guard(snapshot_lock_);
  ended_ = true;
}

// Collectors with threads of their own have ended them before VMDeath: to wait for a collection
// would take for ever, also for one that another thread has begun.
bool LiveObjects::CanCollectAtDeath() const {
  const hotspot::VmStructs& structs = setting_.vm.structs;
  return !hotspot::Vm::IsOn(structs, "UseZGC") && !hotspot::Vm::IsOn(structs, "UseShenandoahGC");
}

void LiveObjects::End(JNIEnv* jni) {
  snapshots_.End();
  events_.Uninstall(jvmti_);
  if (CanCollectAtDeath()) TakeSnapshot(jni);
  const std::lock_guard guard(snapshot_lock_);
  if (!ended_) program_end_.End(jni);
  ended_ = true;
  table_.Clear(jni);
}

// The lock is free during the collection, which may never end: see CanCollectAtDeath.
void LiveObjects::TakeSnapshot(JNIEnv* jni) {
  if (ended_) return;
  jvmti_->ForceGarbageCollection();
  const std::lock_guard guard(snapshot_lock_);
  if (ended_) return;  // meanwhile
  const auto ns = static_cast<uint64_t>(MonotonicNanos() - begin_ns_);
  std::vector<LiveSum> sums(setting_.session.writer().header()->node_count);
  if (!marks_) return RecordSamples(jni, ns, sums);
  AddTable(jni, sums);
  const auto added = AddMarked(sums);
  RemoveTags(jni);
  if (!added) return setup::PrintMessage("live objects: " + added.error().message);
  records_.Begin(ns);
  for (uint32_t node = 1; node < sums.size(); ++node)
    if (sums[node].objects > 0) records_.Add(node, sums[node]);
  records_.End(sums);
}

// An object stands for as many as its probability to be sampled says.
void LiveObjects::RecordSamples(JNIEnv* jni, uint64_t ns, std::vector<LiveSum>& sums) {
  records_.Begin(ns);
  table_.ForEachLive(jni, [&](LiveObject& object) {
    if (object.node >= sums.size()) return;
    records_.Add(object);
    Add(object.node, object.bytes,
        1 / profile::SampledProbability(object.bytes, setting_.options.live_interval), sums);
  });
  records_.End(sums);
}

// Clones are all in the table. Some have a number in spite of that, because some collectors copy
// only the elements of an array: the tag tells that they have been counted.
void LiveObjects::AddTable(JNIEnv* jni, std::vector<LiveSum>& sums) {
  table_.ForEachLive(jni, [&](LiveObject& object) {
    if (object.node >= sums.size()) return;
    Add(object.node, object.bytes, 1, sums);
    jvmti_->SetTag(object.object, kCounted);
  });
}

void LiveObjects::RemoveTags(JNIEnv* jni) {
  table_.ForEachLive(jni, [&](LiveObject& object) { jvmti_->SetTag(object.object, 0); });
}

Result<void> LiveObjects::AddMarked(std::vector<LiveSum>& sums) {
  return ForEachMarkedObject(jvmti_, *marks_, [&](const MarkedObject& object) {
    if (object.number < sums.size()) Add(object.number, object.bytes, 1, sums);
  });
}

void LiveObjects::OnSampled(JNIEnv* jni, jobject object, uint64_t bytes) {
  engine::Thread* const thread = engine::current_thread;
  if (thread != nullptr && interval_.Keeps(bytes, NextRandom(thread->random)))
    AddLast(jni, object, bytes);
}

// JVMTI does not tell the size before the VM has started.
void LiveObjects::OnCloned(JNIEnv* jni, jobject clone) {
  jlong bytes = 0;
  jvmti_->GetObjectSize(clone, &bytes);
  AddLast(jni, clone, static_cast<uint64_t>(bytes));
}

// The probe has counted the object on this thread. Another size, where it is known, shows that the
// thread has allocated something else since, such as a clone's finalizer.
void LiveObjects::AddLast(JNIEnv* jni, jobject object, uint64_t bytes) {
  const engine::Thread* const thread = engine::current_thread;
  hotspot::ObjectCounts* const counts =
      thread != nullptr ? hotspot::ObjectCounts::Of(*thread) : nullptr;
  if (counts == nullptr || counts->last == nullptr) return;
  const bool is_known = counts->last->klass != 0 && (bytes == 0 || counts->last_bytes == bytes);
  if (!is_known) return setting_.session.LostEvent();
  table_.Add(jni, object, counts->last->node, counts->last_bytes);
  counts->last = nullptr;
}

}  // namespace jprof::agent
