// Converts names of methods to the notation of Java sources, for tools and reports that show names
// to people.
#pragma once

#include <string>
#include <string_view>

namespace jprof::model {

// Lists how names of Java methods are written.
enum class NameForm {
  kFull,   // "clojure.lang.RT.load(String, int[])": argument types without their packages
  kShort,  // "RT.load"
  kJvm,    // "clojure/lang/RT.load(Ljava/lang/String;[I)V"
};

// Converts the JVM's name of a method to the form. Returns the text unchanged if no descriptor of a
// method is at its end, or a damaged one.
std::string MethodIn(NameForm form, std::string_view jvm);

// Converts the JVM's name of a class, "java/lang/String" or "[[I", to the form: "java.lang.String",
// "int[][]"; and in the form kJvm to "java/lang/String", "INT[][]", as the classic layout has it.
// Returns a damaged one unchanged.
std::string ClassIn(NameForm form, std::string_view jvm);

// Converts "pkg/Class.method(I[J)V" to "pkg.Class.method(int, long[])", with the packages of
// argument types. Returns the text unchanged if no descriptor of a method is at its end, or a
// damaged one.
std::string ReadableMethod(std::string_view jvm);

// Converts "pkg/Class.method(I[J)V" to "pkg/Class.method". Returns other text unchanged.
std::string_view WithoutSignature(std::string_view jvm);

// A name such as "pkg/Class.method(I)V", divided.
struct MethodParts {
  std::string_view class_name;
  std::string_view name;  // without its descriptor
};

// Divides the name. What has no class is only a method.
MethodParts PartsOfMethod(std::string_view jvm);

}  // namespace jprof::model
