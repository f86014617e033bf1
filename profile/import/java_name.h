// Recognises methods of Java in the texts by which other tools name functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/frame_kind.h"
#include "profile/import/sample_tree.h"

namespace jprof::profile {

struct JavaName {
  std::string class_name;  // internal form, pkg/Class
  std::string name;
  std::string signature;  // a descriptor, or empty if the text does not have the types
};

// Returns the parts of a name in one of these forms, or nothing if it is no method of Java:
//   java/lang/String.substring, java/lang/String.substring(II)Ljava/lang/String;  the JVM's
//   java.lang.String.substring, also with (int, int), which is left out
//   java.lang.String java.lang.String.substring(int, int)   perf maps of the JVM
//   Ljava/lang/String;::substring, Ljava/lang/String;substring(II)V    agents for perf
std::optional<JavaName> ParseJavaName(std::string_view text);

// Describes a frame that is known by a text only.
struct TextFrame {
  FrameKind kind = FrameKind::kInterpreted;
  std::string_view name;   // without marks
  bool is_kernel = false;  // a mark says so
  bool is_marked = false;  // a mark says what kind it is
};
// Removes async-profiler's mark at the end of a name: _[j] compiled, _[i] inlined, _[0]
// interpreted, _[1] compiled by C1, _[k] of the kernel.
TextFrame WithoutMark(std::string_view text);

// Adds the function that a text names to the tree: a method of Java or a function of `module`,
// which may be empty.
ForeignFrame AddTextFrame(std::string_view text, std::string_view module, SampleTree& tree);

}  // namespace jprof::profile
