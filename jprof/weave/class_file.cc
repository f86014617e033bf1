#include "jprof/weave/class_file.h"

#include <array>

#include "jprof/weave/annotations.h"
#include "jprof/weave/big_endian.h"
#include "jprof/weave/weave.h"

namespace jprof::weave {
namespace {

// Lists the bytes of an entry after its tag. They are 0 if there is no such tag, or if the entry is
// a text.
constexpr std::array<uint8_t, 21> kEntrySizes = {0, 0, 0, 4, 4, 8, 8, 2, 2, 4, 4,
                                                 4, 4, 0, 0, 3, 2, 4, 4, 2, 2};

uint32_t EntrySize(uint8_t tag) { return tag < kEntrySizes.size() ? kEntrySizes[tag] : 0; }

void SkipFields(ByteCursor& cursor) {
  for (uint32_t fields = ReadU2(cursor); fields > 0 && cursor.ok(); --fields) {
    cursor.Skip(6);
    SkipAttributes(cursor);
  }
}

Result<void> CheckVersion(uint16_t major) {
  if (major < kOldestVersion)
    return Fail("class file version {} is older than {}", major, kOldestVersion);
  if (major > kNewestVersion)
    return Fail("class file version {} is newer than {}", major, kNewestVersion);
  return {};
}

}  // namespace

Result<ConstantPool> ConstantPool::Read(ByteCursor& cursor) {
  ConstantPool pool;
  const uint16_t count = ReadU2(cursor);
  pool.bytes_ = cursor.rest();
  pool.entries_.assign(count, kNoEntry);
  for (uint32_t i = 1; i < count && cursor.ok(); ++i) {
    pool.entries_[i] = static_cast<uint32_t>(pool.bytes_.size() - cursor.left());
    const uint8_t tag = ReadU1(cursor);
    const uint32_t size = tag == kUtf8 ? ReadU2(cursor) : EntrySize(tag);
    if (cursor.ok() && size == 0 && tag != kUtf8)
      return Fail("malformed class file: constant {} has the unknown tag {}", i, tag);
    const std::string_view contents = cursor.ReadBytes(size);
    if (tag == kUtf8 && MarksIntrinsic(contents)) pool.has_intrinsics_ = true;
    if (tag == kLong || tag == kDouble) ++i;  // these take two indexes
    if (i == count) return Fail("malformed class file: its last constant takes two indexes");
  }
  if (!cursor.ok() || count == 0) return Fail("malformed class file: its constants are cut off");
  pool.bytes_.remove_suffix(cursor.left());
  return pool;
}

std::string_view ConstantPool::Entry(uint16_t index, uint8_t tag) const {
  if (index >= entries_.size() || entries_[index] == kNoEntry) return {};
  const uint32_t at = entries_[index];
  if (static_cast<uint8_t>(bytes_[at]) != tag) return {};
  return bytes_.substr(at + 1);
}

std::string_view ConstantPool::Utf8(uint16_t index) const {
  const std::string_view entry = Entry(index, kUtf8);
  return entry.empty() ? entry : entry.substr(2, LoadBig<uint16_t>(entry, 0));
}

std::string_view ConstantPool::ClassName(uint16_t index) const {
  const std::string_view entry = Entry(index, kClass);
  return entry.empty() ? entry : Utf8(LoadBig<uint16_t>(entry, 0));
}

ConstantPool::MethodName ConstantPool::Method(uint16_t index) const {
  const std::string_view method = Entry(index, kMethodref);
  if (method.empty()) return {};
  const std::string_view name = Entry(LoadBig<uint16_t>(method, 2), kNameAndType);
  if (name.empty()) return {};
  return {ClassName(LoadBig<uint16_t>(method, 0)), Utf8(LoadBig<uint16_t>(name, 0)),
          Utf8(LoadBig<uint16_t>(name, 2))};
}

std::string_view ConstantPool::ClassOfField(uint16_t index) const {
  const std::string_view field = Entry(index, kFieldref);
  return field.empty() ? field : ClassName(LoadBig<uint16_t>(field, 0));
}

uint8_t ConstantPool::Tag(uint16_t index) const {
  if (index >= entries_.size() || entries_[index] == kNoEntry) return 0;
  return static_cast<uint8_t>(bytes_[entries_[index]]);
}

Result<ClassFile> ReadClassFile(std::span<const uint8_t> bytes) {
  ByteCursor cursor(bytes);
  ClassFile file;
  file.bytes = cursor.rest();
  if (ReadU4(cursor) != 0xcafebabe)
    return Fail("not a class file: it does not begin with cafebabe");
  cursor.Skip(2);
  file.major = ReadU2(cursor);
  if (!cursor.ok()) return Fail("malformed class file: its version is cut off");
  if (auto version = CheckVersion(file.major); !version) return std::unexpected(version.error());
  auto pool = ConstantPool::Read(cursor);
  if (!pool) return std::unexpected(std::move(pool.error()));
  file.pool = std::move(*pool);
  file.after_pool = file.bytes.size() - cursor.left();
  cursor.Skip(2);
  file.this_class = ReadU2(cursor);
  file.name = file.pool.ClassName(file.this_class);
  cursor.Skip(2);
  cursor.Skip(uint64_t{2} * ReadU2(cursor));  // interfaces
  SkipFields(cursor);
  if (!cursor.ok()) return Fail("malformed class file: its fields are cut off");
  if (file.name.empty()) return Fail("malformed class file: its class has no name");
  file.methods = file.bytes.size() - cursor.left();
  return file;
}

Attribute ReadAttribute(ByteCursor& cursor, const ConstantPool& pool) {
  const std::string_view rest = cursor.rest();
  Attribute attribute;
  attribute.name = pool.Utf8(ReadU2(cursor));
  attribute.contents = cursor.ReadBytes(ReadU4(cursor));
  attribute.whole = rest.substr(0, rest.size() - cursor.left());
  if (attribute.name.empty()) cursor.Fail();
  return attribute;
}

void SkipAttributes(ByteCursor& cursor) {
  for (uint32_t attributes = ReadU2(cursor); attributes > 0 && cursor.ok(); --attributes) {
    cursor.Skip(2);
    cursor.Skip(ReadU4(cursor));
  }
}

Result<MethodInfo> ReadMethod(ByteCursor& cursor, const ConstantPool& pool) {
  MethodInfo method;
  method.access = ReadU2(cursor);
  method.name = pool.Utf8(ReadU2(cursor));
  method.descriptor = pool.Utf8(ReadU2(cursor));
  for (uint32_t attributes = ReadU2(cursor); attributes > 0 && cursor.ok(); --attributes) {
    const Attribute attribute = ReadAttribute(cursor, pool);
    if (attribute.name == "Code" && method.code.contents.empty()) method.code = attribute;
    if (pool.has_intrinsics() && attribute.name == "RuntimeVisibleAnnotations")
      method.is_intrinsic = HasIntrinsicMark(attribute.contents, pool);
  }
  if (!cursor.ok()) return Fail("malformed class file: method {} is cut off", method.name);
  if (method.name.empty() || method.descriptor.empty())
    return Fail("malformed class file: a method has no name or no descriptor");
  return method;
}

ExceptionEntry CodeAttribute::exception(uint32_t index) const {
  const auto number = [&](size_t at) {
    return LoadBig<uint16_t>(exceptions, size_t{8} * index + at);
  };
  return {number(0), number(2), number(4), number(6)};
}

Result<CodeAttribute> ReadCode(std::string_view contents) {
  ByteCursor cursor(contents);
  CodeAttribute code;
  code.max_stack = ReadU2(cursor);
  code.max_locals = ReadU2(cursor);
  const uint32_t size = ReadU4(cursor);
  code.code = cursor.ReadBytes(size);
  code.exceptions = cursor.ReadBytes(uint64_t{8} * ReadU2(cursor));
  code.attribute_count = ReadU2(cursor);
  code.attributes = cursor.rest();
  if (!cursor.ok()) return Fail("its code is cut off");
  if (size == 0 || size > 65535) return Fail("its code has {} bytes", size);
  return code;
}

}  // namespace jprof::weave
