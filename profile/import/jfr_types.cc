#include "profile/import/jfr_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "profile/files/printable_text.h"

namespace jprof::profile {
namespace {

constexpr int kDeepestElement = 16;   // of the metadata: root, metadata, class, field, annotation
constexpr int kDeepestStructure = 8;  // structures in structures
constexpr size_t kMostLeaves = 1024;  // of one type, with those of its structures
// Fields of all types, each counted as often as it is part of another type. The JVM's have some
// thousands. Without this limit, structures without fields in structures would be an endless loop.
constexpr size_t kMostFields = 1 << 18;
constexpr size_t kLongestLeafName = 4096;

uint64_t NumberIn(std::string_view text) {
  uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::optional<JfrLeaf::Kind> PrimitiveOf(std::string_view name) {
  using enum JfrLeaf::Kind;
  static constexpr std::pair<std::string_view, JfrLeaf::Kind> kPrimitives[] = {
      {"boolean", kByte}, {"byte", kByte},     {"short", kShort},
      {"char", kShort},   {"int", kInt},       {"long", kLong},
      {"float", kFloat},  {"double", kDouble}, {"java.lang.String", kString},
  };
  for (const auto& [primitive, kind] : kPrimitives)
    if (name == primitive) return kind;
  return std::nullopt;
}

}  // namespace

// An element of the metadata's tree. Its texts are those of the metadata's table: a file may refer
// to a long one many times.
struct JfrTypes::Element {
  std::string_view name;
  std::map<std::string_view, std::string_view> attributes;
  std::vector<Element> children;

