#include "fleet/read/measure.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "fleet/push/identity.h"
#include "fleet/server/row_binary.h"
#include "profile/files/layout.h"
#include "profile/files/meta.h"

namespace jprof::fleet {

Result<Measure> MeasureOf(Server& server, const std::vector<SelectedRun>& runs,
                          const std::string& name) {
  const std::vector<std::string> metrics = runs.front().MetricNames();
  const Measure calls = {.column = "sum(toFloat64(entries_0) + toFloat64(entries_1))"};
  if (name == "calls" || (name.empty() && metrics.empty())) return calls;
  const auto at = name.empty() ? metrics.begin() : std::ranges::find(metrics, name);
  if (at == metrics.end()) {
    return WrongUse("--by {}: the selected runs have calls{}{}", name, metrics.empty() ? "" : ", ",
                    runs.front().metrics);
  }
  const auto place = static_cast<size_t>(at - metrics.begin());
  const auto found =
      server.Query(fmt::format("SELECT meta FROM runs WHERE push = {} LIMIT 1", runs.front().push));
  if (!found) return std::unexpected(found.error());
  profile::Damages unused;
  const profile::Meta meta = profile::ParseMeta(RowReader(*found).Text(), unused);
  Measure measure = {.name = *at, .column = fmt::format("sum(toFloat64(value_{}))", place + 1)};
  if (place < meta.metrics.size()) {
    const profile::Metric& metric = meta.metrics[place];
    measure.unit = metric.unit;
    measure.scale = metric.scale;
    measure.is_time = metric.is_time();
    measure.is_samples = metric.is_samples();
  }
  return measure;
}

double ArmOfMean(double sum, double squares, double count) {
  if (count < 2) return 0;
  const double variance = std::max(0.0, (squares - sum * sum / count) / (count - 1));
  const boost::math::students_t student(count - 1);
  return boost::math::quantile(student, 0.975) * std::sqrt(variance / count);
}

std::string TextOf(const FrameName& frame) {
  if (frame.kind == static_cast<uint8_t>(FrameClass::kOverflow)) return "(overflow)";
  if ((frame.flags & profile::kMethodCode) != 0) {
    const std::string& module = frame.class_name;
    return fmt::format("{}+{}", module.substr(module.rfind('/') + 1), frame.name);
  }
  std::string text = frame.class_name;
  std::ranges::replace(text, '/', '.');
  if (!text.empty() && !frame.name.empty()) text += '.';
  text += frame.name;
  return text.empty() ? "(unknown)" : text;
}

}  // namespace jprof::fleet
