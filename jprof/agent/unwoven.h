// Records in the profile which methods and classes could not be woven, so that their calls are not
// counted. Thread safe.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "profile/layout.h"

namespace jprof::agent {

class Unwoven {
 public:
  // Requires that `header`, the profile's, outlives this object.
  explicit Unwoven(profile::ControlHeader& header) : header_(header) {}

  // Count each method or class once, however often it is loaded or redefined. Class names are in
  // internal form (java/lang/String). If there is no memory for names, the counts may be too high.
  void AddMethod(std::string_view class_name, std::string_view method, std::string_view descriptor);
  void AddClass(std::string_view class_name);

 private:
  void Add(std::string_view class_name, std::string_view member, std::string_view descriptor,
           profile::UnwovenRecord& record);

  profile::ControlHeader& header_;
  std::mutex lock_;
  std::set<std::string> seen_;  // classes, and methods with descriptors
};

}  // namespace jprof::agent
