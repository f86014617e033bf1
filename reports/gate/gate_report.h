// Prints the verdict of a gate (docs/GATE.md).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/tree/readable_name.h"
#include "reports/gate/verdict.h"
#include "reports/print/output.h"

namespace jprof::reports {

struct GateReport {
  const GateData& data;
  const Verdict& verdict;
  model::NameForm names = model::NameForm::kFull;
  size_t width = 0;  // of a line of text, in cells; 0 for any
};

using PrintGate = void(const GateReport& report, Output& out);
PrintGate PrintGateText, PrintGateJson, PrintGateJunit, PrintGateMarkdown;

struct GateFormat {
  std::string_view name;
  std::string_view extension;  // of a file that has this format, unless --format is given
  PrintGate* print;
};
inline constexpr GateFormat kGateFormats[] = {{"text", ".txt", PrintGateText},
                                              {"json", ".json", PrintGateJson},
                                              {"junit", ".xml", PrintGateJunit},
                                              {"markdown", ".md", PrintGateMarkdown}};

}  // namespace jprof::reports
