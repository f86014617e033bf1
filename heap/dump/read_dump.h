// Reads the records of a dump one after the other and passes them to a visitor. A damaged dump is
// read as far as possible: what is wrong with a record is reported, and reading continues with the
// next one whose place is known.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/result.h"
#include "heap/dump/dump_file.h"
#include "heap/dump/format.h"

namespace jprof::heap {

struct DumpHeader {
  std::string version;  // "1.0.2"
  uint32_t id_size = 8;
  uint64_t milliseconds = 0;  // since 1970
  size_t size = 0;            // of the header itself, in bytes
};

// Fails if the bytes are not a heap dump.
Result<DumpHeader> ReadHeader(std::string_view bytes, const std::string& path);

struct Root {
  SubTag kind = SubTag::kRootUnknown;
  uint64_t id = 0;
  uint32_t thread = 0;  // serial number; 0 if the root belongs to no thread
};

struct StaticField {
  uint64_t name = 0;
  FieldType type = FieldType::kObject;
  uint64_t value = 0;
};

struct InstanceField {
  uint64_t name = 0;
  FieldType type = FieldType::kObject;
};

struct ClassRecord {
  uint64_t id = 0, super = 0, loader = 0, signers = 0, domain = 0;
  std::vector<uint64_t> constants;  // references of its constant pool
  std::vector<StaticField> statics;
  std::vector<InstanceField> fields;  // without those of its super classes
};

struct InstanceRecord {
  uint64_t id = 0, class_id = 0;
  std::string_view values;  // of its class's fields, then of those of each super class
};

struct ObjectArrayRecord {
  uint64_t id = 0, class_id = 0;
  uint32_t length = 0;
  std::string_view elements;  // ids
};

struct PrimitiveArrayRecord {
  uint64_t id = 0;
  FieldType type = FieldType::kByte;
  uint32_t length = 0;
  std::string_view elements;
};

// Has a method for each kind of record, which does nothing. Visitors hide those that they need.
struct DumpVisitor {
  // Ends reading if it returns true.
  bool IsDone() const { return false; }
  // A range of sub-records.
  void Segment(size_t /*start*/, size_t /*end*/) {}
  void Text(uint64_t /*id*/, std::string_view /*text*/) {}
  void LoadClass(uint64_t /*id*/, uint64_t /*name*/) {}
  void OnRoot(const Root&) {}
  void Class(const ClassRecord&) {}
  // `place` is where the record begins, in bytes of the dump.
  void Instance(const InstanceRecord&, uint64_t /*place*/) {}
  void ObjectArray(const ObjectArrayRecord&, uint64_t /*place*/) {}
  void PrimitiveArray(const PrimitiveArrayRecord&, uint64_t /*place*/) {}
};

struct DumpProblems {
  // Adds one; only the first few are kept as text.
  void Add(uint64_t place, std::string_view what);

  std::vector<std::string> texts;
  uint64_t count = 0;
};

ClassRecord ReadClass(DumpCursor& cursor);

// Reads a value of a field, an id or the bits of a primitive value. Fails if there is no such type.
uint64_t ReadValue(DumpCursor& cursor, FieldType type);

// Reads one sub-record after its tag. Returns false if the tag is unknown or the record incomplete.
template <typename Visitor>
bool ReadSubRecord(SubTag tag, DumpCursor& cursor, uint64_t place, Visitor& visitor) {
  using enum SubTag;
  Root root = {.kind = tag};
  switch (tag) {
    case kRootUnknown:
    case kRootStickyClass:
    case kRootMonitorUsed:
      root.id = cursor.Id();
      break;
    case kRootJniGlobal:
      root.id = cursor.Id();
      cursor.Skip(cursor.id_size());
      break;
    case kRootNativeStack:
    case kRootThreadBlock:
      root = {tag, cursor.Id(), cursor.Number<uint32_t>()};
      break;
    case kRootJniLocal:
    case kRootJavaFrame:
    case kRootThread:
      root = {tag, cursor.Id(), cursor.Number<uint32_t>()};
      cursor.Skip(4);
      break;
    case kClassDump: {
      const ClassRecord record = ReadClass(cursor);
      if (cursor.ok()) visitor.Class(record);
      return cursor.ok();
    }
    case kInstance: {
      InstanceRecord record = {.id = cursor.Id()};
      cursor.Skip(4);
      record.class_id = cursor.Id();
      record.values = cursor.ReadBytes(cursor.Number<uint32_t>());
      if (cursor.ok()) visitor.Instance(record, place);
      return cursor.ok();
    }
    case kObjectArray: {
      ObjectArrayRecord record = {.id = cursor.Id()};
      cursor.Skip(4);
      record.length = cursor.Number<uint32_t>();
      record.class_id = cursor.Id();
      record.elements = cursor.ReadBytes(uint64_t{record.length} * cursor.id_size());
      if (cursor.ok()) visitor.ObjectArray(record, place);
      return cursor.ok();
    }
    case kPrimitiveArray: {
      PrimitiveArrayRecord record = {.id = cursor.Id()};
      cursor.Skip(4);
      record.length = cursor.Number<uint32_t>();
      record.type = cursor.Number<FieldType>();
      if (!IsPrimitive(record.type)) return false;
      record.elements = cursor.ReadBytes(uint64_t{record.length} * RowOf(record.type).size);
      if (cursor.ok()) visitor.PrimitiveArray(record, place);
      return cursor.ok();
    }
    default:
      return false;
  }
  if (cursor.ok()) visitor.OnRoot(root);
  return cursor.ok();
}

// What reading does besides visiting; all may be empty.
struct DumpReading {
  DumpProblems* problems = nullptr;
  std::function<void(double)> progress;  // called with the share that is read
};

template <typename Visitor>
class DumpReader {
 public:
  DumpReader(const DumpFile& file, const DumpHeader& header, Visitor& visitor,
             const DumpReading& reading)
      : file_(file),
        bytes_(file.bytes()),
        id_size_(header.id_size),
        visitor_(visitor),
        reading_(reading) {}

