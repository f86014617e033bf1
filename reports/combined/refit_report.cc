#include "reports/combined/refit_report.h"

#include "model/values/statistics.h"
#include "profile/files/printable_text.h"

namespace jprof::reports {

void PrintRefitting(const model::Source& counted, const model::Refitting& refitting, Output& out) {
  const double scale = refitting.scale;
  const auto amount = [&](double raw) { return model::AmountIn(refitting.unit, raw * scale); };
  out.Bold(
      fmt::format("jprof calibrate --check of {}\n", profile::CleanText(counted.reader.shown())));
  out.Print(" table     {} (made {})\n", counted.table_from,
            profile::CleanText(counted.table->made_at));
  out.Print(
      " based on  {}, in {} methods; {:.1f} % of the time "
      "was in methods that the counted run did not see\n",
      model::SamplesText(refitting), refitting.methods,
      model::PercentOf(refitting.uncounted, refitting.sampled));
  out.Print(" time      counted {}; sampled {}: {} more\n", amount(refitting.raw),
            amount(refitting.sampled), amount(refitting.raw - refitting.sampled));
  out.Print("           the trained overheads make {}, the shown ones {}\n",
            amount(refitting.trained), amount(refitting.refitted));
  std::string errors;
  for (const auto& [type, error] : refitting.model_error)
    errors += fmt::format("{}{} {:.2f}", errors.empty() ? "" : ", ", type, error * scale);
  out.Print(
      " model     methods of one type differ in overhead "
      "per interval by (standard deviation, {}): {}\n",
      refitting.unit, errors);
  out.Print(
      " legend    in {}: TRAINED the overhead of the table, "
      "SHOWN what raw times less samples show (lost inlining\n"
      "           and lost intrinsics are in it), +- its standard deviation, MINIMUM of training; "
      "TOTAL in ms: EVENTS * SHOWN\n\n",
      refitting.unit);
  out.Print("{:<12}{:>14}{:>9}{:>9}{:>8}{:>9}{:>12}\n", "TRANSITION", "EVENTS", "TRAINED", "SHOWN",
            "+-", "MINIMUM", "TOTAL");
  for (const model::RefitKey& key : refitting.keys) {
    out.Print("{:<12}{:>14.0f}{:>9.2f}{:>9.2f}{:>8.2f}{:>9.2f}{:>12.3f}\n", ToString(key.key),
              key.events, key.trained.overhead * scale, key.overhead * scale, key.error * scale,
              key.trained.minimum * scale, key.events * key.overhead * scale / 1e6);
  }
}

}  // namespace jprof::reports
