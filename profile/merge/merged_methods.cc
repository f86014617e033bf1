#include "profile/merge/merged_methods.h"

#include <algorithm>

#include "profile/files/class_name.h"

namespace jprof::profile {

MergedMethods::MergedMethods(ClassNames names) : names_(names) {
  (void)Add({});  // the agent's name for all methods whose name cannot be read
}

Result<MethodId> MergedMethods::Add(const MethodName& given) {
  MethodName name = given;
  if (names_ == ClassNames::kUnnumbered) name.class_name = Unnumbered(name.class_name);
  if (name.class_name.empty() && name.name.empty()) name = {"(unknown)", "method", "", 0};
  const uint16_t kind = name.flags & kMethodNotJava;
  std::string key(reinterpret_cast<const char*>(&kind), sizeof kind);
  for (const std::string_view part : {name.class_name, name.name, name.signature})
    key.append(part).push_back('\0');
  const auto [known, is_new] = ids_.try_emplace(std::move(key), records_.size() + 1);
  if (is_new) {
    if (records_.size() + 1 >= kMethodMask - 1) {
      return Fail("the profiles have more than {} methods: merge fewer of them", kMethodMask - 2);
    }
    records_.push_back({.lengths = {static_cast<uint16_t>(name.class_name.size()),
                                    static_cast<uint16_t>(name.name.size()),
                                    static_cast<uint16_t>(name.signature.size())},
                        .key = &known->first});
  }
  records_[known->second - 1].flags |= name.flags & ~kMethodFiltered;
  return MethodId{known->second};
}

MethodName MergedMethods::operator[](MethodId id) const {
  const Entry& entry = records_[IndexOf(id) - 1];
  std::string_view texts[3];
  size_t at = sizeof(uint16_t);
  for (size_t i = 0; i < std::size(texts); ++i) {
    texts[i] = std::string_view(*entry.key).substr(at, entry.lengths[i]);
    at += entry.lengths[i] + size_t{1};
  }
  return {texts[0], texts[1], texts[2], entry.flags};
}

uint32_t MergedMethods::CountWith(uint16_t flags) const {
  return static_cast<uint32_t>(std::ranges::count_if(
      records_, [flags](const Entry& entry) { return (entry.flags & flags) != 0; }));
}

std::string MergedMethods::Text() const {
  std::string out;
  for (size_t i = 0; i < records_.size(); ++i) {
    const Entry& entry = records_[i];
    const auto& [class_length, name_length, signature_length] = entry.lengths;
    const size_t text = size_t{class_length} + name_length + signature_length;
    const size_t bytes = (sizeof(MethodRecord) + text + 7) / 8 * 8;
    const MethodRecord record = {.bytes = static_cast<uint32_t>(bytes),
                                 .id = static_cast<uint32_t>(i + 1),
                                 .flags = entry.flags,
                                 .class_length = class_length,
                                 .name_length = name_length,
                                 .signature_length = signature_length};
    const size_t end = out.size() + bytes;
    out.append(reinterpret_cast<const char*>(&record), sizeof record);
    size_t at = sizeof(uint16_t);
    for (const size_t length : {class_length, name_length, signature_length}) {
      out.append(*entry.key, at, length);
      at += length + 1;
    }
    out.resize(end);
  }
  return out;
}

}  // namespace jprof::profile
