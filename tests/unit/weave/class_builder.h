// Class files made by hand, and woven code as text: for the tests and the fuzz target of the
// weaver.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "jprof/weave/big_endian.h"
#include "jprof/weave/class_file.h"
#include "jprof/weave/weave.h"

namespace jprof::weave {

// "2a b1" to two bytes; "NN*COUNT" repeats a byte.
inline std::string FromHex(std::string_view text) {
  std::string bytes;
  const std::string copy(text);
  for (size_t at = 0; at < copy.size(); ++at) {
    if (copy[at] == ' ') continue;
    const auto byte = static_cast<char>(std::stoi(copy.substr(at, 2), nullptr, 16));
    at += 2;
    size_t count = 1;
    if (at < copy.size() && copy[at] == '*') {
      size_t digits = 0;
      count = std::stoul(copy.substr(at + 1), &digits);
      at += digits + 1;
    }
    bytes.append(count, byte);
  }
  return bytes;
}

inline std::string ToHex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes)
    text += fmt::format("{}{:02x}", text.empty() ? "" : " ", static_cast<uint8_t>(byte));
  return text;
}

struct CodeSpec {
  uint16_t access = 9;  // public static
  std::string name = "m";
  std::string descriptor = "()V";
  uint16_t max_stack = 1;
  uint16_t max_locals = 0;
  std::string code;  // as for FromHex, like the contents of the attributes
  std::vector<std::array<uint16_t, 4>> exceptions;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::string annotations;  // RuntimeVisibleAnnotations of the method
};

class ClassBuilder {
 public:
  explicit ClassBuilder(uint16_t major = 61, std::string_view name = "C") : major_(major) {
    this_class_ = Class(name);
    Class("java/lang/Object");
  }

  uint16_t Utf8(std::string_view text) {
    const auto [known, added] = texts_.try_emplace(std::string(text), count_);
    if (!added) return known->second;
    pool_.U1(kUtf8);
    pool_.U2(static_cast<uint32_t>(text.size()));
    pool_.Bytes(text);
    return count_++;
  }
  uint16_t Class(std::string_view name) {
    const uint16_t text = Utf8(name);
    pool_.U1(kClass);
    pool_.U2(text);
    return count_++;
  }
  uint16_t Method(std::string_view of_class, std::string_view name, std::string_view descriptor) {
    return Member(kMethodref, of_class, name, descriptor);
  }
  uint16_t Field(std::string_view of_class, std::string_view name, std::string_view descriptor) {
    return Member(kFieldref, of_class, name, descriptor);
  }
  uint16_t Member(uint8_t tag, std::string_view of_class, std::string_view name,
                  std::string_view descriptor) {
    const uint16_t type = Class(of_class), text = Utf8(name), types = Utf8(descriptor);
    pool_.U1(kNameAndType);
    pool_.U2(text);
    pool_.U2(types);
    pool_.U1(tag);
    pool_.U2(type);
    pool_.U2(count_++);
    return count_++;
  }
  // Adds numbers until the pool has this many indexes.
  void FillPool(uint16_t count) {
    while (count_ < count) {
      pool_.U1(kInteger);
      pool_.U4(count_++);
    }
  }

  void Add(const CodeSpec& spec) {
    Output code;
    const std::string bytes = FromHex(spec.code);
    code.U2(spec.max_stack);
    code.U2(spec.max_locals);
    code.U4(static_cast<uint32_t>(bytes.size()));
    code.Bytes(bytes);
    code.U2(static_cast<uint32_t>(spec.exceptions.size()));
    for (const auto& entry : spec.exceptions)
      for (const uint16_t number : entry) code.U2(number);
    code.U2(static_cast<uint32_t>(spec.attributes.size()));
    for (const auto& [name, contents] : spec.attributes) Attribute(code, name, FromHex(contents));
    methods_.U2(spec.access);
    methods_.U2(Utf8(spec.name));
    methods_.U2(Utf8(spec.descriptor));
    methods_.U2(spec.annotations.empty() ? 1 : 2);
    Attribute(methods_, "Code", code.view());
    if (!spec.annotations.empty())
      Attribute(methods_, "RuntimeVisibleAnnotations", FromHex(spec.annotations));
    ++method_count_;
  }

  std::vector<uint8_t> Build() const {
    Output out;
    out.U4(0xcafebabe);
    out.U4(major_);
    out.U2(count_);
    out.Bytes(pool_.view());
    out.U2(0x21);
    out.U2(this_class_);
    out.U2(4);  // java/lang/Object
    out.U4(0);  // interfaces, fields
    out.U2(method_count_);
    out.Bytes(methods_.view());
    out.U2(0);
    return out.Take();
  }

