#include "jprof/agent/calls/woven_counter.h"

#include <atomic>
#include <utility>

#include "jprof/agent/calls/define_counter_class.h"
#include "jprof/agent/calls/woven_natives.h"
#include "jprof/agent/vm/in_use.h"
#include "jprof/engine/labels/labels.h"
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

// Fails if this VM writes an archive of its classes, which makes it crash if classes are woven.
Result<void> CheckNoArchive(const hotspot::VmStructs& structs) {
  const std::string option = hotspot::ArchiveOption(structs);
  if (option.empty()) return {};
  return Fail(
      "with {} the JVM writes an archive of its classes, and would crash if they were woven",
      option);
}

Result<void> AddCapabilities(jvmtiEnv* jvmti) {
  jvmtiCapabilities wanted = {};
  wanted.can_retransform_classes = 1;
  wanted.can_retransform_any_class = 1;
  wanted.can_generate_all_class_hook_events = 1;
  if (jvmti->AddCapabilities(&wanted) == JVMTI_ERROR_NONE) return {};
  return Fail("this JVM cannot retransform classes");
}

std::unexpected<Error> UseProbe(const CallContext& context, const Error& error) {
  if (context.plan.locks) return WrongUse("LOCKS: {}", error.message);
  if (context.plan.allocations)
    return WrongUse("REMOVED: {}; record without it (--removed)", error.message);
  return WrongUse("COUNTER=woven: {}; use COUNTER=probe", error.message);
}

}  // namespace

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

WovenCounter::WovenCounter(const CallContext& context, HotspotVm vm, uint64_t current_at)
    : CallSource(context),
      vm_(std::move(vm)),
      current_at_(current_at),
      classes_(context.jvmti, context.session, context.plan, context.options),
      virtual_threads_(context.jvmti, classes_, context.attached) {
  metadata_ = {ProbeKind::kWoven, "native methods, intrinsics and hidden classes are not counted",
               ""};
}

Result<std::unique_ptr<CallSource>> WovenCounter::Open(const CallContext& context) {
  auto vm = HotspotVm::Open();
  if (!vm) return UseProbe(context, vm.error());
  if (auto none = CheckNoArchive(vm->structs); !none)
    return Fail("{}; use COUNTER=probe, or a run without that option", none.error().message);
  if (auto known = options::CheckWovenJdk(MajorVersion(context.java)); !known)
    return UseProbe(context, known.error());
  const auto word = FindSpareWord(vm->structs);
  if (!word) return UseProbe(context, word.error());
  if (auto added = AddCapabilities(context.jvmti); !added) return UseProbe(context, added.error());
  std::unique_ptr<WovenCounter> counter(new WovenCounter(context, *std::move(vm), *word));
  if (auto opened = counter->OpenLocks(); !opened) return std::unexpected(opened.error());
  return counter;
}

Result<void> WovenCounter::OpenLocks() {
  if (!context_.plan.locks) return {};
  auto opened = Locks::Open(context_.jvmti, session(), context_.options.lite);
  if (!opened) return std::unexpected(opened.error());
  locks_ = *std::move(opened);
  return {};
}

Result<void> WovenCounter::AddTo(JvmtiEvents& events) {
  events.AddDisabled(&jvmtiEventCallbacks::ClassFileLoadHook, kGuarded<OnClassFile>);
  events.AddDisabled(&jvmtiEventCallbacks::ClassLoad, kGuarded<OnClassLoad>);
  if (locks_) Locks::AddTo(events);
  return {};
}

Result<void> WovenCounter::Begin(JNIEnv* jni) {
  if (!context_.attached) {
    if (const auto existing = ExistingThreads(jni, context_.jvmti))
      context_.threads.SetEarlyNames(*existing);
  }
  classes_.statistics().Begin(*session().writer().header());
  Publish(*this);  // methods of an earlier recording may still run
  auto begun = DefineClass(jni);
  if (begun) begun = BeginEvents();
  if (begun) begun = virtual_threads_.Begin(jni, counter_);
  if (!begun) {
    (void)End(jni);
    return begun;
  }
  classes_.WeaveLoaders(jni);
  classes_.WeaveOthers(jni);
  SetRegion(jni, engine::PlaceOf(session().writer().nodes()));
  return BeginLocks(jni);
}

