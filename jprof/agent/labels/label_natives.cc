#include "jprof/agent/labels/label_natives.h"

#include <span>

#include "jprof/agent/vm/in_use.h"
#include "jprof/agent/vm/jvmti_env.h"
#include "jprof/engine/method_table.h"

namespace jprof::agent {
namespace {

jboolean JNICALL AgentListens(JNIEnv*, jclass) {
  const InUse<LabelNatives> labels;
  return labels && labels->listens() ? JNI_TRUE : JNI_FALSE;
}

void JNICALL TellLabel(JNIEnv* jni, jclass, jstring text) {
  if (const InUse<LabelNatives> labels; labels) labels->Set(jni, text);
}

bool IsLabelClass(jvmtiEnv* jvmti, jclass type) {
  JvmtiString signature(jvmti);
  return jvmti->GetClassSignature(type, signature.out(), nullptr) == JVMTI_ERROR_NONE &&
         InternalName(signature.view()) == engine::kLabelClass;
}

// RegisterNatives does not change the strings.
void BindLabel(JNIEnv* jni, jclass type) {
  const JNINativeMethod natives[] = {
      {const_cast<char*>("agentListens"), const_cast<char*>("()Z"),
       reinterpret_cast<void*>(AgentListens)},
      {const_cast<char*>("tell"), const_cast<char*>("(Ljava/lang/String;)V"),
       reinterpret_cast<void*>(TellLabel)}};
  jni->RegisterNatives(type, natives, static_cast<jint>(std::size(natives)));
  jni->ExceptionClear();  // a class of this name with other methods
}

// Calls visit(type) for each loaded class of labels; each class loader may have one.
void VisitLabelClasses(jvmtiEnv* jvmti, JNIEnv* jni, auto visit) {
  jint count = 0;
  jclass* classes = nullptr;
  if (jvmti->GetLoadedClasses(&count, &classes) != JVMTI_ERROR_NONE) return;
  for (const jclass loaded : std::span(classes, static_cast<size_t>(count))) {
    jint status = 0;
    if (IsLabelClass(jvmti, loaded) && jvmti->GetClassStatus(loaded, &status) == JVMTI_ERROR_NONE &&
        (status & JVMTI_CLASS_STATUS_PREPARED) != 0)
      visit(loaded);
    jni->DeleteLocalRef(loaded);
  }
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(classes));
}

}  // namespace

LabelNatives::LabelNatives(JavaVM* java, const setup::Plan& plan, bool train)
    : java_(java),
      set_(plan.source == setup::Source::kProbe ? engine::LabelFunctionFor(plan.kind, train)
                                                : nullptr) {}

void LabelNatives::Begin(JNIEnv* jni) {
  jvmti_ = NewJvmtiEnv(java_);
  if (jvmti_ == nullptr) return;
  Publish(*this);
  JvmtiEvents events;
  events.Add(JVMTI_EVENT_CLASS_PREPARE, &jvmtiEventCallbacks::ClassPrepare,
             kGuarded<OnClassPrepare>);
  events.Install(jvmti_);
  VisitLabelClasses(jvmti_, jni, [&](jclass type) {
    BindLabel(jni, type);
    Tell(jni, type, listens());
  });
}

void LabelNatives::End(JNIEnv* jni) {
  if (jvmti_ == nullptr) return;
  VisitLabelClasses(jvmti_, jni, [&](jclass type) { Tell(jni, type, false); });
  jvmti_->DisposeEnvironment();
  jvmti_ = nullptr;
  Unpublish(*this);
}

void LabelNatives::Set(JNIEnv* jni, jstring text) const {
  if (set_ == nullptr) return;
  if (text == nullptr) return set_({});
  const char* const bytes = jni->GetStringUTFChars(text, nullptr);
  if (bytes == nullptr) return jni->ExceptionClear();
  set_(bytes);
  jni->ReleaseStringUTFChars(text, bytes);
}

void LabelNatives::Tell(JNIEnv* jni, jclass type, bool told) const {
  if (const jfieldID field = jni->GetStaticFieldID(type, "told", "Z"))
    jni->SetStaticBooleanField(type, field, told ? JNI_TRUE : JNI_FALSE);
  jni->ExceptionClear();
}

void JNICALL LabelNatives::OnClassPrepare(jvmtiEnv* jvmti, JNIEnv* jni, jthread, jclass prepared) {
  if (IsLabelClass(jvmti, prepared)) BindLabel(jni, prepared);
}

}  // namespace jprof::agent
