#include "jprof/agent/calls/woven_counter.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <ranges>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "common/monotonic.h"
#include "jprof/agent/agent.h"
#include "jprof/agent/calls/loader_levels.h"
#include "jprof/agent/calls/woven_class.h"
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

// The frames of this class are copied between stacks while the current thread is neither the
// carrier nor the virtual thread.
constexpr std::string_view kContinuation = "jdk/internal/vm/Continuation";
constexpr std::string_view kVirtualThread = "java/lang/VirtualThread";
constexpr std::array<std::string_view, 3> kAnnounced = {"mount", "unmount", "<clinit>"};

// Replaces the name of a class whose name the VM does not report.
constexpr const char* kNoName = "(unnamed)";

// Means for JprofCounter that there is no recording.
constexpr uint64_t kNoRegion = uint64_t{1} << 62;

// The end of a recording waits this long for classes that are being defined.
constexpr int64_t kMostDefinitionNanos = 500'000'000;

// A class file's version is the version of its JDK plus 44.
static_assert(weave::kNewestVersion == options::kLastWovenJdk + 44);

jlong Place(const profile::Node* node) { return static_cast<jlong>(engine::PlaceOf(node)); }

// Returns the text for RegisterNatives, which does not change the strings.
char* Text(const char* text) { return const_cast<char*>(text); }

// Returns whether the method is ClassLoader.loadClass, which the VM calls, or may override it.
bool MayLoadClass(const weave::Method& method) {
  return method.name == "loadClass" && !method.IsStatic() &&
         method.descriptor == "(Ljava/lang/String;)Ljava/lang/Class;";
}

bool IsContinuation(std::string_view class_name) {
  return class_name.starts_with(kContinuation) &&
         (class_name.size() == kContinuation.size() || class_name[kContinuation.size()] == '$');
}

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

// Returns whether the class is linked. A class that has just been defined is not linked yet. One
// that was defined before is reported again when another loader finds it.
bool IsLinked(jvmtiEnv* jvmti, jclass loaded) {
  jint status = 0;
  return jvmti->GetClassStatus(loaded, &status) == JVMTI_ERROR_NONE &&
         (status & JVMTI_CLASS_STATUS_PREPARED) != 0;
}

// Returns the hash of a loader, or 0 for the boot loader.
jint IdentityHash(jvmtiEnv* jvmti, jobject loader) {
  jint hash = 0;
  if (loader != nullptr) jvmti->GetObjectHashCode(loader, &hash);
  return hash;
}

