#include "reports/view/view.h"

#include "reports/view/views.h"

namespace jprof::reports {

Result<void> PrintView(model::Input& input, Output& out) {
  const Result<ViewData> data = std::visit([](auto& opened) { return ViewOf(opened); }, input);
  if (!data) return std::unexpected(data.error());
  return data->Print(out);
}

}  // namespace jprof::reports
