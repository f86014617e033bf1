// Writes heap dumps for tests, record by record.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heap/dump/format.h"

namespace jprof::heap {

class DumpWriter {
 public:
  explicit DumpWriter(uint32_t id_size = 8, std::string_view version = "1.0.2")
      : id_size_(id_size) {
    bytes_ = "JAVA PROFILE ";
    bytes_ += version;
    bytes_ += '\0';
    Put(bytes_, id_size, 4);
    Put(bytes_, 1700000000000, 8);
  }

  // Returns the id of the text.
  uint64_t Text(std::string_view text) {
    const uint64_t id = next_text_++;
    std::string body;
    Put(body, id, id_size_);
    body += text;
    Record(Tag::kUtf8, body);
    return id;
  }

  struct Field {
    std::string_view name;
    FieldType type;
    uint64_t value = 0;  // of a static field
  };

  void Class(uint64_t id, std::string_view name, uint64_t super = 0,
             const std::vector<Field>& fields = {}, const std::vector<Field>& statics = {},
             uint64_t loader = 0) {
    std::string load;
    Put(load, 1, 4);
    Put(load, id, id_size_);
    Put(load, 0, 4);
    Put(load, Text(name), id_size_);
    Record(Tag::kLoadClass, load);
    std::vector<uint64_t> names;
    for (const auto* list : {&statics, &fields})
      for (const Field& field : *list) names.push_back(Text(field.name));
    Begin(SubTag::kClassDump, id);
    Put(heap_, 0, 4);
    for (const uint64_t one : {super, loader, uint64_t{0}, uint64_t{0}, uint64_t{0}, uint64_t{0}})
      Put(heap_, one, id_size_);
    Put(heap_, 0, 4);
    Put(heap_, 0, 2);
    auto next = names.begin();
    Put(heap_, statics.size(), 2);
    for (const Field& field : statics) {
      PutField(*next++, field.type);
      Put(heap_, field.value, SizeOf(field.type));
    }
    Put(heap_, fields.size(), 2);
    for (const Field& field : fields) PutField(*next++, field.type);
  }

  // Each value has its size in bytes.
  void Instance(uint64_t id, uint64_t type,
                const std::vector<std::pair<uint64_t, uint32_t>>& values) {
    Begin(SubTag::kInstance, id);
    Put(heap_, 0, 4);
    Put(heap_, type, id_size_);
    uint32_t size = 0;
    for (const auto& value : values) size += value.second;
    Put(heap_, size, 4);
    for (const auto& [value, bytes] : values) Put(heap_, value, bytes);
  }
  // An instance with ids only.
  void Object(uint64_t id, uint64_t type, const std::vector<uint64_t>& ids) {
    std::vector<std::pair<uint64_t, uint32_t>> values;
    for (const uint64_t one : ids) values.emplace_back(one, id_size_);
    Instance(id, type, values);
  }
  void ObjectArray(uint64_t id, uint64_t type, const std::vector<uint64_t>& elements) {
    Begin(SubTag::kObjectArray, id);
    Put(heap_, 0, 4);
    Put(heap_, elements.size(), 4);
    Put(heap_, type, id_size_);
    for (const uint64_t one : elements) Put(heap_, one, id_size_);
  }
  void PrimitiveArray(uint64_t id, FieldType type, const std::vector<uint64_t>& elements) {
    Begin(SubTag::kPrimitiveArray, id);
    Put(heap_, 0, 4);
    Put(heap_, elements.size(), 4);
    Put(heap_, static_cast<uint8_t>(type), 1);
    for (const uint64_t one : elements) Put(heap_, one, RowOf(type).size);
  }

  void Root(SubTag kind, uint64_t id, uint32_t thread = 0) {
    using enum SubTag;
    Begin(kind, id);
    const bool has_thread = kind == kRootJniLocal || kind == kRootJavaFrame ||
                            kind == kRootNativeStack || kind == kRootThreadBlock ||
                            kind == kRootThread;
    if (kind == kRootJniGlobal) Put(heap_, 0, id_size_);
    if (has_thread) Put(heap_, thread, 4);
    if (kind == kRootJniLocal || kind == kRootJavaFrame || kind == kRootThread) Put(heap_, 0, 4);
  }

  // Ends the segment, if it has records.
  void EndSegment(Tag tag = Tag::kHeapDumpSegment) {
    if (!heap_.empty()) Record(tag, std::exchange(heap_, ""));
  }
  void Record(Tag tag, std::string_view body) {
    bytes_ += static_cast<char>(tag);
    Put(bytes_, 0, 4);
    Put(bytes_, body.size(), 4);
    bytes_ += body;
  }
  // Adds bytes that are no record.
  void Raw(std::string_view bytes) { bytes_ += bytes; }

  std::string Finish() {
    EndSegment();
    Record(Tag::kHeapDumpEnd, "");
    return bytes_;
  }

 private:
  static void Put(std::string& to, uint64_t value, uint32_t size) {
    while (size-- > 0) to += static_cast<char>(value >> (8 * size));
  }
  uint32_t SizeOf(FieldType type) const {
    return type == FieldType::kObject ? id_size_ : RowOf(type).size;
  }
  void PutField(uint64_t name, FieldType type) {
    Put(heap_, name, id_size_);
    Put(heap_, static_cast<uint8_t>(type), 1);
  }
  void Begin(SubTag tag, uint64_t id) {
    heap_ += static_cast<char>(tag);
    Put(heap_, id, id_size_);
  }

  uint32_t id_size_;
  uint64_t next_text_ = 1000;
  std::string bytes_;
  std::string heap_;  // of the segment
};

// A file with these bytes, which is removed with the object.
class DumpOnDisk {
 public:
  explicit DumpOnDisk(std::string_view bytes) {
    std::string name = (std::filesystem::temp_directory_path() / "jprof-heap-XXXXXX").string();
    close(mkstemp(name.data()));
    path_ = name;
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ~DumpOnDisk() { std::filesystem::remove(path_); }
  DumpOnDisk(const DumpOnDisk&) = delete;
  DumpOnDisk& operator=(const DumpOnDisk&) = delete;
  std::string path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace jprof::heap
