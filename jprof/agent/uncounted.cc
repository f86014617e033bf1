#include "jprof/agent/uncounted.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>

namespace jprof::agent {
namespace {

// The last byte of `names` stays 0. A name that does not fit is omitted.
void AppendName(std::string_view name, profile::UncountedRecord& record) {
  const size_t used = strnlen(record.names, std::size(record.names));
  std::string text(used == 0 ? "" : ", ");
  text += name;
  if (used + text.size() < std::size(record.names))
    std::memcpy(record.names + used, text.data(), text.size());
}

}  // namespace

void Uncounted::AddMethod(std::string_view class_name, std::string_view method,
                          std::string_view descriptor) {
  Add(class_name, method, descriptor, header_.unwoven_methods);
}

void Uncounted::AddClass(std::string_view class_name) {
  Add(class_name, "", "", header_.unwoven_classes);
}

void Uncounted::AddCompiled(std::string_view class_name, std::string_view method,
                            std::string_view descriptor) {
  Add(class_name, method, descriptor, header_.unprobed_methods);
}

void Uncounted::Add(std::string_view class_name, std::string_view member,
                    std::string_view descriptor, profile::UncountedRecord& record) {
  const std::lock_guard guard(lock_);
  try {
    std::string name(class_name);
    std::ranges::replace(name, '/', '.');
    if (!member.empty()) name.append(".").append(member);
    if (!seen_.insert(name + std::string(descriptor)).second) return;
    AppendName(name, record);
  } catch (const std::bad_alloc&) {  // it is counted without a name
  }
  ++record.count;
}

}  // namespace jprof::agent
