#include <algorithm>

#include "common/bytes.h"
#include "profile/read/reader.h"

namespace jprof::profile {

MethodName Methods::operator[](MethodId id) const {
  if (IndexOf(id) >= entries_.size()) return {};
  const Entry& entry = entries_[IndexOf(id)];
  const std::string_view text = std::string_view(text_).substr(entry.offset);
  return {text.substr(0, entry.lengths[0]), text.substr(entry.lengths[0], entry.lengths[1]),
          text.substr(entry.lengths[0] + entry.lengths[1], entry.lengths[2]), entry.flags};
}

void Methods::Rename(MethodId id, std::string_view class_name, std::string_view name) {
  if (IndexOf(id) >= entries_.size()) return;
  entries_[IndexOf(id)] = {
      .offset = text_.size(),
      .lengths = {static_cast<uint32_t>(class_name.size()), static_cast<uint32_t>(name.size()), 0},
      .flags = 0};
  text_.append(class_name).append(name);
}

Methods Reader::ReadMethods() {
  // A live profile may have gained methods since it was opened: use the current count.
  ControlHeader now;
  uint64_t bytes = header_.methods_bytes;
  if (OpenFile(kControlFile).ReadAt(0, &now, sizeof(now)) == sizeof(now)) {
    bytes = std::max(bytes, now.methods_bytes);
  }
  Methods methods;
  const ReaderFile file = OpenFile(kMethodsFile);
  if (bytes > file.size()) {
    damages_.Add("methods: cut off: some names are missing",
                 fmt::format("{} of {} bytes exist", file.size(), bytes));
  }
  methods.text_ = file.ReadAll(bytes);
  const std::string& text = methods.text_;
  if (text.size() < std::min(bytes, file.size())) {
    damages_.Add("methods: empty after its beginning: names are missing",
                 fmt::format("from byte {} on", text.size()));
  }
  for (ByteCursor rest(text); rest.left() >= sizeof(MethodRecord);) {
    const uint64_t at = text.size() - rest.left();
    const auto record = ByteCursor(rest).Read<MethodRecord>();
    const uint64_t strings =
        uint64_t{record.class_length} + record.name_length + record.signature_length;
    const bool fits = record.bytes >= sizeof(record) + strings && record.bytes % 8 == 0 &&
                      record.bytes <= rest.left();
    // Ids are dense from 1, so an id cannot exceed the number of smallest records that fit in the
    // file.
    if (!fits || record.id == 0 || record.id > text.size() / sizeof(record)) {
      damages_.Add("methods: an invalid record: names after it are missing",
                   fmt::format("at byte {}", at));
      break;
    }
    if (record.id >= methods.entries_.size()) methods.entries_.resize(record.id + 1);
    methods.entries_[record.id] = {
        at + sizeof(record),
        {record.class_length, record.name_length, record.signature_length},
        record.flags};
    rest.Skip(record.bytes);
  }
  return methods;
}

}  // namespace jprof::profile
