#include "jprof/agent/vm/jvmti_env.h"

#include <charconv>
#include <cstring>

#include "jprof/agent/vm/in_use.h"
#include "jprof/engine/session.h"

namespace jprof::agent {
namespace {

// These are numbers of JDK 21; JVMTI never changes them.
constexpr int kVirtualThreadCapabilityBit = 44;
constexpr int kVirtualThreadStart = 87, kVirtualThreadEnd = 88;
constexpr int kFirstEvent = JVMTI_MIN_EVENT_TYPE_VAL;

}  // namespace

jvmtiEnv* NewJvmtiEnv(JavaVM* java) {
  void* jvmti = nullptr;
  return java->GetEnv(&jvmti, JVMTI_VERSION_11) == JNI_OK ? static_cast<jvmtiEnv*>(jvmti) : nullptr;
}

int MajorVersion(JavaVM* java) {
  int major = 0;
  if (jvmtiEnv* jvmti = NewJvmtiEnv(java)) {
    const std::string version = SystemProperty(jvmti, "java.vm.specification.version");
    std::from_chars(version.data(), version.data() + version.size(), major);
    jvmti->DisposeEnvironment();
  }
  return major;
}

bool AddVirtualThreadSupport(jvmtiEnv* jvmti) {
  jvmtiCapabilities wanted = {};
  static_assert(sizeof wanted > kVirtualThreadCapabilityBit / 8);
  auto* bytes = reinterpret_cast<unsigned char*>(&wanted);
  bytes[kVirtualThreadCapabilityBit / 8] |= 1u << (kVirtualThreadCapabilityBit % 8);
  return jvmti->AddCapabilities(&wanted) == JVMTI_ERROR_NONE;
}

bool EnableEvent(jvmtiEnv* jvmti, jvmtiEvent event) {
  return jvmti->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr) == JVMTI_ERROR_NONE;
}

std::string SystemProperty(jvmtiEnv* jvmti, const char* name) {
  JvmtiString value(jvmti);
  if (jvmti->GetSystemProperty(name, value.out()) != JVMTI_ERROR_NONE) return "";
  return std::string(value.view());
}

std::string ThreadName(jvmtiEnv* jvmti, jthread thread) {
  jvmtiThreadInfo info = {};
  if (jvmti->GetThreadInfo(thread, &info) != JVMTI_ERROR_NONE) return "";
  JvmtiString name(jvmti);
  *name.out() = info.name;
  return std::string(name.view());
}

MethodNames::MethodNames(jvmtiEnv* jvmti, jmethodID method)
    : name_(jvmti),
      signature_(jvmti),
      class_signature_(jvmti),
      known_(jvmti->GetMethodName(method, name_.out(), signature_.out(), nullptr) ==
                 JVMTI_ERROR_NONE &&
             jvmti->GetMethodDeclaringClass(method, &declaring_) == JVMTI_ERROR_NONE &&
             jvmti->GetClassSignature(declaring_, class_signature_.out(), nullptr) ==
                 JVMTI_ERROR_NONE) {}

std::string_view MethodNames::class_name() const { return InternalName(class_signature_.view()); }

bool IsLinked(jvmtiEnv* jvmti, jclass type) {
  jint status = 0;
  return jvmti->GetClassStatus(type, &status) == JVMTI_ERROR_NONE &&
         (status & JVMTI_CLASS_STATUS_PREPARED) != 0;
}

std::string_view InternalName(std::string_view signature) {
  if (signature.size() < 2 || signature.front() != 'L') return signature;
  return signature.substr(1, signature.size() - 2);
}

void NoteNoMemory() {
  const InUse<engine::Session> session;
  if (!session) return;
  if (auto* const header = session->writer().header())
    __atomic_fetch_add(&header->memory_failures, 1, __ATOMIC_RELAXED);
}

void JvmtiEvents::AddVirtualThreads(VirtualThreadCallback start, VirtualThreadCallback end) {
  virtual_start_ = start;
  virtual_end_ = end;
  enabled_.push_back(static_cast<jvmtiEvent>(kVirtualThreadStart));
  enabled_.push_back(static_cast<jvmtiEvent>(kVirtualThreadEnd));
}

void JvmtiEvents::Install(jvmtiEnv* jvmti) const {
  // JVMTI takes a table of function pointers by event; older VMs read only the part that they
  // support.
  void* table[kVirtualThreadEnd - kFirstEvent + 1] = {};
  static_assert(sizeof callbacks_ <= sizeof table);
  std::memcpy(table, &callbacks_, sizeof callbacks_);
  if (virtual_start_ != nullptr) {
    table[kVirtualThreadStart - kFirstEvent] = reinterpret_cast<void*>(virtual_start_);
    table[kVirtualThreadEnd - kFirstEvent] = reinterpret_cast<void*>(virtual_end_);
  }
  jvmti->SetEventCallbacks(reinterpret_cast<jvmtiEventCallbacks*>(table), sizeof table);
  for (const jvmtiEvent event : enabled_) EnableEvent(jvmti, event);
}

void JvmtiEvents::Uninstall(jvmtiEnv* jvmti) const {
  for (const jvmtiEvent event : enabled_)
    jvmti->SetEventNotificationMode(JVMTI_DISABLE, event, nullptr);
}

}  // namespace jprof::agent
