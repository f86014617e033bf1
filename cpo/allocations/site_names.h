// Names the sites of allocations for people: the functions and lines that call them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "a2n/a2n.h"
#include "cpo/allocations/log.h"

namespace jprof::cpo {

class SiteNames {
 public:
  explicit SiteNames(const Log& log);

  // Returns " (work, app.c:20, called by main)" for a site whose caller has a name, else an empty
  // text.
  std::string Of(const LoggedGroup& group);
  // Returns "work (app.c:20) < main (app.c:9) < _start" for a site, with callers that have no name
  // as they are in the key, and an empty text for other groups.
  std::string ChainOf(const LoggedGroup& group);

 private:
  // Returns the function and those that it is inlined into for MODULE+0xOFFSET, innermost first;
  // nothing if they have no names.
  std::vector<a2n::Frame> FramesOf(std::string_view caller);

  std::map<std::string, std::string, std::less<>> paths_;  // by the module's name
  a2n::Resolver resolver_;
};

}  // namespace jprof::cpo
