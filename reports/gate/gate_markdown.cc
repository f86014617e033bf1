// Prints the verdict of a gate as Markdown, for the summary of a job.
#include <algorithm>

#include "reports/gate/gate_words.h"
#include "reports/print/markdown.h"

namespace jprof::reports {
namespace {

constexpr size_t kMostVaryingMarkdown = 10;

void PrintMarkdownItems(const GateReport& report, const ConditionVerdict& verdict,
                        std::string_view what, const std::vector<GateItem>& items, Output& out) {
  if (items.empty()) return;
  out.Print("\n| change | base -> new | {} that grew |\n| ---: | :--- | :--- |\n", what);
  for (const GateItem& item : items) {
    out.Print("| {} | {} | {} |\n", GrowthText(*verdict.metric, item.change),
              EscapedMarkdown(ChangeText(*verdict.metric, item.change)),
              EscapedMarkdown(NameText(report, item)));
  }
}

void PrintMarkdownKeptOut(const GateReport& report, const GateKeptOut& kept_out, Output& out) {
  out.Print("\n<details><summary>Kept out of {}</summary>\n\n", kept_out.metric->name);
  for (const std::string& text : KeptOutTexts(report, kept_out))
    out.Print("- {}\n", EscapedMarkdown(text));
  const size_t shown = std::min(kMostVaryingMarkdown, kept_out.varies.size());
  if (shown > 0) out.Text("\n| base | new | method |\n| ---: | ---: | :--- |\n");
  for (size_t i = 0; i < shown; ++i) {
    const GateVaries& varies = kept_out.varies[i];
    const GateItem item = {.name = varies.name, .change = {}};
    out.Print("| {} | {} | {} |\n", RunsText(*kept_out.metric, varies.runs[0]),
              RunsText(*kept_out.metric, varies.runs[1]), EscapedMarkdown(NameText(report, item)));
  }
  if (shown < kept_out.varies.size()) out.Print("\nand {} more\n", kept_out.varies.size() - shown);
  out.Text("\n</details>\n");
}

}  // namespace

void PrintGateMarkdown(const GateReport& report, Output& out) {
  out.Print("### jprof gate: {}\n\n", HeadlineOf(report.verdict));
  out.Text("| | condition | base -> new |\n| :--- | :--- | :--- |\n");
  for (const ConditionVerdict& verdict : report.verdict.conditions) {
    out.Print("| {} | {} | {} |\n", verdict.violated ? "**FAILED**" : "passed",
              EscapedMarkdown(verdict.condition.text), EscapedMarkdown(FoundText(verdict)));
  }
  for (const ConditionVerdict& verdict : report.verdict.conditions) {
    if (!verdict.violated) continue;
    out.Print("\n**{}**\n", EscapedMarkdown(verdict.condition.text));
    PrintMarkdownItems(report, verdict, "methods", verdict.methods, out);
    PrintMarkdownItems(report, verdict, "contexts", verdict.contexts, out);
  }
  for (const GateKeptOut& kept_out : report.verdict.kept_out)
    PrintMarkdownKeptOut(report, kept_out, out);
  for (const GateSide& side : report.data.sides) {
    for (const std::string& note : side.notes) out.Print("\n{}\n", EscapedMarkdown(note));
  }
}

}  // namespace jprof::reports
