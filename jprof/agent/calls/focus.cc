#include "jprof/agent/calls/focus.h"

#include "jprof/hotspot/probe/handlers.h"
#include "jprof/hotspot/vm/interpreter_entries.h"
#include "jprof/setup/print_message.h"

namespace jprof::agent {
namespace {

// Returns whether the JDK generated the class for a lambda or a method reference. Such a class has
// one method, which calls the body. The body stays in focus. The method is excluded so that it can
// be inlined into the JDK's loops.
bool IsGeneratedForLambda(std::string_view class_name) {
  return class_name.find("$$Lambda") != std::string_view::npos;
}

}  // namespace

engine::MethodTable::Filter Focus::MethodFilter() const {
  if (options_.methods.Empty() && options_.focus.Empty()) return {};
  return [methods = options_.methods, focus = options_.focus, &packages = packages_](
             std::string_view class_name, std::string_view name) {
    return (methods.Empty() || methods.AcceptsMethod(class_name, name)) &&
           (focus.Empty() ||
            (!IsGeneratedForLambda(class_name) &&
             focus.AcceptsMethod(class_name, name, packages.IsApplicationClass(class_name))));
  };
}

void Focus::Begin(JNIEnv* jni) {
  if (options_.focus.Empty()) return;
  if (!packages_.Read(jni))
    setup::PrintMessage("the JVM does not report its packages: FOCUS=app matches no method");
  const auto structs = hotspot::VmStructs::Load();
  if (!structs) return;
  hotspot::Fields field(*structs);
  const hotspot::InterpreterEntries interpreter(field);
  if (!field.Check()) return;
  const auto [begin, end] = interpreter.Code(hotspot::MemoryReader(nullptr));
  hotspot::SetInterpreter(begin, end - begin);
}

}  // namespace jprof::agent
