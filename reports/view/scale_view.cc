// Writes the view of a result of `jprof scale`: the document of its report as JSON.
#include "model/tree/run_description.h"
#include "reports/quality/quality_of.h"
#include "reports/scale/scale_report.h"
#include "reports/view/head.h"
#include "reports/view/views.h"

namespace jprof::reports {

Result<ViewData> ViewOf(model::Scale& scale) {
  const auto json =
      PrintedText([&](Output& out) { return PrintScale(scale, {.format = Format::kJson}, out); });
  if (!json) return std::unexpected(json.error());
  ViewData data("scale", scale.directory);
  data.Fact("command", model::CommandText(scale.meta.command));
  data.Fact("JVM", scale.runs.front().counted.reader.meta().jvm.Title());
  DescribeQuality(QualityOf(scale), data);
  DescribeNoTree("calls", data);
  data["scale"] = data.AddText(*json);
  return data;
}

}  // namespace jprof::reports
