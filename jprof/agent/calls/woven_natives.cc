#include "jprof/agent/calls/woven_natives.h"

#include "jprof/agent/calls/define_counter_class.h"
#include "jprof/agent/calls/woven_counter.h"
#include "jprof/agent/vm/in_use.h"
#include "jprof/engine/labels/labels.h"
#include "jprof/engine/woven.h"

namespace jprof::agent {
namespace {

jlong Place(const profile::Node* node) { return static_cast<jlong>(engine::PlaceOf(node)); }

// Represents a call from JprofCounter. It is false if there is no recording.
struct Call {
  Call() : thread(counter ? Thread() : nullptr) {}
  explicit operator bool() const { return static_cast<bool>(counter); }

  profile::Node* nodes() const { return counter->session().writer().nodes(); }
  // Returns null if the place is not a node of this recording, or the thread is not recorded.
  profile::Node* NodeAt(jlong place) const {
    return thread != nullptr ? engine::WovenNode(nodes(), static_cast<uint64_t>(place)) : nullptr;
  }
  profile::Node* Root() const { return engine::WovenRoot(*thread); }
  uint64_t* Word(jlong vm_thread) const {
    return reinterpret_cast<uint64_t*>(static_cast<uint64_t>(vm_thread) + counter->current_at());
  }

  const InUse<WovenCounter> counter;
  engine::Thread* const thread;  // null if it is not recorded

 private:
  // A thread that is sampled may have a state already.
  engine::Thread* Thread() const {
    counter->threads().AdoptCurrent();
    return engine::WovenThread(counter->session());
  }
};

jlong JNICALL CurrentOffset(JNIEnv*, jclass) {
  const InUse<WovenCounter> counter;
  return counter ? static_cast<jlong>(counter->current_at()) : 0;
}

jboolean JNICALL HasCarriers(JNIEnv* jni, jclass) {
  if (!HasCarrierThreads(jni)) return JNI_FALSE;
  const InUse<WovenCounter> counter;
  return counter && counter->IgnoreCarriers(jni) ? JNI_FALSE : JNI_TRUE;
}

void JNICALL ExpectVirtualThreads(JNIEnv* jni, jclass) {
  if (const InUse<WovenCounter> counter; counter) counter->ExpectVirtualThreads(jni);
}

jlong JNICALL EmptyNode(JNIEnv*, jclass) { return static_cast<jlong>(engine::woven_origin); }

jlong JNICALL Root(JNIEnv* jni, jclass, jlong vm_thread) {
  const Call call;
  if (!call) return 0;
  if (call.thread == nullptr) return Place(call.nodes());  // not recorded
  // The VM reports no start of a thread that began before events were enabled.
  call.counter->threads().AddToFollowers(jni);
  call.thread->woven_current = call.Word(vm_thread);
  return Place(call.Root());
}

// `id` is 0 for the class of a lock that was asked for when the recording ended.
template <FrameKind kKind>
jlong JNICALL Add(JNIEnv*, jclass, jlong parent, jint id) {
  const Call call;
  profile::Node* const node = call.NodeAt(parent);
  if (node == nullptr || id == 0) return 0;
  const profile::MethodId method{static_cast<uint32_t>(id)};
  return engine::ChildOf(engine::WovenChild(*call.thread, node, method, kKind));
}

jlong JNICALL AddSite(JNIEnv*, jclass, jlong parent, jint id) {
  const Call call;
  profile::Node* const node = call.NodeAt(parent);
  if (node == nullptr) return 0;
  const profile::MethodId site{static_cast<uint32_t>(id)};
  return engine::ChildOf(engine::WovenSite(*call.thread, node, site));
}

// Returns the id of a label, negative if it is the one for all that are too many; 0 if there is no
// recording, or if labels are not recorded.
jint JNICALL LabelId(JNIEnv* jni, jclass, jstring text) {
  const InUse<WovenCounter> counter;
  return counter ? counter->LabelId(jni, text) : 0;
}

jlong JNICALL Overflow(JNIEnv*, jclass, jlong parent) {
  const Call call;
  profile::Node* const node = call.NodeAt(parent);
  return node != nullptr ? engine::ChildOf(engine::WovenOverflow(*call.thread, node)) : 0;
}

void JNICALL Mounted(JNIEnv*, jclass, jlong vm_thread, jlong id) {
  const Call call;
  if (!call || call.thread == nullptr) return;
  uint64_t* const word = call.Word(vm_thread);
  call.thread->woven_current = word;
  const uint64_t not_recorded = engine::PlaceOf(call.nodes());
  profile::Node* current = call.NodeAt(static_cast<jlong>(*word));
  if (current == nullptr)
    current = *word == not_recorded ? engine::NodeBeforeMount(*call.thread) : call.Root();
  current = engine::WovenSwitch(*call.thread, static_cast<uint64_t>(id), current);
  *word = current != nullptr ? engine::PlaceOf(current) : not_recorded;
}

// RegisterNatives does not change the strings.
JNINativeMethod Native(const char* name, const char* signature, void* function) {
  return {const_cast<char*>(name), const_cast<char*>(signature), function};
}

}  // namespace

std::span<const JNINativeMethod> CounterNatives() {
  static const JNINativeMethod kNatives[] = {
      Native("hasCarriers", "()Z", reinterpret_cast<void*>(HasCarriers)),
      Native("expectVirtualThreads", "()V", reinterpret_cast<void*>(ExpectVirtualThreads)),
      Native("emptyNode", "()J", reinterpret_cast<void*>(EmptyNode)),
      Native("currentOffset", "()J", reinterpret_cast<void*>(CurrentOffset)),
      Native("root", "(J)J", reinterpret_cast<void*>(Root)),
      Native("add", "(JI)J", reinterpret_cast<void*>(Add<FrameKind::kWoven>)),
      Native("addClass", "(JI)J", reinterpret_cast<void*>(Add<FrameKind::kClass>)),
      Native("addSite", "(JI)J", reinterpret_cast<void*>(AddSite)),
      Native("addLabel", "(JI)J", reinterpret_cast<void*>(Add<FrameKind::kLabel>)),
      Native("labelId", "(Ljava/lang/String;)I", reinterpret_cast<void*>(LabelId)),
      Native("overflow", "(J)J", reinterpret_cast<void*>(Overflow)),
      Native("answer", "(Ljava/lang/Object;Ljava/lang/String;)Ljava/lang/Class;",
             reinterpret_cast<void*>(AnswerClass)),
      Native("mounted", "(JJ)V", reinterpret_cast<void*>(Mounted)),
  };
  return kNatives;
}

}  // namespace jprof::agent
