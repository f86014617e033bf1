#include "heap/dump/read_dump.h"

namespace jprof::heap {

uint64_t ReadValue(DumpCursor& cursor, FieldType type) {
  switch (cursor.SizeOf(type)) {
    case 1:
      return cursor.Number<uint8_t>();
    case 2:
      return cursor.Number<uint16_t>();
    case 4:
      return cursor.Number<uint32_t>();
    case 8:
      return cursor.Number<uint64_t>();
    default:
      cursor.Fail();
      return 0;
  }
}

Result<DumpHeader> ReadHeader(std::string_view bytes, const std::string& path) {
  constexpr std::string_view kMagic = "JAVA PROFILE ";
  constexpr size_t kLongestVersion = 16;
  if (!bytes.starts_with(kMagic)) {
    return WrongUse(
        "{} is not a heap dump: it does not begin with \"JAVA PROFILE\"; make one with "
        "jcmd PID GC.heap_dump FILE, or with jprof heap --pid PID",
        path);
  }
  DumpCursor cursor(bytes.substr(kMagic.size()), 8);
  DumpHeader header;
  header.version = cursor.ReadText().substr(0, kLongestVersion);
  header.id_size = cursor.Number<uint32_t>();
  header.milliseconds = cursor.Number<uint64_t>();
  header.size = bytes.size() - cursor.left();
  if (!cursor.ok()) return Fail("{} ends inside its header; take the dump again", path);
  if (header.id_size == 4 || header.id_size == 8) return header;
  return Fail("{} has ids of {} bytes; HPROF has 4 or 8: the file is damaged", path,
              header.id_size);
}

void DumpProblems::Add(uint64_t place, std::string_view what) {
  constexpr uint64_t kMostTexts = 3;
  if (++count <= kMostTexts) texts.push_back(fmt::format("{} at byte {}", what, place));
}

ClassRecord ReadClass(DumpCursor& cursor) {
  ClassRecord record = {.id = cursor.Id()};
  cursor.Skip(4);
  for (uint64_t* id : {&record.super, &record.loader, &record.signers, &record.domain})
    *id = cursor.Id();
  cursor.Skip(2 * cursor.id_size() + 4);  // reserved; the size of instances
  for (uint16_t left = cursor.Number<uint16_t>(); left > 0 && cursor.ok(); --left) {
    cursor.Skip(2);
    const auto type = cursor.Number<FieldType>();
    const uint64_t value = ReadValue(cursor, type);
    if (type == FieldType::kObject) record.constants.push_back(value);
  }
  for (uint16_t left = cursor.Number<uint16_t>(); left > 0 && cursor.ok(); --left) {
    StaticField field = {.name = cursor.Id(), .type = cursor.Number<FieldType>()};
    field.value = ReadValue(cursor, field.type);
    record.statics.push_back(field);
  }
  for (uint16_t left = cursor.Number<uint16_t>(); left > 0 && cursor.ok(); --left) {
    record.fields.push_back({.name = cursor.Id(), .type = cursor.Number<FieldType>()});
    if (cursor.SizeOf(record.fields.back().type) == 0) cursor.Fail();
  }
  return record;
}

}  // namespace jprof::heap
