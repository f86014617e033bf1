#include "reports/view/optimize_view.h"

namespace jprof::reports {

ViewData ViewOfOptimize(std::string_view title, std::string_view json) {
  ViewData data("optimize", title);
  DescribeNoTree("benefit", data);
  data["optimized"] = data.AddText(json);
  return data;
}

}  // namespace jprof::reports