Result<void> WovenCounter::BeginLocks(JNIEnv* jni) {
  if (!locks_) return {};
  const jclass locks = jni->FindClass(weave::kLocksClass.data());
  auto begun = locks_->Begin(jni, locks);
  jni->DeleteLocalRef(locks);
  return begun;
}

// Enables the events in an order in which no class has only the first one.
Result<void> WovenCounter::BeginEvents() {
  if (EnableEvent(context_.jvmti, JVMTI_EVENT_CLASS_LOAD) &&
      EnableEvent(context_.jvmti, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK))
    return {};
  return Fail("this JVM does not report the classes that it loads");
}

Result<void> WovenCounter::End(JNIEnv* jni) {
  if (counter_ == nullptr) {
    Unpublish(*this);
    return {};
  }
  jvmtiEnv* const jvmti = context_.jvmti;
  if (locks_) locks_->End(jni);
  classes_.Restore(jni);
  jvmti->SetEventNotificationMode(JVMTI_DISABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, nullptr);
  jvmti->SetEventNotificationMode(JVMTI_DISABLE, JVMTI_EVENT_CLASS_LOAD, nullptr);
  classes_.Close(jni);
  SetRegion(jni, kNoRegion);
  Unpublish(*this);
  jni->DeleteGlobalRef(counter_);
  counter_ = nullptr;
  return {};
}

void WovenCounter::Complete() {
  if (context_.options.verbose) setup::PrintMessage(classes_.statistics().Summary());
}

Result<void> WovenCounter::DefineClass(JNIEnv* jni) {
  const auto defined =
      DefineCounterClass(context_.java, jni, CounterNatives(), engine::woven_origin);
  if (!defined) return std::unexpected(defined.error());
  counter_ = static_cast<jclass>(jni->NewGlobalRef(*defined));
  jni->DeleteLocalRef(*defined);
  const auto labels =
      DefineBootClass(context_.java, jni, {weave::kLabelsClass, weave::LabelsClass(), {}});
  if (!labels) return std::unexpected(labels.error());
  jni->DeleteLocalRef(*labels);
  return locks_ ? DefineLocks(jni) : Result<void>();
}

Result<void> WovenCounter::DefineLocks(JNIEnv* jni) const {
  const BootClass classes[] = {{weave::kHeldClass, weave::HeldClass(), {}},
                               {weave::kLocksClass, weave::LocksClass(), Locks::Natives()},
                               {weave::kConcurrentClass, weave::ConcurrentClass(), {}}};
  for (const BootClass& one : classes) {
    const auto defined = DefineBootClass(context_.java, jni, one);
    if (!defined) return std::unexpected(defined.error());
    jni->DeleteLocalRef(*defined);
  }
  return {};
}

void WovenCounter::SetRegion(JNIEnv* jni, uint64_t begin) const {
  jni->SetStaticLongField(counter_, jni->GetStaticFieldID(counter_, "region", "J"),
                          static_cast<jlong>(begin));
}

// With call sites a method makes its sites current, not the label.
jint WovenCounter::LabelId(JNIEnv* jni, jstring text) {
  if (context_.options.call_sites) {
    if (!told_of_labels_.exchange(true))
      setup::PrintMessage("labels have no effect: the recording has call sites (CALL_SITES)");
    return 0;
  }
  const char* const bytes = jni->GetStringUTFChars(text, nullptr);
  if (bytes == nullptr) {
    jni->ExceptionClear();
    return 0;
  }
  const engine::LabelId label = engine::FindLabel(session(), bytes);
  jni->ReleaseStringUTFChars(text, bytes);
  const auto id = static_cast<jint>(IndexOf(label.id));
  return label.is_other ? -id : id;
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
  const InUse<WovenCounter> counter;
  if (!counter) return;
  counter->classes_.OnClassFile(jni, {redefined, loader, name, {data, static_cast<size_t>(bytes)}},
                                {new_bytes, new_data});
}

void JNICALL WovenCounter::OnClassLoad(jvmtiEnv*, JNIEnv* jni, jthread, jclass loaded) {
  if (const InUse<WovenCounter> counter; counter) counter->classes_.OnClassLoad(jni, loaded);
}

}  // namespace jprof::agent
