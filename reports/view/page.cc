#include "reports/view/page.h"

// The built page (CMakeLists.txt), which page_text.S includes.
extern "C" const char jprof_view_page_begin[];
extern "C" const char jprof_view_page_end[];

namespace jprof::reports {

std::pair<std::string_view, std::string_view> PageAroundData() {
  constexpr std::string_view kMark = "<!--DATA-->";
  const std::string_view page(jprof_view_page_begin,
                              static_cast<size_t>(jprof_view_page_end - jprof_view_page_begin));
  const size_t mark = page.find("\n<!--DATA-->") + 1;
  return {page.substr(0, mark), page.substr(mark + kMark.size())};
}

}  // namespace jprof::reports