  std::string_view At(std::string_view key) const {
    const auto found = attributes.find(key);
    return found == attributes.end() ? "" : found->second;
  }
};

struct JfrTypes::Field {
  std::string_view name, unit;
  uint64_t type = 0;
  bool is_constant = false, is_array = false;
};

struct JfrTypes::Class {
  uint64_t id = 0;
  std::string_view name;
  std::vector<Field> fields;
};

int JfrType::Find(std::string_view leaf) const {
  const auto found = std::ranges::find(leaves, leaf, &JfrLeaf::name);
  return found == leaves.end() ? -1 : static_cast<int>(found - leaves.begin());
}

JfrTypes::Element JfrTypes::ReadElement(JfrCursor& cursor, const std::vector<std::string>& strings,
                                        int depth) {
  const auto text = [&]() -> std::string_view {
    const uint32_t index = cursor.Int();
    if (index < strings.size()) return strings[index];
    cursor.Fail();
    return {};
  };
  Element element = {.name = text()};
  for (uint32_t left = cursor.Int(); left > 0 && cursor.ok(); --left) {
    const std::string_view key = text();
    element.attributes[key] = text();
  }
  const uint32_t children = cursor.Int();
  if (depth == kDeepestElement && children > 0) cursor.Fail();
  for (uint32_t i = 0; i < children && cursor.ok(); ++i)
    element.children.push_back(ReadElement(cursor, strings, depth + 1));
  return element;
}

std::vector<JfrTypes::Class> JfrTypes::ClassesIn(const Element& root) {
  std::map<uint64_t, std::string_view> names;
  std::vector<const Element*> elements;
  for (const Element& part : root.children) {
    for (const Element& child : part.children) {
      if (child.name != "class") continue;
      elements.push_back(&child);
      names[NumberIn(child.At("id"))] = child.At("name");
    }
  }
  std::vector<Class> classes;
  for (const Element* element : elements) {
    Class& made = classes.emplace_back(
        Class{.id = NumberIn(element->At("id")), .name = element->At("name"), .fields = {}});
    for (const Element& child : element->children) {
      if (child.name != "field") continue;
      Field& field = made.fields.emplace_back(
          Field{.name = child.At("name"),
                .unit = {},
                .type = NumberIn(child.At("class")),
                .is_constant = child.At("constantPool") == "true",
                .is_array = !child.At("dimension").empty() && child.At("dimension") != "0"});
      for (const Element& annotation : child.children) {
        const std::string_view kind = names[NumberIn(annotation.At("class"))];
        if (kind == "jdk.jfr.Timespan" || kind == "jdk.jfr.Timestamp")
          field.unit = annotation.At("value");
      }
    }
  }
  return classes;
}

// Makes the leaves of all types. Structures become part of the types that have them.
Result<void> JfrTypes::Flatten(const std::vector<Class>& classes) {
  std::unordered_map<uint64_t, const Class*> by_id;
  for (const Class& made : classes) by_id[made.id] = &made;
  size_t fields = 0;
  const auto add = [&](const auto& self, const Class& of, const std::string& prefix, int depth,
                       JfrType& to) -> bool {
    for (const Field& field : of.fields) {
      const auto found = by_id.find(field.type);
      if (found == by_id.end() || to.leaves.size() >= kMostLeaves || ++fields > kMostFields ||
          prefix.size() + field.name.size() > kLongestLeafName)
        return false;
      const auto primitive = PrimitiveOf(found->second->name);
      JfrLeaf leaf = {.name = prefix + std::string(field.name),
                      .kind = field.is_constant ? JfrLeaf::Kind::kConstant
                                                : primitive.value_or(JfrLeaf::Kind::kLong),
                      .is_array = field.is_array,
                      .type = field.type,
                      .is_structure = !primitive && !field.is_constant,
                      .unit = std::string(field.unit.substr(0, kLongestLeafName))};
      if (leaf.is_structure && !leaf.is_array) {
        if (depth == kDeepestStructure ||
            !self(self, *found->second, leaf.name + ".", depth + 1, to))
          return false;
        continue;
      }
      to.leaves.push_back(std::move(leaf));
    }
    return true;
  };
  for (const Class& made : classes) {
    JfrType type = {.name = std::string(made.name.substr(0, kLongestLeafName)), .leaves = {}};
    // The constants of this type are texts, which the JVM has pooled.
    if (PrimitiveOf(made.name) == JfrLeaf::Kind::kString)
      type.leaves.push_back({.name = {}, .kind = JfrLeaf::Kind::kString, .unit = {}});
    if (!add(add, made, "", 0, type))
      return Fail("its type {} has a field of an unknown type, or too many fields",
                  CleanText(made.name));
    ids_[type.name] = made.id;
    types_[made.id] = std::move(type);
  }
  return {};
}

Result<JfrTypes> JfrTypes::Read(JfrCursor event) {
  event.Long();  // start, duration, id of the metadata
  event.Long();
  event.Long();
  std::vector<std::string> strings;
  for (uint32_t left = event.Int(); left > 0 && event.ok(); --left)
    strings.push_back(event.ReadString().text);
  const Element root = ReadElement(event, strings, 0);
  if (!event.ok()) return Fail("its metadata event is damaged");
  JfrTypes types;
  if (auto made = types.Flatten(ClassesIn(root)); !made) return std::unexpected(made.error());
  return types;
}

const JfrType* JfrTypes::Find(uint64_t id) const {
  const auto found = types_.find(id);
  return found == types_.end() ? nullptr : &found->second;
}

uint64_t JfrTypes::IdOf(std::string_view name) const {
  const auto found = ids_.find(std::string(name));
  return found == ids_.end() ? 0 : found->second;
}

JfrValue JfrTypes::ReadLeaf(const JfrLeaf& leaf, JfrCursor& cursor) const {
  JfrValue value;
  if (leaf.is_array) {
    value.number = cursor.Int();
    value.body = cursor;
    SkipArray(leaf, value.number, cursor, 0);
    return value;
  }
  switch (leaf.kind) {
    case JfrLeaf::Kind::kByte:
      value.number = cursor.Number(1);
      break;
    case JfrLeaf::Kind::kShort:
      value.number = cursor.Number(2);
      break;
    case JfrLeaf::Kind::kInt:
      value.number = cursor.Number(4);
      break;
    case JfrLeaf::Kind::kLong:
    case JfrLeaf::Kind::kConstant:
      value.number = cursor.Number(8);
      break;
    case JfrLeaf::Kind::kFloat:
      value.number = cursor.Fixed<uint32_t>();
      break;
    case JfrLeaf::Kind::kDouble:
      value.number = cursor.Fixed<uint64_t>();
      break;
    case JfrLeaf::Kind::kString:
      value.body = cursor;
      cursor.SkipString();
      break;
  }
  return value;
}

// Structures without a field take no bytes: any number of them would be an endless loop.
void JfrTypes::SkipArray(const JfrLeaf& leaf, uint64_t count, JfrCursor& cursor, int depth) const {
  const JfrType* type = leaf.is_structure ? Find(leaf.type) : nullptr;
  const bool is_empty = type != nullptr && type->leaves.empty();
  if (count > cursor.left() && !is_empty) cursor.Fail();
  if (depth > kDeepestStructure) cursor.Fail();
  JfrLeaf element = leaf;
  element.is_array = false;
  for (; count > 0 && cursor.ok() && !is_empty; --count) {
    if (type != nullptr) {
      Skip(*type, cursor, depth + 1);
    } else {
      ReadLeaf(element, cursor);
    }
  }
}

void JfrTypes::Skip(const JfrType& type, JfrCursor& cursor, int depth) const {
  for (const JfrLeaf& leaf : type.leaves) {
    if (!cursor.ok()) return;
    if (leaf.is_array) {
      SkipArray(leaf, cursor.Int(), cursor, depth);
    } else {
      ReadLeaf(leaf, cursor);
    }
  }
}

}  // namespace jprof::profile
