// States how far the numbers of a profile can be trusted: facts, each with a figure and a severity.
// The head of a report prints the grade and the worst facts, `jprof info --quality` explains all of
// them, and JSON reports and the HTML view contain them (docs/REPORTS.md, "Quality").
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reports/print/json_writer.h"
#include "reports/print/units.h"

namespace jprof::reports {

// The grade of a profile is that of its worst fact.
enum class Severity : uint8_t {
  kInfo,    // a statement: nothing is wrong
  kMinor,   // a few values are less certain or missing; the grade stays good
  kMajor,   // numbers that a reader is likely to use are wrong or missing: fair
  kSevere,  // the profile is damaged, or most of it is missing or uncertain: poor
};

struct Fact {
  std::string_view name;  // as in JSON; several facts may have one name
  double value = 0;       // its figure: a number, a share from 0 to 1, or 1 if it has none
  Severity severity = Severity::kInfo;
  std::string text;        // what it is, with its figure, as a part of a sentence
  std::string detail;      // more about it; may be empty
  std::string_view means;  // what it means for the numbers
  std::string advice;      // what to do about it; may be empty
};

// All texts are printable (CleanText).
struct Quality {
  std::vector<Fact> facts;  // worst first

  Severity worst() const { return facts.empty() ? Severity::kInfo : facts.front().severity; }
  // Adds facts and restores the order.
  void Add(std::vector<Fact> more);
  // Adds the facts about one of several profiles; `label` then precedes their texts ("A: ").
  void AddOf(std::string_view label, const Quality& one);
};

// Texts of facts are divided into lines of at most so many cells, whatever the terminal's width.
inline constexpr size_t kHeadColumns = 110;
// Returns the cells of a line on a terminal of `width`; 0 for any.
inline size_t HeadColumns(size_t width) {
  return width == 0 ? kHeadColumns : std::min(width, kHeadColumns);
}

// Returns "good", "fair" or "poor".
std::string_view GradeOf(Severity worst);

// Returns "info", "minor", "major" or "severe".
std::string_view NameOf(Severity severity);

// Returns the grade and the `most` facts that matter most: "good, but: 3 rows ...; 1 frame ...; and
// 2 more". Facts that are only statements are not in it.
inline constexpr size_t kHeadFacts = 3;
std::string QualityText(const Quality& quality, size_t most = kHeadFacts);

// Writes the members of the object of a fact.
void JsonFact(const Fact& fact, JsonWriter& json);
// Writes the member "quality": an array of {"name","severity","value","text"}.
void JsonQuality(const Quality& quality, JsonWriter& json);

// Returns `minor`, `major` or `severe` where the value reaches the limit of that name, else kInfo.
struct Limits {
  double minor = 1e300, major = 1e300, severe = 1e300;
};
Severity Graded(double value, const Limits& limits);

}  // namespace jprof::reports
