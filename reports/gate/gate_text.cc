// Prints the verdict of a gate as text, and the text of a condition for JUnit.
#include <algorithm>

#include "reports/gate/condition_text.h"
#include "reports/gate/gate_words.h"
#include "reports/print/fit.h"

namespace jprof::reports {
namespace {

constexpr size_t kMostVaryingText = 10;

void PrintTextItems(const GateReport& report, const ConditionVerdict& verdict,
                    std::string_view heading, const std::vector<GateItem>& items, Output& out) {
  if (items.empty()) return;
  out.Print("   {}\n", heading);
  for (const GateItem& item : items) {
    out.Text(FittedLine(fmt::format("   {:>12}  ", GrowthText(*verdict.metric, item.change)),
                        NameText(report, item), report.width));
    out.Print("   {:>12}  {}\n", "", ChangeText(*verdict.metric, item.change));
  }
}

void PrintTextKeptOut(const GateReport& report, const GateKeptOut& kept_out, Output& out) {
  out.Bold(fmt::format("\n)) Kept out of {}\n", kept_out.metric->name));
  for (const std::string& text : KeptOutTexts(report, kept_out))
    out.Text(FittedLine("   ", text, 0));
  const size_t shown = std::min(kMostVaryingText, kept_out.varies.size());
  if (shown == 0) return;
  out.Print("   {:>16} {:>16}  METHOD\n", "BASE", "NEW");
  for (size_t i = 0; i < shown; ++i) {
    const GateVaries& varies = kept_out.varies[i];
    const GateItem item = {.name = varies.name, .change = {}};
    out.Text(
        FittedLine(fmt::format("   {:>16} {:>16}  ", RunsText(*kept_out.metric, varies.runs[0]),
                               RunsText(*kept_out.metric, varies.runs[1])),
                   NameText(report, item), report.width));
  }
  if (shown < kept_out.varies.size()) out.Print("   and {} more\n", kept_out.varies.size() - shown);
}

}  // namespace

void PrintCondition(const GateReport& report, const ConditionVerdict& verdict, Output& out) {
  PrintTextItems(report, verdict, "methods that grew", verdict.methods, out);
  PrintTextItems(report, verdict, "contexts that grew", verdict.contexts, out);
}

void PrintGateText(const GateReport& report, Output& out) {
  out.Bold("jprof gate: " + HeadlineOf(report.verdict) + "\n");
  out.Print(" base      {}\n new       {}\n", report.data.sides[0].directory,
            report.data.sides[1].directory);
  for (const ConditionVerdict& verdict : report.verdict.conditions) {
    const std::string line =
        fmt::format("\n)) {}: {}: {}\n", verdict.violated ? "FAILED" : "passed",
                    verdict.condition.text, FoundText(verdict));
    verdict.violated ? out.Warning(line) : out.Bold(line);
    PrintCondition(report, verdict, out);
  }
  for (const GateKeptOut& kept_out : report.verdict.kept_out)
    PrintTextKeptOut(report, kept_out, out);
  for (const GateSide& side : report.data.sides) {
    for (const std::string& note : side.notes) out.Print("\n{}\n", note);
  }
}

}  // namespace jprof::reports
