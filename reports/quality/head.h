// Prints the head of a text report: at most eight lines, or nine where they are narrow, about what
// was profiled, what it measured, and how far the numbers can be trusted.
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
  size_t width = 0;            // of a line, in cells; 0 for any
};

// Prints the title, the lines and the quality. Where there are too many lines, it names fewer
// facts, shortens long texts, and leaves out the last lines. Texts need not be printable. The
// command that explains the quality is in one piece, however long it is.
void PrintHead(const Head& head, const Quality& quality, Output& out);

// Prints one more line, divided where it is wider than `width`.
void PrintHeadRow(const HeadRow& row, size_t width, Output& out);

// Returns the texts that are not empty, with a separator between them.
std::string Joined(std::initializer_list<std::string> texts, std::string_view separator);

// Prints only the quality, as the head does.
void PrintQuality(const Head& head, const Quality& quality, Output& out);

// Returns a command for the head, without the arguments that load the agent, shortened.
std::string HeadCommand(const std::vector<std::string>& command);

}  // namespace jprof::reports
