#include "reports/view/optimize_view.h"

namespace jprof::reports {

ViewData ViewOfOptimize(std::string_view title, std::string_view json) {
  ViewData data("optimize", title);
  // Each page has a metric and a tree, which have no rows here.
  data["metrics"].push_back(
      {{"name", "benefit"}, {"unit", ""}, {"kind", "count"}, {"exact", true}});
  data["trees"].push_back(Describe(ViewTree(1), "", data));
  data["methods"] = data.AddNames({});
  data["optimized"] = data.AddText(json);
  return data;
}

}  // namespace jprof::reports
