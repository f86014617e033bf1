#include "heap/analysis/names.h"

#include <algorithm>

#include "heap/load/object_reader.h"

namespace jprof::heap {
namespace {

// Returns the JVM's name of the innermost elements of an array, and the number of dimensions.
std::pair<std::string, size_t> ElementsOf(std::string_view name) {
  const size_t dimensions = std::min(name.find_first_not_of('['), name.size());
  name.remove_prefix(dimensions);
  if (dimensions == 0) return {std::string(name), 0};
  if (name.starts_with('L') && name.ends_with(';'))
    return {std::string(name.substr(1, name.size() - 2)), dimensions};
  for (const PrimitiveRow& row : kPrimitives)
    if (row.array.substr(1) == name) return {std::string(row.name), dimensions};
  return {std::string(name), dimensions};
}

// Returns the text of a field that names the object: of a thread, a class loader, a module.
std::string NameField(const Heap& heap, const InstanceRecord& record) {
  const uint32_t name = heap.NodeOf(ValueOf(heap, record, "name").value_or(0));
  if (name == kNone) return "";
  const auto text = StringOf(heap, name);
  return text ? fmt::format(" \"{}\"", *text) : "";
}

bool IsA(const Heap& heap, uint32_t type, std::string_view name) {
  for (int supers = 0; type != kNone && supers < 200; ++supers, type = heap.classes[type].super)
    if (heap.classes[type].name == name) return true;
  return false;
}

std::string DetailOf(const Heap& heap, uint32_t node) {
  const uint32_t type = heap.ClassOf(node);
  if (heap.classes[type].is_array) return fmt::format(" length {}", heap.ShapeOf(node).length);
  if (const auto text = StringOf(heap, node)) return fmt::format(" \"{}\"", *text);
  const bool has_name = IsA(heap, type, "java/lang/Thread") ||
                        IsA(heap, type, "java/lang/ClassLoader") ||
                        IsA(heap, type, "java/lang/ThreadGroup");
  if (!has_name) return "";
  const ObjectRecord record = ReadObject(heap, node);
  const auto* const instance = std::get_if<InstanceRecord>(&record);
  return instance == nullptr ? "" : NameField(heap, *instance);
}

}  // namespace

std::string SourceName(std::string_view name) {
  auto [text, dimensions] = ElementsOf(name);
  std::ranges::replace(text, '/', '.');
  for (; dimensions > 0; --dimensions) text += "[]";
  return text;
}

std::string PackageOf(std::string_view name) {
  const auto [text, dimensions] = ElementsOf(name);
  const size_t end = text.rfind('/');
  if (end == std::string::npos)
    return dimensions > 0 && !name.contains('L') ? "(primitive arrays)" : "(default)";
  return SourceName(text.substr(0, end));
}

std::string ClassText(const Heap& heap, uint32_t node) {
  if (heap.IsClass(node)) return "class " + SourceName(heap.classes[node].name);
  return SourceName(heap.classes[heap.ClassOf(node)].name);
}

std::string ObjectText(const Heap& heap, uint32_t node, std::string_view name) {
  if (heap.IsClass(node)) return fmt::format("class {}", name);
  return fmt::format("{} 0x{:x}{}", name, IdOf(heap, node), DetailOf(heap, node));
}

std::string ObjectText(const Heap& heap, uint32_t node) {
  const uint32_t type = heap.IsClass(node) ? node : heap.ClassOf(node);
  return ObjectText(heap, node, SourceName(heap.classes[type].name));
}

std::string ObjectTextWithoutId(const Heap& heap, uint32_t node) {
  return heap.IsClass(node) ? ClassText(heap, node) : ClassText(heap, node) + DetailOf(heap, node);
}

std::string_view RootText(SubTag kind) {
  using enum SubTag;
  switch (kind) {
    case kRootJniGlobal:
      return "JNI global reference";
    case kRootJniLocal:
      return "JNI local reference";
    case kRootJavaFrame:
      return "local variable of a thread";
    case kRootNativeStack:
      return "native stack";
    case kRootStickyClass:
      return "system class";
    case kRootThreadBlock:
      return "thread block";
    case kRootMonitorUsed:
      return "monitor in use";
    case kRootThread:
      return "thread";
    default:
      return "unknown root";
  }
}

}  // namespace jprof::heap
