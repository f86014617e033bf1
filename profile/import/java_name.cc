#include "profile/import/java_name.h"

#include <algorithm>
#include <array>
#include <utility>

namespace jprof::profile {
namespace {

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '-' || (c & 0x80) != 0;
}

// Returns whether the text is a name in Java: numbers after a separator are of hidden classes.
bool IsIdentifier(std::string_view text) {
  if (text == "<init>" || text == "<clinit>") return true;
  return !text.empty() && (text[0] < '0' || text[0] > '9') && text[0] != '-' &&
         std::ranges::all_of(text, IsNameCharacter);
}

// Compilers of C and C++ append these to the names of functions.
bool IsCompilersMark(std::string_view text) {
  static constexpr std::string_view kMarks[] = {"cold",     "part",       "isra", "constprop",
                                                "lto_priv", "localalias", "llvm"};
  return std::ranges::find(kMarks, text) != std::end(kMarks);
}

// Returns whether it is the name of a class with `separator` between its packages. A hidden class
// has "/0x..." or "+0x..." at its end.
bool IsClassName(std::string_view text, char separator) {
  for (const std::string_view mark : {"/0x", "+0x", ".0x"}) {
    const size_t at = text.rfind(mark);
    if (at != std::string_view::npos) text = text.substr(0, at);
  }
  for (;;) {
    const size_t at = text.find(separator);
    if (!IsIdentifier(text.substr(0, at))) return false;
    if (at == std::string_view::npos) return true;
    text.remove_prefix(at + 1);
  }
}

std::string Internal(std::string_view class_name) {
  std::string text(class_name);
  const size_t hidden = text.rfind(".0x");
  std::replace(
      text.begin(),
      hidden == std::string::npos ? text.end() : text.begin() + static_cast<std::ptrdiff_t>(hidden),
      '.', '/');
  if (hidden != std::string::npos) text[hidden] = '/';
  return text;
}

// Appends the descriptor of a type in Java's notation, "int[]". Returns false if it is none.
bool AppendDescriptor(std::string_view type, std::string& to) {
  static constexpr std::pair<std::string_view, char> kTypes[] = {
      {"void", 'V'}, {"boolean", 'Z'}, {"byte", 'B'},  {"char", 'C'},  {"short", 'S'},
      {"int", 'I'},  {"long", 'J'},    {"float", 'F'}, {"double", 'D'}};
  while (type.ends_with("[]")) {
    to += '[';
    type.remove_suffix(2);
  }
  for (const auto& [name, letter] : kTypes) {
    if (type != name) continue;
    to += letter;
    return true;
  }
  if (!IsClassName(type, '.')) return false;
  to += 'L' + Internal(type) + ';';
  return true;
}

// Returns the descriptor of "(int, java.lang.String)" and a return type, or an empty text.
std::string DescriptorOf(std::string_view arguments, std::string_view returned) {
  std::string descriptor = "(";
  arguments = arguments.substr(1, arguments.size() - 2);
  while (!arguments.empty()) {
    const size_t comma = std::min(arguments.find(','), arguments.size());
    if (!AppendDescriptor(arguments.substr(0, comma), descriptor)) return {};
    arguments.remove_prefix(std::min(comma + 1, arguments.size()));
    if (arguments.starts_with(' ')) arguments.remove_prefix(1);
  }
  descriptor += ')';
  return AppendDescriptor(returned, descriptor) ? descriptor : "";
}

// Divides "pkg/Class.method" or "pkg.Class.method".
std::optional<JavaName> Divided(std::string_view text) {
  const size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view class_name = text.substr(0, dot), name = text.substr(dot + 1);
  const bool has_slashes = class_name.find('/') != std::string_view::npos;
  const bool is_class = IsClassName(class_name, has_slashes ? '/' : '.') ||
                        (has_slashes && IsClassName(class_name, '.'));
  if (!is_class || !IsIdentifier(name) || IsCompilersMark(name)) return std::nullopt;
  return JavaName{Internal(class_name), std::string(name), {}};
}

// Divides "Lpkg/Class;::method" and "Lpkg/Class;method(II)V".
std::optional<JavaName> OfAgent(std::string_view text) {
  const size_t end = text.find(';');
  if (!text.starts_with('L') || end == std::string_view::npos) return std::nullopt;
  const std::string_view class_name = text.substr(1, end - 1);
  std::string_view name = text.substr(end + 1);
  if (name.starts_with("::")) name.remove_prefix(2);
  const size_t arguments = std::min(name.find('('), name.size());
  if (!IsClassName(class_name, '/') || !IsIdentifier(name.substr(0, arguments)))
    return std::nullopt;
  return JavaName{std::string(class_name), std::string(name.substr(0, arguments)),
                  std::string(name.substr(arguments))};
}

}  // namespace

std::optional<JavaName> ParseJavaName(std::string_view text) {
  if (auto agent = OfAgent(text)) return agent;
  const size_t open = text.find('('), close = text.rfind(')');
  if (open == std::string_view::npos) return Divided(text);
  if (close == std::string_view::npos || close < open) return std::nullopt;
  std::string_view head = text.substr(0, open);
  const std::string_view arguments = text.substr(open, close + 1 - open);
  const std::string_view tail = text.substr(close + 1);
  const size_t blank = head.rfind(' ');
  std::string_view returned;
  if (blank != std::string_view::npos) {
    returned = head.substr(0, blank);
    head.remove_prefix(blank + 1);
  }
  auto name = Divided(head);
  if (!name) return name;
  if (!returned.empty()) {
    name->signature = DescriptorOf(arguments, returned);
    if (name->signature.empty()) return std::nullopt;
  } else if (!tail.empty()) {
    name->signature = std::string(arguments) + std::string(tail);
  }
  return name;
}

TextFrame WithoutMark(std::string_view text) {
  static constexpr std::pair<std::string_view, FrameKind> kMarks[] = {
      {"_[j]", FrameKind::kRejitted},
      {"_[i]", FrameKind::kInlined},
      {"_[0]", FrameKind::kInterpreted},
      {"_[1]", FrameKind::kJitted},
      {"_[k]", FrameKind::kFunction}};
  for (const auto& [mark, kind] : kMarks) {
    if (text.ends_with(mark)) {
      return {.kind = kind,
              .name = text.substr(0, text.size() - mark.size()),
              .is_kernel = mark == "_[k]",
              .is_marked = true};
    }
  }
  return {.name = text};
}

ForeignFrame AddTextFrame(std::string_view text, std::string_view module, SampleTree& tree) {
  const TextFrame frame = WithoutMark(text);
  if (frame.is_kernel) {
    const MethodId method = tree.AddMethod({.class_name = module.empty() ? "vmlinux" : module,
                                            .name = frame.name,
                                            .signature = {},
                                            .flags = kMethodKernel});
    return {.method = method, .kind = FrameKind::kFunction};
  }
  if (const auto java = ParseJavaName(frame.name)) {
    const MethodId method = tree.AddMethod({.class_name = java->class_name,
                                            .name = java->name,
                                            .signature = java->signature,
                                            .flags = 0});
    return {.method = method, .kind = frame.is_marked ? frame.kind : FrameKind::kRejitted};
  }
  const MethodId method = tree.AddMethod(
      {.class_name = module, .name = frame.name, .signature = {}, .flags = kMethodCode});
  return {.method = method, .kind = FrameKind::kFunction};
}

}  // namespace jprof::profile
