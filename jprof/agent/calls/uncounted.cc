#include "jprof/agent/calls/uncounted.h"

#include <algorithm>
#include <new>

#include "profile/files/writer.h"

namespace jprof::agent {

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
    profile::NoteUncounted(record, name);
  } catch (const std::bad_alloc&) {  // it is counted without a name
    ++record.count;
  }
}

}  // namespace jprof::agent