 private:
  void Attribute(Output& out, std::string_view name, std::string_view contents) {
    out.U2(Utf8(name));
    out.U4(static_cast<uint32_t>(contents.size()));
    out.Bytes(contents);
  }

  uint16_t major_;
  uint16_t this_class_ = 0;
  uint16_t count_ = 1;
  uint16_t method_count_ = 0;
  Output pool_;
  Output methods_;
  std::map<std::string, uint16_t> texts_;
};

inline std::vector<uint8_t> ClassOf(const CodeSpec& spec, uint16_t major = 61,
                                    std::string_view name = "C") {
  ClassBuilder builder(major, name);
  builder.Add(spec);
  return builder.Build();
}

// The code of a woven method.
struct Shown {
  std::string code;  // calls of the counter by their name, all else in hexadecimal
  uint16_t max_stack = 0;
  uint16_t max_locals = 0;
  std::string exceptions;
  std::map<std::string, std::string> attributes;
};

// The method of the counter that an index of the pool refers to.
inline std::string CounterMethodAt(const ClassFile& file, uint16_t index) {
  ByteCursor pool(file.pool.bytes());
  std::vector<std::string_view> entries = {{}};
  while (!pool.empty()) {
    const std::string_view rest = pool.rest();
    const uint8_t tag = ReadU1(pool);
    pool.Skip(tag == kUtf8 ? ReadU2(pool) : tag == kClass ? 2 : 4);
    entries.push_back(rest.substr(0, rest.size() - pool.left()));
  }
  const auto number = [&](uint16_t entry, size_t at) {
    return LoadBig<uint16_t>(entries.at(entry), at);
  };
  const std::string_view name = file.pool.ClassName(number(index, 1));
  if (!name.starts_with(kOwnClasses)) return "?";
  const uint16_t name_and_type = number(index, 3);
  return std::string(file.pool.Utf8(number(name_and_type, 1))) +
         std::string(file.pool.Utf8(number(name_and_type, 3)));
}

inline std::string ShowCode(const ClassFile& file, std::string_view code) {
  std::string text;
  for (size_t at = 0; at < code.size(); ++at) {
    if (!text.empty()) text += ' ';
    if (code[at] == '\xb8') {
      text += CounterMethodAt(file, LoadBig<uint16_t>(code, at + 1));
      at += 2;
    } else {
      text += ToHex(code.substr(at, 1));
    }
  }
  return text;
}

// The first method of a class file.
inline Shown Show(const std::vector<uint8_t>& bytes) {
  const auto file = ReadClassFile(bytes);
  if (!file) return {.code = file.error().message};
  ByteCursor cursor(file->bytes.substr(file->methods + 2));
  const auto method = ReadMethod(cursor, file->pool);
  if (!method) return {.code = method.error().message};
  const auto code = ReadCode(method->code.contents);
  if (!code) return {.code = code.error().message};
  Shown shown = {.code = ShowCode(*file, code->code),
                 .max_stack = code->max_stack,
                 .max_locals = code->max_locals};
  for (uint32_t i = 0; i < code->exception_count(); ++i) {
    const ExceptionEntry entry = code->exception(i);
    shown.exceptions +=
        fmt::format("{}{}-{} {}", i == 0 ? "" : ", ", entry.start, entry.end, entry.handler);
  }
  ByteCursor attributes(code->attributes);
  for (uint32_t i = 0; i < code->attribute_count; ++i) {
    const Attribute attribute = ReadAttribute(attributes, file->pool);
    shown.attributes[std::string(attribute.name)] = ToHex(attribute.contents);
  }
  return shown;
}

inline Result<Woven> WeaveAllWith(const std::vector<uint8_t>& bytes, Action action, uint32_t id,
                                  bool answers = false) {
  return Weave(bytes, [&](const Method&) { return Decision{action, id++, answers}; });
}

inline Shown ShowCounted(const std::vector<uint8_t>& bytes, uint32_t id = 1) {
  const auto woven = WeaveAllWith(bytes, Action::kCount, id);
  if (!woven) return {.code = woven.error().message};
  if (!woven->skipped.empty()) return {.code = std::string(NameOf(woven->skipped[0].why))};
  return Show(woven->bytes);
}
inline Shown ShowCounted(const CodeSpec& spec, uint32_t id = 1) {
  return ShowCounted(ClassOf(spec), id);
}

}  // namespace jprof::weave
