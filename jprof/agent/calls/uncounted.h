// Records in the profile which methods and classes could not be woven, and which methods were
// compiled without probes, so that their calls are not counted. The class is thread-safe.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "profile/files/layout.h"

namespace jprof::agent {

class Uncounted {
 public:
  // Requires that `header`, which is that of the profile, outlives this object.
  explicit Uncounted(profile::ControlHeader& header) : header_(header) {}

  // Count each method or class once, however often it is loaded or redefined. Class names are in
  // internal form (java/lang/String). If there is no memory for names, the counts may be too high.
  void AddMethod(std::string_view class_name, std::string_view method, std::string_view descriptor);
  void AddClass(std::string_view class_name);
  void AddCompiled(std::string_view class_name, std::string_view method,
                   std::string_view descriptor);

 private:
  void Add(std::string_view class_name, std::string_view member, std::string_view descriptor,
           profile::UncountedRecord& record);

  profile::ControlHeader& header_;
  std::mutex lock_;
  std::set<std::string> seen_;  // classes, and methods with descriptors
};

}  // namespace jprof::agent