  void Read(size_t place) {
    constexpr size_t kRecordHead = 9;
    while (place < bytes_.size() && !visitor_.IsDone()) {
      DumpCursor head(bytes_.substr(place, kRecordHead), id_size_);
      const Tag tag = head.Number<Tag>();
      head.Skip(4);
      const uint64_t length = head.Number<uint32_t>();
      if (!head.ok()) return Complain(place, "the file ends inside the head of a record");
      place += kRecordHead;
      const bool is_whole = place + length <= bytes_.size();
      if (!is_whole) Complain(place, "the file ends inside a record");
      place = ReadBody(tag, place, is_whole ? length : bytes_.size() - place);
    }
  }

  // Reads sub-records. Returns where the next record begins.
  size_t ReadSubRecords(size_t place, size_t end, bool is_open) {
    DumpCursor cursor(bytes_.substr(place, end - place), id_size_);
    visitor_.Segment(place, end);
    while (!cursor.empty() && !visitor_.IsDone()) {
      const size_t at = end - cursor.left();
      PassOn(at);
      const SubTag tag = cursor.Number<SubTag>();
      if (is_open && static_cast<Tag>(tag) == Tag::kHeapDumpEnd) return at;
      if (ReadSubRecord(tag, cursor, at, visitor_)) continue;
      Complain(at,
               cursor.ok()
                   ? fmt::format("there is no heap record {:#x}", static_cast<uint8_t>(tag))
                   : fmt::format("a heap record {:#x} is incomplete", static_cast<uint8_t>(tag)));
      return end;
    }
    return end;
  }

 private:
  // Returns where the next record begins.
  size_t ReadBody(Tag tag, size_t place, uint64_t length) {
    if (tag == Tag::kHeapDump || tag == Tag::kHeapDumpSegment) {
      // Before segments, a dump of 4 GiB or more had no length.
      const bool is_open = tag == Tag::kHeapDump && length == 0;
      return ReadSubRecords(place, is_open ? bytes_.size() : place + length, is_open);
    }
    DumpCursor body(bytes_.substr(place, length), id_size_);
    if (tag == Tag::kUtf8) {
      const uint64_t id = body.Id();
      visitor_.Text(id, body.rest());
    } else if (tag == Tag::kLoadClass) {
      body.Skip(4);
      const uint64_t id = body.Id();
      body.Skip(4);
      const uint64_t name = body.Id();
      if (body.ok()) visitor_.LoadClass(id, name);
    } else if (!IsKnown(tag)) {
      Complain(place, fmt::format("there is no record {:#x}", static_cast<uint8_t>(tag)));
    }
    return place + length;
  }

  static bool IsKnown(Tag tag) {
    using enum Tag;
    return (tag >= kUtf8 && tag <= kHeapSummary) ||
           (tag >= kStartThread && tag <= kControlSettings) || tag == kHeapDumpEnd;
  }

  void Complain(size_t place, std::string_view what) {
    if (reading_.problems != nullptr) reading_.problems->Add(place, what);
  }

  // Gives back memory and reports progress now and then.
  void PassOn(size_t place) {
    constexpr size_t kPart = size_t{32} << 20;
    if (next_part_ == 0) next_part_ = place + kPart;
    if (place < next_part_) return;
    next_part_ = place + kPart;
    file_.Release();
    if (reading_.progress)
      reading_.progress(static_cast<double>(place) / static_cast<double>(bytes_.size()));
  }

  const DumpFile& file_;
  const std::string_view bytes_;
  const uint32_t id_size_;
  Visitor& visitor_;
  const DumpReading& reading_;
  size_t next_part_ = 0;
};

template <typename Visitor>
void ReadDump(const DumpFile& file, const DumpHeader& header, Visitor& visitor,
              const DumpReading& reading = {}) {
  DumpReader<Visitor>(file, header, visitor, reading).Read(header.size);
  file.Release();
}

}  // namespace jprof::heap
