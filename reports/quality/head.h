// Prints the head of a text report: at most eight lines about what was profiled, what it measured,
// and how far the numbers can be trusted.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "reports/print/output.h"
#include "reports/quality/quality.h"

namespace jprof::reports {

struct HeadRow {
  std::string label;  // at most nine characters
  std::string text;
};

struct Head {
  std::string_view report;
  std::string of;              // the profile, or both that are compared
  std::string directory;       // for the command that explains the quality; empty for several
  std::vector<HeadRow> lines;  // the most important first; empty texts are left out
};

// Prints the title, the lines and the quality. Leaves out the last lines where there are too many.
// Texts need not be printable.
void PrintHead(const Head& head, const Quality& quality, Output& out);

// Returns the texts that are not empty, with a separator between them.
std::string Joined(std::initializer_list<std::string> texts, std::string_view separator);

// Prints only the quality, as the head does.
void PrintQuality(const Head& head, const Quality& quality, Output& out);

// Returns a command for the head, without the arguments that load the agent, shortened.
std::string HeadCommand(const std::vector<std::string>& command);

}  // namespace jprof::reports
