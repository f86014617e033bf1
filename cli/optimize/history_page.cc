#include "cli/optimize/history_output.h"
#include "cli/shared/json_output.h"
#include "reports/view/optimize_view.h"

namespace jprof::cli {

Result<void> ShowOptimizePage(const std::vector<cpo::History>& histories,
                              const PageChoice& choice) {
  const auto json =
      CompactJson([&](reports::JsonWriter& writer) { WriteOptimizeJson(histories, writer); });
  if (!json) return std::unexpected(json.error());
  const bool is_one = histories.size() == 1;
  const std::string& name = histories.front().key.name;
  const auto data = reports::ViewOfOptimize(is_one ? name : "jprof optimize", *json);
  return ShowPage(choice, (is_one ? name : "optimize") + std::string(".html"),
                  [&](const std::string& out) {
                    return WritePage(out, [&](reports::Output& to) { return data.Print(to); });
                  });
}

}  // namespace jprof::cli
