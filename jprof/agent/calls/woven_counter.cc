#include "jprof/agent/calls/woven_counter.h"

#include <atomic>
#include <utility>

#include "jprof/agent/calls/define_counter_class.h"
#include "jprof/agent/calls/woven_natives.h"
#include "jprof/agent/vm/agent_use.h"
#include "jprof/engine/woven.h"
#include "jprof/hotspot/vm/class_archive.h"
#include "jprof/hotspot/vm/libjvm_image.h"
#include "jprof/hotspot/vm/load.h"
#include "jprof/hotspot/vm/spare_word.h"
#include "jprof/setup/print_message.h"
#include "jprof/weave/counter_class.h"
#include "options/woven_jdks.h"

namespace jprof::agent {
namespace {

// Means for JprofCounter that there is no recording.
constexpr uint64_t kNoRegion = uint64_t{1} << 62;

// Reads libjvm.so once for all recordings of the process.
Result<uint64_t> FindSpareWord(const hotspot::VmStructs& structs) {
  static std::atomic<uint64_t> found = 0;
  if (const uint64_t offset = found.load(); offset != 0) return offset;
  if (weave::CounterClass().empty()) return Fail("this build of jprof was made without a JDK");
  const auto image = hotspot::LibjvmImage::Open();
  if (!image) return std::unexpected(image.error());
  const auto offset = hotspot::SpareWordOfThread(*image, structs);
  if (offset) found = *offset;
  return offset;
}

Result<void> AddCapabilities(jvmtiEnv* jvmti) {
  jvmtiCapabilities wanted = {};
  wanted.can_retransform_classes = 1;
  wanted.can_retransform_any_class = 1;
  wanted.can_generate_all_class_hook_events = 1;
  if (jvmti->AddCapabilities(&wanted) == JVMTI_ERROR_NONE) return {};
  return Fail("this JVM cannot retransform classes");
}

}  // namespace

Result<void> CheckNoArchive(const hotspot::VmStructs& structs) {
  const std::string option = hotspot::ArchiveOption(structs);
  if (option.empty()) return {};
  return Fail(
      "with {} the JVM writes an archive of its classes, and would crash if they were woven",
      option);
}

Result<void> CheckWovenCounter(int java_version) {
  if (auto known = options::CheckWovenJdk(java_version); !known) return known;
  const auto structs = hotspot::VmStructs::Load();
  if (!structs) return Fail("this JVM is not HotSpot");
  if (auto none = CheckNoArchive(*structs); !none) return none;
  const auto word = FindSpareWord(*structs);
  if (!word) return std::unexpected(word.error());
  const auto addresses = engine::PrepareWoven();
  if (!addresses) return std::unexpected(addresses.error());
  return {};
}

std::atomic<WovenCounter*> WovenCounter::counting = nullptr;

WovenCounter* WovenCounter::InUse(const AgentUse& use) {
  return use ? counting.load(std::memory_order_acquire) : nullptr;
}

WovenCounter::WovenCounter(jvmtiEnv* jvmti, engine::Session& session, uint64_t current_at,
                           bool attached)
    : jvmti_(jvmti),
      session_(session),
      current_at_(current_at),
      classes_(jvmti, session),
      virtual_threads_(jvmti, classes_, attached) {}

Result<std::unique_ptr<WovenCounter>> WovenCounter::Open(jvmtiEnv* jvmti,
                                                         const hotspot::VmStructs& structs,
                                                         engine::Session& session, bool attached) {
  const auto word = FindSpareWord(structs);
  if (!word) return std::unexpected(word.error());
  if (auto added = AddCapabilities(jvmti); !added) return std::unexpected(added.error());
  return std::unique_ptr<WovenCounter>(new WovenCounter(jvmti, session, *word, attached));
}

void WovenCounter::AddTo(JvmtiEvents& events) {
  events.AddDisabled(&jvmtiEventCallbacks::ClassFileLoadHook, kGuarded<OnClassFile>);
  events.AddDisabled(&jvmtiEventCallbacks::ClassLoad, kGuarded<OnClassLoad>);
}

Result<void> WovenCounter::Begin(JNIEnv* jni) {
  classes_.statistics().Begin(*session().writer().header());
  counting.store(this, std::memory_order_release);  // methods of an earlier recording may still run
  auto begun = DefineClass(jni);
  if (begun) begun = BeginEvents();
  if (begun) begun = virtual_threads_.Begin(jni, counter_);
  if (!begun) {
    End(jni);
    return begun;
  }
  classes_.WeaveLoaders(jni);
  classes_.WeaveOthers(jni);
  SetRegion(jni, engine::PlaceOf(session().writer().nodes()));
  return {};
}

// Enables the events in an order in which no class has only the first one.
Result<void> WovenCounter::BeginEvents() {
  if (EnableEvent(jvmti_, JVMTI_EVENT_CLASS_LOAD) &&
      EnableEvent(jvmti_, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK))
    return {};
  return Fail("this JVM does not report the classes that it loads");
}

void WovenCounter::End(JNIEnv* jni) {
  if (counter_ == nullptr) return counting.store(nullptr, std::memory_order_release);
  classes_.Restore(jni);
  jvmti_->SetEventNotificationMode(JVMTI_DISABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, nullptr);
  jvmti_->SetEventNotificationMode(JVMTI_DISABLE, JVMTI_EVENT_CLASS_LOAD, nullptr);
  classes_.Close(jni);
  SetRegion(jni, kNoRegion);
  counting.store(nullptr, std::memory_order_release);
  jni->DeleteGlobalRef(counter_);
  counter_ = nullptr;
}

Result<void> WovenCounter::DefineClass(JNIEnv* jni) {
  JavaVM* java = nullptr;
  jni->GetJavaVM(&java);
  const auto defined = DefineCounterClass(java, jni, CounterNatives(), engine::woven_origin);
  if (!defined) return std::unexpected(defined.error());
  counter_ = static_cast<jclass>(jni->NewGlobalRef(*defined));
  jni->DeleteLocalRef(*defined);
  return {};
}

void WovenCounter::SetRegion(JNIEnv* jni, uint64_t begin) const {
  jni->SetStaticLongField(counter_, jni->GetStaticFieldID(counter_, "region", "J"),
                          static_cast<jlong>(begin));
}

// Runs on a thread of the program.
void WovenCounter::ExpectVirtualThreads(JNIEnv* jni) {
  if (virtual_threads_.SetHasCarriers(jni, counter_)) return;
  setup::PrintMessage(
      "no calls are counted from here on: the program has begun to use virtual threads, and the "
      "JVM refuses to replace JprofCounter, which another agent may have changed; use "
      "COUNTER=probe (--counter probe)");
  session().LostEvent();
  classes_.RestoreAtOnce(jni);
}

void JNICALL WovenCounter::OnClassFile(jvmtiEnv*, JNIEnv* jni, jclass redefined, jobject loader,
                                       const char* name, jobject, jint bytes,
                                       const unsigned char* data, jint* new_bytes,
                                       unsigned char** new_data) {
  const AgentUse use;
  WovenCounter* const counter = InUse(use);
  if (counter == nullptr) return;
  counter->classes_.OnClassFile(jni, {redefined, loader, name, {data, static_cast<size_t>(bytes)}},
                                {new_bytes, new_data});
}

void JNICALL WovenCounter::OnClassLoad(jvmtiEnv*, JNIEnv* jni, jthread, jclass loaded) {
  const AgentUse use;
  WovenCounter* const counter = InUse(use);
  if (counter != nullptr) counter->classes_.OnClassLoad(jni, loaded);
}

}  // namespace jprof::agent
