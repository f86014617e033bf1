// Finds the facts of one kind of input by a table that has one row for each fact. To add a fact,
// add a row.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/shell_word.h"
#include "reports/quality/quality.h"

namespace jprof::reports {

// Holds what a row found: the parts of a fact that depend on the input.
struct Finding {
  double value = 0;
  Severity severity = Severity::kInfo;
  std::string text;
  std::string detail = {};
};
using Findings = std::vector<Finding>;  // empty if there is no such fact

template <typename Subject>
struct FactRow {
  std::string_view name;
  Findings (*find)(const Subject& subject);
  std::string_view means;
  std::string_view advice = {};  // left out of statements; PROFILE is replaced by the directory
};

// Returns the text with the directory, as a word of a shell, in place of each PROFILE.
inline std::string WithDirectory(std::string_view text, std::string_view directory) {
  constexpr std::string_view kPlace = "PROFILE";
  std::string result(text);
  const std::string word = ShellWord(directory);
  for (size_t at = result.find(kPlace); at != std::string::npos;
       at = result.find(kPlace, at + word.size()))
    result.replace(at, kPlace.size(), word);
  return result;
}

template <typename Subject>
void AddFacts(std::span<const FactRow<Subject>> rows, const Subject& subject,
              std::string_view directory, Quality& quality) {
  std::vector<Fact> facts;
  for (const FactRow<Subject>& row : rows) {
    for (Finding& finding : row.find(subject)) {
      const bool is_statement = finding.severity == Severity::kInfo;
      facts.push_back({row.name, finding.value, finding.severity, std::move(finding.text),
                       std::move(finding.detail), row.means,
                       is_statement ? "" : WithDirectory(row.advice, directory)});
    }
  }
  quality.Add(std::move(facts));
}

}  // namespace jprof::reports
