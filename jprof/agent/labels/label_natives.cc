#include "jprof/agent/labels/label_natives.h"

#include <span>
#include <utility>

#include "jprof/agent/vm/in_use.h"
#include "jprof/agent/vm/jvmti_env.h"
#include "jprof/engine/method_table.h"
#include "jprof/hookit/program_commands.h"

namespace jprof::agent {
namespace {

// The numbers of commands in Recording.java.
enum class Command : jint { kStart, kStop, kMark };

jboolean JNICALL AgentListens(JNIEnv*, jclass) {
  const InUse<LabelNatives> labels;
  return labels && labels->listens() ? JNI_TRUE : JNI_FALSE;
}

void JNICALL TellLabel(JNIEnv* jni, jclass, jstring text) {
  if (const InUse<LabelNatives> labels; labels) labels->Set(jni, text);
}

jboolean JNICALL AgentTakesCommands(JNIEnv*, jclass) {
  const InUse<LabelNatives> labels;
  return labels ? JNI_TRUE : JNI_FALSE;
}

void JNICALL TellCommand(JNIEnv* jni, jclass, jint command, jstring text) {
  const InUse<LabelNatives> labels;
  if (!labels) return;
  switch (static_cast<Command>(command)) {
    case Command::kStart:
      return labels->Start();
    case Command::kStop:
      return labels->Stop();
    case Command::kMark:
      return labels->Mark(jni, text);
  }
}

// The same for code in C.
void StartByCode() {
  if (const InUse<LabelNatives> labels; labels) labels->Start();
}
void StopByCode() {
  if (const InUse<LabelNatives> labels; labels) labels->Stop();
}
void MarkByCode(std::string_view text) {
  if (const InUse<LabelNatives> labels; labels) labels->Mark(text);
}

// RegisterNatives does not change the strings.
JNINativeMethod Native(const char* name, const char* signature, void* function) {
  return {const_cast<char*>(name), const_cast<char*>(signature), function};
}

void Bind(JNIEnv* jni, jclass type, std::string_view name) {
  const bool label = name == engine::kLabelClass;
  const JNINativeMethod natives[] = {
      Native("agentListens", "()Z",
             reinterpret_cast<void*>(label ? AgentListens : AgentTakesCommands)),
      label ? Native("tell", "(Ljava/lang/String;)V", reinterpret_cast<void*>(TellLabel))
            : Native("tell", "(ILjava/lang/String;)V", reinterpret_cast<void*>(TellCommand))};
  jni->RegisterNatives(type, natives, static_cast<jint>(std::size(natives)));
  jni->ExceptionClear();  // a class of this name with other methods
}

// Sets whether a class tells the agent.
void Tell(JNIEnv* jni, jclass type, bool told) {
  if (const jfieldID field = jni->GetStaticFieldID(type, "told", "Z"))
    jni->SetStaticBooleanField(type, field, told ? JNI_TRUE : JNI_FALSE);
  jni->ExceptionClear();
}

// Calls visit(name) if the class is one of the package's.
void IfOfProgramApi(jvmtiEnv* jvmti, jclass type, auto visit) {
  JvmtiString signature(jvmti);
  if (jvmti->GetClassSignature(type, signature.out(), nullptr) != JVMTI_ERROR_NONE) return;
  const auto name = InternalName(signature.view());
  if (engine::IsOfProgramApi(name)) visit(name);
}

// Calls visit(type, name) for each loaded class of the package; each class loader may have them.
void VisitClasses(jvmtiEnv* jvmti, JNIEnv* jni, auto visit) {
  jint count = 0;
  jclass* classes = nullptr;
  if (jvmti->GetLoadedClasses(&count, &classes) != JVMTI_ERROR_NONE) return;
  for (const jclass loaded : std::span(classes, static_cast<size_t>(count))) {
    IfOfProgramApi(jvmti, loaded, [&](std::string_view name) {
      jint status = 0;
      if (jvmti->GetClassStatus(loaded, &status) == JVMTI_ERROR_NONE &&
          (status & JVMTI_CLASS_STATUS_PREPARED) != 0)
        visit(loaded, name);
    });
    jni->DeleteLocalRef(loaded);
  }
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(classes));
}

// Returns what `choose` returns for the plan's kind of recording, or null without a shadow stack.
engine::LabelFunction OfKind(const setup::Plan& plan, bool train,
                             engine::LabelFunction (*choose)(engine::RecordingKind, bool)) {
  return plan.source == setup::Source::kProbe ? choose(plan.kind, train) : nullptr;
}

// Calls use(text) with the text of a string. Does nothing if there is no memory.
void WithText(JNIEnv* jni, jstring text, engine::LabelFunction use) {
  const char* const bytes = jni->GetStringUTFChars(text, nullptr);
  if (bytes == nullptr) return jni->ExceptionClear();
  use(bytes);
  jni->ReleaseStringUTFChars(text, bytes);
}

void Execute(const std::function<void()>& command) {
  if (command) command();
}

}  // namespace

LabelNatives::LabelNatives(JavaVM* java, const setup::Plan& plan, bool train)
    : java_(java),
      set_(OfKind(plan, train, engine::LabelFunctionFor)),
      mark_(OfKind(plan, train, engine::MarkFunctionFor)) {}

void LabelNatives::Begin(JNIEnv* jni, RecordingCommands commands) {
  commands_ = std::move(commands);
  jvmti_ = NewJvmtiEnv(java_);
  if (jvmti_ == nullptr) return;
  Publish(*this);
  hookit::SetCommands({StartByCode, StopByCode, MarkByCode});
  JvmtiEvents events;
  events.Add(JVMTI_EVENT_CLASS_PREPARE, &jvmtiEventCallbacks::ClassPrepare,
             kGuarded<OnClassPrepare>);
  events.Install(jvmti_);
  VisitClasses(jvmti_, jni, [&](jclass type, std::string_view name) {
    Bind(jni, type, name);
    Tell(jni, type, name != engine::kLabelClass || listens());
  });
}

void LabelNatives::End(JNIEnv* jni) {
  if (jvmti_ == nullptr) return;
  hookit::SetCommands({});
  VisitClasses(jvmti_, jni, [&](jclass type, std::string_view) { Tell(jni, type, false); });
  jvmti_->DisposeEnvironment();
  jvmti_ = nullptr;
  Unpublish(*this);
}

void LabelNatives::Set(JNIEnv* jni, jstring text) const {
  if (set_ == nullptr) return;
  if (text == nullptr) return set_({});
  WithText(jni, text, set_);
}

void LabelNatives::Start() const { Execute(commands_.start); }
void LabelNatives::Stop() const { Execute(commands_.stop); }

void LabelNatives::Mark(std::string_view text) const {
  if (mark_ != nullptr) mark_(text);
}

void LabelNatives::Mark(JNIEnv* jni, jstring text) const {
  if (mark_ != nullptr && text != nullptr) WithText(jni, text, mark_);
}

void JNICALL LabelNatives::OnClassPrepare(jvmtiEnv* jvmti, JNIEnv* jni, jthread, jclass prepared) {
  IfOfProgramApi(jvmti, prepared, [&](std::string_view name) { Bind(jni, prepared, name); });
}

}  // namespace jprof::agent
