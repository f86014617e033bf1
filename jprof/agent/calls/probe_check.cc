#include "jprof/agent/calls/probe_check.h"

#include "jprof/agent/vm/in_use.h"

namespace jprof::agent {
namespace {

constexpr char kNotReported[] = "this JVM does not report compiled code";

// Returns whether the method is native. The native methods of method handles have no probes and are
// never recorded.
bool IsNative(jvmtiEnv* jvmti, jmethodID method) {
  jboolean native = JNI_FALSE;
  return jvmti->IsMethodNative(method, &native) != JVMTI_ERROR_NONE || native != JNI_FALSE;
}

}  // namespace

Result<void> ProbeCheck::AddTo(JvmtiEvents& events, jvmtiEnv* jvmti,
                               const hotspot::VmStructs& structs,
                               const hotspot::ProbeTargets& targets) {
  auto probe = hotspot::CompiledProbe::Open(structs, targets);
  if (!probe) return std::unexpected(probe.error());
  jvmtiCapabilities wanted = {};
  wanted.can_generate_compiled_method_load_events = 1;
  if (jvmti->AddCapabilities(&wanted) != JVMTI_ERROR_NONE) return Fail(kNotReported);
  probe_ = *std::move(probe);
  Publish(*this);
  events.AddDisabled(&jvmtiEventCallbacks::CompiledMethodLoad, kGuarded<OnMethodLoad>);
  return {};
}

Result<void> ProbeCheck::Begin(jvmtiEnv* jvmti, profile::ControlHeader& header) {
  if (!probe_) return {};
  uncounted_.emplace(header);  // before the first event
  if (EnableEvent(jvmti, JVMTI_EVENT_COMPILED_METHOD_LOAD)) return {};
  uncounted_.reset();
  return Fail(kNotReported);
}

void ProbeCheck::End(jvmtiEnv* jvmti) {
  if (uncounted_) jvmti->GenerateEvents(JVMTI_EVENT_COMPILED_METHOD_LOAD);
}

void ProbeCheck::OnMethodLoad(jvmtiEnv* jvmti, jmethodID method, jint bytes, const void* code, jint,
                              const jvmtiAddrLocationMap*, const void*) {
  const InUse<ProbeCheck> check;
  if (!check || bytes <= 0) return;
  if (!check->probe_->Counts(code, static_cast<size_t>(bytes)) && !IsNative(jvmti, method))
    check->Add(jvmti, method);
}

void ProbeCheck::Add(jvmtiEnv* jvmti, jmethodID method) {
  const MethodNames names(jvmti, method);
  uncounted_->AddCompiled(names.class_name(), names.name(), names.signature());
}

}  // namespace jprof::agent
