#include "jprof/agent/focus.h"

#include "jprof/agent/jdk_packages.h"
#include "jprof/agent/say.h"
#include "jprof/hotspot/handlers.h"
#include "jprof/hotspot/interpreter_entries.h"

namespace jprof::agent {
namespace {

JdkPackages packages;

// The class that the JDK makes for a lambda or a method reference has nothing that anybody wrote:
// its one method calls the body, which stays in focus, and is inlined into the JDK's loops.
bool MadeForLambda(std::string_view class_name) {
  return class_name.find("$$Lambda") != std::string_view::npos;
}

}  // namespace

engine::MethodTable::Filter MethodFilter(const AgentOptions& options) {
  if (options.methods.Empty() && options.focus.Empty()) return {};
  return [methods = options.methods, focus = options.focus](std::string_view class_name,
                                                            std::string_view name) {
    return (methods.Empty() || methods.AcceptsMethod(class_name, name)) &&
           (focus.Empty() ||
            (!MadeForLambda(class_name) &&
             focus.AcceptsMethod(class_name, name, packages.OfApplication(class_name))));
  };
}

void StartFocus(JNIEnv* jni) {
  if (!packages.Read(jni)) Say("the JVM does not tell its packages: FOCUS=app finds nothing");
  const auto structs = hotspot::VmStructs::Load();
  if (!structs) return;
  hotspot::Fields field(*structs);
  const hotspot::InterpreterEntries interpreter(field);
  if (!field.Check()) return;
  const auto [begin, end] = interpreter.Code(hotspot::MemoryReader(nullptr));
  hotspot::SetInterpreter(begin, end - begin);
}

}  // namespace jprof::agent
