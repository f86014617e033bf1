// Prints the verdict of a gate as a test report of JUnit: each condition is a test.
#include "profile/files/printable_text.h"
#include "reports/gate/condition_text.h"
#include "reports/gate/gate_words.h"
#include "reports/print/html_page.h"

namespace jprof::reports {
namespace {

// Escapes text for XML, which allows no control characters but these of a text of several lines.
std::string EscapedXml(std::string_view text) { return EscapedHtml(profile::CleanText(text)); }

void PrintJunitFailure(const GateReport& report, const ConditionVerdict& verdict, Output& out) {
  out.Print("    <failure message=\"{}\">", EscapedXml(FoundText(verdict)));
  const auto details = PrintedText([&](Output& text) -> Result<void> {
    PrintCondition(report, verdict, text);
    return {};
  });
  std::string_view rest = details ? std::string_view(*details) : "";
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    out.Print("{}\n", EscapedXml(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  out.Text("</failure>\n");
}

}  // namespace

void PrintGateJunit(const GateReport& report, Output& out) {
  const Verdict& verdict = report.verdict;
  out.Text("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
  out.Print(
      "<testsuites tests=\"{0}\" failures=\"{1}\" errors=\"0\">\n"
      "<testsuite name=\"jprof gate\" tests=\"{0}\" failures=\"{1}\" errors=\"0\" "
      "skipped=\"0\">\n",
      verdict.conditions.size(), verdict.violated);
  for (const ConditionVerdict& one : verdict.conditions) {
    out.Print("  <testcase classname=\"jprof.gate\" name=\"{}\">\n",
              EscapedXml(one.condition.text));
    if (one.violated) PrintJunitFailure(report, one, out);
    out.Print("    <system-out>{}</system-out>\n  </testcase>\n", EscapedXml(FoundText(one)));
  }
  out.Text("  <system-out>");
  for (const GateKeptOut& kept_out : verdict.kept_out) {
    for (const std::string& text : KeptOutTexts(report, kept_out))
      out.Print("kept out: {}\n", EscapedXml(text));
  }
  out.Text("</system-out>\n</testsuite>\n</testsuites>\n");
}

}  // namespace jprof::reports
