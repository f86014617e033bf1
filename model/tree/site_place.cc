#include "model/tree/site_place.h"

#include <charconv>

namespace jprof::model {

SitePlace PlaceOfSite(const profile::MethodName& site) {
  if ((site.flags & profile::kMethodSite) == 0) return {};
  SitePlace place;
  const char* const end = site.name.data() + site.name.size();
  const auto bytecode = std::from_chars(site.name.data(), end, place.bytecode);
  if (bytecode.ec != std::errc() || bytecode.ptr == end || *bytecode.ptr != ':') return {};
  const auto line = std::from_chars(bytecode.ptr + 1, end, place.line);
  if (line.ec != std::errc() || line.ptr != end) return {};
  place.file = site.class_name;
  place.is_known = true;
  return place;
}

std::string UsualSourceFile(std::string_view class_name) {
  const std::string_view name = class_name.substr(class_name.rfind('/') + 1);
  return std::string(name.substr(0, name.find('$', 1))) + ".java";
}

}  // namespace jprof::model
