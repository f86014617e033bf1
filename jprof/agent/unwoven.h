// Records in the profile what was to be woven but was not: its calls are not counted. Thread safe.
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
  // `header`: of the profile. It must last as long as this object.
  explicit Unwoven(profile::ControlHeader& header) : header_(header) {}

  // Each counts once, however often it is loaded or redefined. Class names are in internal form
  // (java/lang/String). Without memory for names the counts may be too high.
  void AddMethod(std::string_view class_name, std::string_view method, std::string_view descriptor);
  void AddClass(std::string_view class_name);

 private:
  void Add(std::string_view class_name, std::string_view member, std::string_view descriptor,
           profile::UnwovenRecord& record);

  profile::ControlHeader& header_;
  std::mutex lock_;
  std::set<std::string> seen_;  // with descriptors
};

}  // namespace jprof::agent
