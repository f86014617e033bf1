// Reads the names of sites (profile/files/layout.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "profile/read/reader.h"

namespace jprof::model {

// A bytecode of a method, with the line that it was compiled from.
struct SitePlace {
  std::string_view file;  // name of the source file; empty if it is not known
  uint32_t bytecode = 0;
  uint32_t line = 0;  // 0 if it is not known
  bool is_known = false;
};

// Returns the place that a site's name states. It is not known if the method is no site. The file
// is valid as long as the name.
SitePlace PlaceOfSite(const profile::MethodName& site);

// Returns the file that the source of a class is in by convention: of pkg/Outer$Inner Outer.java.
std::string UsualSourceFile(std::string_view class_name);

}  // namespace jprof::model