// Returns the hash of the loader that has defined the class.
jint HashOfLoader(jvmtiEnv* jvmti, JNIEnv* jni, jclass type) {
  jobject loader = nullptr;
  if (jvmti->GetClassLoader(type, &loader) != JVMTI_ERROR_NONE) return 0;
  const jint hash = IdentityHash(jvmti, loader);
  jni->DeleteLocalRef(loader);
  return hash;
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

Result<void> CheckNoArchive(const hotspot::VmStructs& structs) {
  const std::string option = hotspot::ArchiveOption(structs);
  if (option.empty()) return {};
  return Fail(
      "with {} the JVM writes an archive of its classes, and would crash if they were woven",
      option);
}

thread_local WovenCounter::Progress* WovenCounter::retransforming = nullptr;
std::atomic<WovenCounter*> WovenCounter::counting = nullptr;

WovenCounter* WovenCounter::CounterInUse(const AgentUse& use) {
  return use ? counting.load(std::memory_order_acquire) : nullptr;
}

Result<std::unique_ptr<WovenCounter>> WovenCounter::Open(jvmtiEnv* jvmti,
                                                         const hotspot::VmStructs& structs) {
  const auto word = FindSpareWord(structs);
  if (!word) return std::unexpected(word.error());
  jvmtiCapabilities wanted = {};
  wanted.can_retransform_classes = 1;
  wanted.can_retransform_any_class = 1;
  wanted.can_generate_all_class_hook_events = 1;
  if (jvmti->AddCapabilities(&wanted) != JVMTI_ERROR_NONE)
    return Fail("this JVM cannot retransform classes");
  return std::unique_ptr<WovenCounter>(new WovenCounter(jvmti, *word));
}

void WovenCounter::AddTo(JvmtiEvents& events) {
  events.AddDisabled(&jvmtiEventCallbacks::ClassFileLoadHook, kGuarded<OnClassFile>);
  events.AddDisabled(&jvmtiEventCallbacks::ClassLoad, kGuarded<OnClassLoad>);
}

Result<void> WovenCounter::Begin(JNIEnv* jni, engine::Session& session, bool attached) {
  session_ = &session;
  unwoven_.emplace(*session.writer().header());
  attached_ = attached;
  counting.store(this, std::memory_order_release);  // methods of an earlier recording may still run
  if (auto defined = DefineClass(jni); !defined) {
    counting.store(nullptr, std::memory_order_release);
    return defined;
  }
  // This order ensures that no class has only the first event.
  if (!EnableEvent(jvmti_, JVMTI_EVENT_CLASS_LOAD) ||
      !EnableEvent(jvmti_, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK)) {
    End(jni);
    return Fail("this JVM does not report the classes that it loads");
  }
  if (auto followed = FollowVirtualThreads(jni); !followed) {
    End(jni);
    return followed;
  }
  // The VM asks class loaders for the classes that woven code refers to, so loaders are woven
  // first.
  Retransform(jni, Order::kLoadersFirst, Kind::kLoaders, [](std::string_view) { return true; });
  RetransformUnseen(jni);
  loaders_answer_ = true;
  Retransform(jni, Order::kLoadersFirst, Kind::kOthers,
              [](std::string_view name) { return name != kVirtualThread; });
  SetBegun();
  RetransformUnseen(jni);
  SetRegion(jni, engine::PlaceOf(session.writer().nodes()));
  return {};
}

// Makes virtual threads count in trees of their own. Runs before other classes are woven, because a
// virtual thread must not count in its carrier's tree. While HAS_CARRIERS is false, code that
// counts on a virtual thread would read at the address of its native thread, which is 0.
Result<void> WovenCounter::FollowVirtualThreads(JNIEnv* jni) {
  const jclass loaded = LoadedVirtualThread(jni);
  if (loaded == nullptr) {
    if (!ignores_carriers_ || SetHasCarriers(jni)) return {};
    return Fail("the JVM refuses to replace {}", weave::kCounterClass);
  }
  const auto type = static_cast<jclass>(jni->NewGlobalRef(loaded));
  jni->DeleteLocalRef(loaded);
  Progress progress = {std::span(&type, 1)};
  const bool woven = RetransformAtOnce(progress) && announces_.load() == kAnnounced.size();
  const bool expected = !ignores_carriers_ || !IsInitialised(type) || SetHasCarriers(jni);
  jni->DeleteGlobalRef(type);
  if (woven && expected) return {};
  return Fail(
      "virtual threads cannot be followed, because the JVM refuses to replace {}: another agent "
      "may have changed it; use COUNTER=probe (--counter probe)",
      woven ? weave::kCounterClass : kVirtualThread);
}

// Returns a local reference to the class of virtual threads, or null if it is not loaded.
jclass WovenCounter::LoadedVirtualThread(JNIEnv* jni) const {
  jint count = 0;
  jclass* classes = nullptr;
  if (jvmti_->GetLoadedClasses(&count, &classes) != JVMTI_ERROR_NONE) return nullptr;
  jclass found = nullptr;
  for (const jclass loaded : std::span(classes, static_cast<size_t>(count))) {
    JvmtiString signature(jvmti_);
    const bool is_it =
        jvmti_->GetClassSignature(loaded, signature.out(), nullptr) == JVMTI_ERROR_NONE &&
        InternalName(signature.view()) == kVirtualThread;
    if (is_it) {
      found = loaded;
    } else {
      jni->DeleteLocalRef(loaded);
    }
  }
  jvmti_->Deallocate(reinterpret_cast<unsigned char*>(classes));
  return found;
}

bool WovenCounter::IsInitialised(jclass type) const {
  jint status = 0;
  return jvmti_->GetClassStatus(type, &status) != JVMTI_ERROR_NONE ||
         (status & JVMTI_CLASS_STATUS_INITIALIZED) != 0;
}

// Returns whether there may be virtual threads. They can exist only once their class is
// initialised.
bool WovenCounter::MayHaveVirtualThreads(JNIEnv* jni) const {
  if (attached_) return true;
  const jclass type = LoadedVirtualThread(jni);
  return type != nullptr && IsInitialised(type);
}

void WovenCounter::End(JNIEnv* jni) {
  if (counter_ == nullptr) return;
  const int64_t deadline = MonotonicNanos() + kMostDefinitionNanos;
  definitions_.AwaitClasses(deadline);
  ending_ = true;
  const bool defined = definitions_.AwaitClasses(deadline);  // those that have begun meanwhile
  RestoreClasses(jni);
  if (defined) RestoreLoaders(jni);  // else they answer for the classes that are still defined
  jvmti_->SetEventNotificationMode(JVMTI_DISABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, nullptr);
  jvmti_->SetEventNotificationMode(JVMTI_DISABLE, JVMTI_EVENT_CLASS_LOAD, nullptr);
  SetBegun();
  for (const jclass loaded : TakeUnseen()) jni->DeleteGlobalRef(loaded);
  SetRegion(jni, kNoRegion);
  counting.store(nullptr, std::memory_order_release);
  jni->DeleteGlobalRef(counter_);
  counter_ = nullptr;
}

Result<void> WovenCounter::DefineClass(JNIEnv* jni) {
  const std::array natives = {
      JNINativeMethod{Text("hasCarriers"), Text("()Z"), reinterpret_cast<void*>(HasCarriers)},
      JNINativeMethod{Text("expectVirtualThreads"), Text("()V"),
                      reinterpret_cast<void*>(ExpectVirtualThreads)},
      JNINativeMethod{Text("emptyNode"), Text("()J"), reinterpret_cast<void*>(EmptyNode)},
      JNINativeMethod{Text("currentOffset"), Text("()J"), reinterpret_cast<void*>(CurrentOffset)},
      JNINativeMethod{Text("root"), Text("(J)J"), reinterpret_cast<void*>(Root)},
      JNINativeMethod{Text("add"), Text("(JI)J"), reinterpret_cast<void*>(Add)},
      JNINativeMethod{Text("overflow"), Text("(J)J"), reinterpret_cast<void*>(Overflow)},
      JNINativeMethod{Text("answer"),
                      Text("(Ljava/lang/Object;Ljava/lang/String;)Ljava/lang/Class;"),
                      reinterpret_cast<void*>(AnswerClass)},
      JNINativeMethod{Text("mounted"), Text("(JJ)V"), reinterpret_cast<void*>(Mounted)},
  };
  JavaVM* java = nullptr;
  jni->GetJavaVM(&java);
  const auto defined = DefineCounterClass(java, jni, natives, engine::woven_origin);
  if (!defined) return std::unexpected(defined.error());
  counter_ = static_cast<jclass>(jni->NewGlobalRef(*defined));
  jni->DeleteLocalRef(*defined);
  return {};
}

void WovenCounter::SetRegion(JNIEnv* jni, uint64_t begin) const {
  jni->SetStaticLongField(counter_, jni->GetStaticFieldID(counter_, "region", "J"),
                          static_cast<jlong>(begin));
}

// Sets HAS_CARRIERS and retransforms its class: compiled code has the value of the static final
// field, and the VM then discards all code that the class's methods are inlined into. Compilations
// in progress fail. Returns false if the VM refuses: then code remains that would read at address 0
// on a virtual thread.
bool WovenCounter::SetHasCarriers(JNIEnv* jni) {
  jni->SetStaticBooleanField(counter_, jni->GetStaticFieldID(counter_, "HAS_CARRIERS", "Z"),
                             JNI_TRUE);
  return jvmti_->RetransformClasses(1, &counter_) == JVMTI_ERROR_NONE;
}

// Runs on a thread of the program.
void WovenCounter::StopCounting(JNIEnv* jni) {
  setup::PrintMessage(
      "no calls are counted from here on: the program has begun to use virtual threads, and the "
      "JVM refuses to replace JprofCounter, which another agent may have changed; use "
      "COUNTER=probe (--counter probe)");
  session_->LostEvent();
  ending_ = true;
  RestoreClasses(jni);
  RestoreLoaders(jni);
}

// Retransforms classes that have not been woven although they were loaded when the recording had
// begun: their definition began before the class file's event was enabled, or before the loaders
// were woven.
void WovenCounter::RetransformUnseen(JNIEnv* jni) {
  const std::vector<jclass> unseen = TakeUnseen();
  Retransform(jni, Order::kLoadersFirst, unseen);
  for (const jclass loaded : unseen) jni->DeleteGlobalRef(loaded);
}

std::vector<jclass> WovenCounter::TakeUnseen() {
  const std::lock_guard guard(unseen_lock_);
  return std::exchange(unseen_, {});
}

// Ends the collection of such classes: those that are loaded from now on may run at once and are
// not woven.
void WovenCounter::SetBegun() {
  const std::lock_guard guard(unseen_lock_);
  begun_ = true;
}

void WovenCounter::AddUnseen(JNIEnv* jni, jclass loaded, std::string_view class_name) {
  const std::lock_guard guard(unseen_lock_);
  if (begun_) return AddFailed(class_name);
  unseen_.push_back(static_cast<jclass>(jni->NewGlobalRef(loaded)));
}

bool WovenCounter::IsWoven(std::string_view class_name) {
  const std::lock_guard guard(names_lock_);
  return woven_names_.contains(class_name);
}

// Restores all woven classes except class loaders. Classes that were being woven when this began
// may be complete only when the others are done.
void WovenCounter::RestoreClasses(JNIEnv* jni) {
  NameSet restored;
  for (int pass = 0; pass < 2; ++pass) {
    const NameSet before = restored;
    Retransform(jni, Order::kLoadersLast, Kind::kOthers, [&](std::string_view name) {
      if (!IsWoven(name) || before.contains(name)) return false;
      restored.emplace(name);
      return true;
    });
  }
}

// Restores the class loaders last: woven classes that are not linked yet are linked when they are
// restored, and then ask their loader.
void WovenCounter::RestoreLoaders(JNIEnv* jni) {
  Retransform(jni, Order::kLoadersLast, Kind::kLoaders,
              [&](std::string_view name) { return IsWoven(name); });
}

// Retransforms the loaded classes of this kind with these names. The references are global, because
// the VM's events, which compare them, have frames of local references of their own.
void WovenCounter::Retransform(JNIEnv* jni, Order order, Kind kind, const Chosen& chosen) {
  jint count = 0;
  jclass* classes = nullptr;
  if (jvmti_->GetLoadedClasses(&count, &classes) != JVMTI_ERROR_NONE)
    return AddFailed("(all that were loaded before the recording)");
  const LoaderLevels levels(jvmti_, jni);
  std::vector<jclass> modifiable;
  for (const jclass loaded : std::span(classes, static_cast<size_t>(count))) {
    jboolean yes = JNI_FALSE;
    JvmtiString signature(jvmti_);
    if (levels.IsLoader(loaded) == (kind == Kind::kLoaders) &&
        jvmti_->IsModifiableClass(loaded, &yes) == JVMTI_ERROR_NONE && yes != JNI_FALSE &&
        jvmti_->GetClassSignature(loaded, signature.out(), nullptr) == JVMTI_ERROR_NONE &&
        chosen(InternalName(signature.view())))
      modifiable.push_back(static_cast<jclass>(jni->NewGlobalRef(loaded)));
    jni->DeleteLocalRef(loaded);
  }
  jvmti_->Deallocate(reinterpret_cast<unsigned char*>(classes));
  Retransform(jni, order, modifiable);
  for (const jclass loaded : modifiable) jni->DeleteGlobalRef(loaded);
}

// Retransforms the classes in groups by level. Those that are not linked have groups of their own,
// because classes that cannot be linked cannot be transformed either.
void WovenCounter::Retransform(JNIEnv* jni, Order order, std::span<const jclass> classes) {
  const LoaderLevels levels(jvmti_, jni);
  std::map<std::pair<int, bool>, std::vector<jclass>> groups;
  for (const jclass loaded : classes)
    groups[{levels.LevelOf(loaded), !IsLinked(jvmti_, loaded)}].push_back(loaded);
  if (order == Order::kLoadersFirst) {
    for (const auto& [level, group] : groups) Retransform(group);
  } else {
    for (const auto& [level, group] : std::views::reverse(groups)) Retransform(group);
  }
}

bool WovenCounter::RetransformAtOnce(Progress& progress) {
  retransforming = &progress;
  const jvmtiError error = jvmti_->RetransformClasses(static_cast<jint>(progress.classes.size()),
                                                      progress.classes.data());
  retransforming = nullptr;
  return error == JVMTI_ERROR_NONE;
}

void WovenCounter::AddFailed(std::string_view class_name) {
  ++counts_.failed;
  if (!ending_) unwoven_->AddClass(class_name);
}

// Records a class that the VM refuses to replace. The VM has tried to link it: if that failed, none
// of its methods can run, and no call is missing.
void WovenCounter::AddRefused(jclass refused) {
  jint status = 0;
  JvmtiString signature(jvmti_);
  if (jvmti_->GetClassStatus(refused, &status) == JVMTI_ERROR_NONE &&
      (status & JVMTI_CLASS_STATUS_PREPARED) == 0)
    return;
  const bool named =
      jvmti_->GetClassSignature(refused, signature.out(), nullptr) == JVMTI_ERROR_NONE;
  AddFailed(named ? InternalName(signature.view()) : kNoName);
}

void WovenCounter::RetransformHalves(std::span<const jclass> classes) {
  Progress progress = {classes};
  if (classes.empty() || RetransformAtOnce(progress)) return;
  if (classes.size() == 1) return AddRefused(classes.front());
  const size_t half = classes.size() / 2;
  RetransformHalves(classes.first(half));
  RetransformHalves(classes.subspan(half));
}

// Retransforms the classes together, because each time that the VM replaces classes it stops the
// program and visits all classes. It refuses all of them because of a single one, which is the last
// that it has reported; if it has reported none, it can be any.
void WovenCounter::Retransform(std::span<const jclass> classes) {
  while (!classes.empty()) {
    Progress progress = {classes};
    if (RetransformAtOnce(progress)) return;
    if (classes.size() == 1) return AddRefused(classes.front());
    if (progress.reported == 0) {
      const size_t half = classes.size() / 2;
      Retransform(classes.first(half));
      classes = classes.subspan(half);
      continue;
    }
    const size_t good = progress.reported - 1;
    RetransformHalves(classes.first(good));
    RetransformHalves(classes.subspan(good, 1));
    classes = classes.subspan(good + 1);
  }
}

// Notes how far the VM has come. It reports the classes in their order.
void WovenCounter::Progress::Report(JNIEnv* jni, jclass reported_class) {
  for (size_t i = reported; i < classes.size(); ++i) {
    if (!jni->IsSameObject(classes[i], reported_class)) continue;
    reported = i + 1;
    return;
  }
}

void JNICALL WovenCounter::OnClassFile(jvmtiEnv* jvmti, JNIEnv* jni, jclass redefined,
                                       jobject loader, const char* reported, jobject, jint bytes,
                                       const unsigned char* data, jint* new_bytes,
                                       unsigned char** new_data) {
  const AgentUse use;
  WovenCounter* const counter = CounterInUse(use);
  if (counter == nullptr) return;
  WovenCounter& self = *counter;
  if (redefined != nullptr && retransforming != nullptr) retransforming->Report(jni, redefined);
  if (self.ending_) return;
  // Until the loaders are woven, classes are not woven while the program or another agent defines
  // them: this agent retransforms them later.
  const bool is_own = redefined != nullptr && retransforming != nullptr;
  if (!self.loaders_answer_ && loader != nullptr && !is_own) return;
  const uint64_t begin = MonotonicNanos();
  const auto woven = self.Weave({data, static_cast<size_t>(bytes)});
  self.counts_.nanoseconds += MonotonicNanos() - begin;
  const std::string_view name =
      woven ? woven->class_name : std::string_view(reported != nullptr ? reported : kNoName);
  if (redefined == nullptr)
    self.definitions_.AddFile(jni, {IdentityHash(jvmti, loader), std::string(name)});
  // End waits for the files that were added before `ending_` was set.
  if (self.ending_) return;
  if (!woven) return self.AddFailed(name);
  self.AddLeft(*woven, name);
  if (name == kVirtualThread) self.announces_ = woven->announced;
  if (woven->bytes.empty()) return;
  unsigned char* copy = nullptr;
  if (jvmti->Allocate(static_cast<jlong>(woven->bytes.size()), &copy) != JVMTI_ERROR_NONE)
    return self.AddFailed(name);
  std::memcpy(copy, woven->bytes.data(), woven->bytes.size());
  {
    const std::lock_guard guard(self.names_lock_);
    self.woven_names_.emplace(name);
  }
  *new_bytes = static_cast<jint>(woven->bytes.size());
  *new_data = copy;
  ++self.counts_.classes;
  self.counts_.methods += woven->counted;
}

// Hidden classes have no event of a class file, and are not modifiable.
void JNICALL WovenCounter::OnClassLoad(jvmtiEnv* jvmti, JNIEnv* jni, jthread, jclass loaded) {
  const AgentUse use;
  WovenCounter* const counter = CounterInUse(use);
  JvmtiString signature(jvmti);
  if (counter == nullptr ||
      jvmti->GetClassSignature(loaded, signature.out(), nullptr) != JVMTI_ERROR_NONE)
    return;
  const std::string_view name = InternalName(signature.view());
  jboolean modifiable = JNI_FALSE;
  const bool seen =
      counter->definitions_.TakeFile(jni, {HashOfLoader(jvmti, jni, loaded), std::string(name)});
  if (seen || counter->ending_ || IsLinked(jvmti, loaded) ||
      jvmti->IsModifiableClass(loaded, &modifiable) != JVMTI_ERROR_NONE || modifiable == JNI_FALSE)
    return;
  counter->AddUnseen(jni, loaded, name);
}

// Records the methods that were left as they are. HotSpot calls no empty finalizer, so no call is
// missing.
void WovenCounter::AddLeft(const weave::Woven& woven, std::string_view class_name) {
  for (const weave::SkippedMethod& left : woven.skipped) {
    ++counts_.left;
    if (left.why != weave::SkipReason::kEmptyFinalizer)
      unwoven_->AddMethod(class_name, left.name, left.descriptor);
  }
}

// Weaves a class file. The weaver throws only for lack of memory.
Result<weave::Woven> WovenCounter::Weave(std::span<const uint8_t> class_file) {
  try {
    return weave::Weave(class_file, [&](const weave::Method& method) { return Decide(method); });
  } catch (const std::bad_alloc&) {
    return Fail("no memory");
  }
}

weave::Decision WovenCounter::Decide(const weave::Method& method) {
  constexpr weave::Decision kLeave = {weave::Action::kLeave, 0};
  if (method.is_intrinsic || method.class_name == weave::kCounterClass ||
      IsContinuation(method.class_name))
    return kLeave;
  if (method.class_name == kVirtualThread &&
      std::ranges::find(kAnnounced, method.name) != kAnnounced.end())
    return {weave::Action::kAnnounce, 0};
  const auto id = session_->methods().Find(*this, reinterpret_cast<uint64_t>(&method)).id;
  const bool answers = MayLoadClass(method);
  if (id == engine::kIgnoredMethod) return {.answers = answers};
  return {weave::Action::kCount, IndexOf(id), answers};
}

bool WovenCounter::Describe(uint64_t handle, engine::MethodText* text) {
  const auto& method = *reinterpret_cast<const weave::Method*>(handle);
  text->class_name = method.class_name;
  text->name = method.name;
  text->signature = method.descriptor;
  text->is_static = method.IsStatic();
  return true;
}

std::string WovenCounter::Summary() const {
  const Counts& n = counts_;
  return fmt::format(
      "{} classes with {} methods were woven, in {:.1f} ms; {} methods were left as they are, {} "
      "classes were refused",
      n.classes.load(), n.methods.load(), static_cast<double>(n.nanoseconds.load()) / 1e6,
      n.left.load(), n.failed.load());
}

// Represents a call from JprofCounter. It is false if there is no recording.
struct WovenCounter::Call {
  Call() : counter(CounterInUse(use)), thread(counter != nullptr ? Thread() : nullptr) {}
  explicit operator bool() const { return counter != nullptr; }

  profile::Node* nodes() const { return counter->session_->writer().nodes(); }
  // Returns null if the place is not a node of this recording, or the thread is not recorded.
  profile::Node* NodeAt(jlong place) const {
    return thread != nullptr ? engine::WovenNode(nodes(), static_cast<uint64_t>(place)) : nullptr;
  }
  profile::Node* Root() const { return engine::WovenRoot(*thread); }
  uint64_t* Word(jlong vm_thread) const {
    return reinterpret_cast<uint64_t*>(static_cast<uint64_t>(vm_thread) + counter->current_at_);
  }

  const AgentUse use;
  WovenCounter* const counter;
  engine::Thread* const thread;  // null if it is not recorded

 private:
  // A thread that is sampled may have a state already.
  engine::Thread* Thread() const {
    if (use->sampling != nullptr) use->sampling->CurrentThread();
    return engine::WovenThread(*counter->session_);
  }
};

jlong JNICALL WovenCounter::CurrentOffset(JNIEnv*, jclass) {
  const AgentUse use;
  const WovenCounter* const counter = CounterInUse(use);
  return counter != nullptr ? static_cast<jlong>(counter->current_at_) : 0;
}

jboolean JNICALL WovenCounter::HasCarriers(JNIEnv* jni, jclass) {
  const jclass thread = jni->FindClass("java/lang/Thread");
  const bool has = thread != nullptr && jni->GetStaticMethodID(thread, "currentCarrierThread",
                                                               "()Ljava/lang/Thread;") != nullptr;
  jni->ExceptionClear();
  const AgentUse use;
  WovenCounter* const counter = CounterInUse(use);
  if (counter == nullptr || !has) return has ? JNI_TRUE : JNI_FALSE;
  counter->ignores_carriers_ = !counter->MayHaveVirtualThreads(jni);
  return counter->ignores_carriers_ ? JNI_FALSE : JNI_TRUE;
}

void JNICALL WovenCounter::ExpectVirtualThreads(JNIEnv* jni, jclass) {
  const AgentUse use;
  WovenCounter* const counter = CounterInUse(use);
  if (counter != nullptr && !counter->SetHasCarriers(jni)) counter->StopCounting(jni);
}

jlong JNICALL WovenCounter::EmptyNode(JNIEnv*, jclass) {
  return static_cast<jlong>(engine::woven_origin);
}

jlong JNICALL WovenCounter::Root(JNIEnv* jni, jclass, jlong vm_thread) {
  const Call call;
  if (!call) return 0;
  if (call.thread == nullptr) return Place(call.nodes());  // not recorded
  // The VM reports no start of a thread that began before events were enabled.
  if (call.use->sampling != nullptr) call.use->sampling->AddThread(jni);
  call.thread->woven_current = call.Word(vm_thread);
  return Place(call.Root());
}

jlong JNICALL WovenCounter::Add(JNIEnv*, jclass, jlong parent, jint id) {
  const Call call;
  profile::Node* const node = call.NodeAt(parent);
  if (node == nullptr) return 0;
  const profile::MethodId method{static_cast<uint32_t>(id)};
  return engine::ChildOf(engine::WovenChild(*call.thread, node, method));
}

jlong JNICALL WovenCounter::Overflow(JNIEnv*, jclass, jlong parent) {
  const Call call;
  profile::Node* const node = call.NodeAt(parent);
  return node != nullptr ? engine::ChildOf(engine::WovenOverflow(*call.thread, node)) : 0;
}

void JNICALL WovenCounter::Mounted(JNIEnv*, jclass, jlong vm_thread, jlong id) {
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

}  // namespace jprof::agent
