#include "jprof/agent/locks/locks.h"

#include <algorithm>
#include <array>
#include <utility>

#include "jprof/agent/vm/in_use.h"
#include "jprof/engine/woven.h"

namespace jprof::agent {
namespace {

// The methods of JprofLocks in the order of Locks::Call, with the events that call them.
struct Event {
  const char* method;
  jvmtiEvent event;
};
constexpr std::array<Event, 4> kEvents = {{{"contended", JVMTI_EVENT_MONITOR_CONTENDED_ENTER},
                                           {"entered", JVMTI_EVENT_MONITOR_CONTENDED_ENTERED},
                                           {"waits", JVMTI_EVENT_MONITOR_WAIT},
                                           {"resumes", JVMTI_EVENT_MONITOR_WAITED}}};

template <Locks::Call kCall>
void Tell(JNIEnv* jni, jobject monitor) {
  if (const InUse<Locks> locks; locks) locks->Tell(jni, kCall, monitor);
}

void JNICALL OnContended(jvmtiEnv*, JNIEnv* jni, jthread, jobject monitor) {
  Tell<Locks::Call::kContended>(jni, monitor);
}
void JNICALL OnEntered(jvmtiEnv*, JNIEnv* jni, jthread, jobject monitor) {
  Tell<Locks::Call::kEntered>(jni, monitor);
}
void JNICALL OnWait(jvmtiEnv*, JNIEnv* jni, jthread, jobject monitor, jlong) {
  Tell<Locks::Call::kWaits>(jni, monitor);
}
void JNICALL OnWaited(jvmtiEnv*, JNIEnv* jni, jthread, jobject monitor, jboolean) {
  Tell<Locks::Call::kResumes>(jni, monitor);
}

jint JNICALL IdOf(JNIEnv* jni, jclass, jclass type, jint kind) {
  const InUse<Locks> locks;
  return locks ? locks->IdOf(jni, type, static_cast<LockKind>(kind)) : 0;
}

jboolean JNICALL AddEdge(JNIEnv*, jclass, jint kind, jlong from, jlong to, jint from_object,
                         jint to_object, jlong time) {
  const InUse<Locks> locks;
  if (!locks) return JNI_TRUE;
  return locks->AddEdge({.kind = static_cast<profile::LockEdgeKind>(kind),
                         .from = locks->NodeAt(from),
                         .to = locks->NodeAt(to),
                         .from_object = static_cast<uint32_t>(from_object),
                         .to_object = static_cast<uint32_t>(to_object),
                         .count = 1,
                         .time_ns = time});
}

}  // namespace

Result<std::unique_ptr<Locks>> Locks::Open(jvmtiEnv* jvmti, engine::Session& session, bool lite) {
  jvmtiCapabilities wanted = {};
  wanted.can_generate_monitor_events = 1;
  if (jvmti->AddCapabilities(&wanted) != JVMTI_ERROR_NONE)
    return Fail("this JVM does not report monitors");
  return std::unique_ptr<Locks>(new Locks(jvmti, session, lite));
}

void Locks::AddTo(JvmtiEvents& events) {
  using Slots = jvmtiEventCallbacks;
  events.AddDisabled(&Slots::MonitorContendedEnter, kGuarded<OnContended>);
  events.AddDisabled(&Slots::MonitorContendedEntered, kGuarded<OnEntered>);
  events.AddDisabled(&Slots::MonitorWait, kGuarded<OnWait>);
  events.AddDisabled(&Slots::MonitorWaited, kGuarded<OnWaited>);
}

std::span<const JNINativeMethod> Locks::Natives() {
  static const JNINativeMethod kNatives[] = {
      {const_cast<char*>("idOf"), const_cast<char*>("(Ljava/lang/Class;I)I"),
       reinterpret_cast<void*>(agent::IdOf)},
      {const_cast<char*>("addEdge"), const_cast<char*>("(IJJIIJ)Z"),
       reinterpret_cast<void*>(agent::AddEdge)}};
  return kNatives;
}

bool Locks::FindMethods(JNIEnv* jni) {
  for (size_t i = 0; i < kEvents.size(); ++i) {
    methods_[i] = jni->GetStaticMethodID(class_, kEvents[i].method, "(Ljava/lang/Object;)V");
    if (methods_[i] == nullptr) return false;
  }
  return true;
}

Result<void> Locks::Begin(JNIEnv* jni, jclass locks) {
  class_ = static_cast<jclass>(jni->NewGlobalRef(locks));
  const jmethodID begin = jni->GetStaticMethodID(class_, "begin", "(JJZ)V");
  if (begin == nullptr || !FindMethods(jni)) {
    jni->ExceptionClear();
    return Fail("the class java.lang.JprofLocks of this JVM is of another build of jprof");
  }
  Publish(*this);
  profile::Writer& writer = session_.writer();
  const jlong row = (writer.metric_count() - 1) * sizeof(int64_t);
  jni->CallStaticVoidMethod(class_, begin, reinterpret_cast<jlong>(writer.extra()), row,
                            static_cast<jboolean>(!lite_));
  for (const Event& event : kEvents) EnableEvent(jvmti_, event.event);
  return {};
}

void Locks::End(JNIEnv* jni) {
  if (class_ == nullptr) return;
  for (const Event& event : kEvents)
    jvmti_->SetEventNotificationMode(JVMTI_DISABLE, event.event, nullptr);
  jni->CallStaticVoidMethod(class_, jni->GetStaticMethodID(class_, "end", "()V"));
  Unpublish(*this);
  jni->DeleteGlobalRef(std::exchange(class_, nullptr));
}

jint Locks::IdOf(JNIEnv*, jclass type, LockKind kind) const {
  JvmtiString signature(jvmti_);
  if (jvmti_->GetClassSignature(type, signature.out(), nullptr) != JVMTI_ERROR_NONE) return 0;
  const std::string_view name = InternalName(signature.view());
  engine::ClassNames source(kind == LockKind::kMonitor ? std::string_view() : EntryOf(kind).name);
  return static_cast<jint>(
      IndexOf(session_.methods().Find(source, reinterpret_cast<uint64_t>(&name)).id));
}

uint32_t Locks::NodeAt(jlong place) const {
  const profile::Node* const nodes = session_.writer().nodes();
  const profile::Node* const node = engine::WovenNode(nodes, static_cast<uint64_t>(place));
  return node != nullptr ? static_cast<uint32_t>(node - nodes) : 0;
}

// An exception, because the stack or the heap is full, must not reach the program here.
void Locks::Tell(JNIEnv* jni, Call call, jobject monitor) const {
  jni->CallStaticVoidMethod(class_, methods_[static_cast<size_t>(call)], monitor);
  if (jni->ExceptionCheck()) jni->ExceptionClear();
}

}  // namespace jprof::agent
