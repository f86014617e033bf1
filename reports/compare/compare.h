// Compares the flat profile with the calling contexts, and two profiles with each other, and shows
// what sampling leaves uncertain (docs/REPORTS.md). flat.cc and compare.cc compute the numbers;
// compare_text.cc, compare_json.cc and compare_html.cc print them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/tree/joint_tree.h"
#include "model/tree/readable_name.h"
#include "model/tree/source.h"
#include "model/values/statistics.h"
#include "reports/compare/call_times.h"
#include "reports/compare/side.h"
#include "reports/print/output.h"

namespace jprof::reports {

struct CompareOptions {
  std::string metric;     // NAME, or NAME,NAME of A and of B; empty for the first (common) one
  size_t top = 10;        // rows of each list
  bool absolute = false;  // values, not shares of all that was in methods
  model::NameForm names = model::NameForm::kFull;  // of text
  size_t width = 0;                                // of text, in cells; 0 for any
};

// One calling context of a method of the flat profile.
struct Part {
  model::NodeIndex context = 0;
  model::Estimate share;  // of the method's own
};
struct HotMethod {
  uint32_t name = 0;
  model::Estimate self, all;  // shares of the whole
  std::vector<Part> parts;    // greatest first
  size_t other_parts = 0;     // that are not listed
  double other_share = 0;
};

struct FlatAndContext {
  Side side;
  model::JointTree tree;
  std::vector<HotMethod> by_self;  // with parts by what was in the method itself
  std::vector<HotMethod> by_all;   // with parts by the cost with all it called
  std::vector<HotMethod> hidden;   // small flat, large with what they called; without parts
};
Result<FlatAndContext> CompareWithin(model::Source& source, const CompareOptions& options);

struct Difference {
  model::Estimate a, b;
  model::Estimate change;  // b - a
  bool within = false;     // it cannot be distinguished from 0
};

struct Ranked {
  uint32_t id = 0;  // a context or a name
  bool within = false;
  double change = 0;
};

struct TopTen {
  size_t size = 0;  // contexts in each list, ten or all of the smaller profile
  size_t both = 0;  // in both lists
  size_t either = 0;
  double rank_a = 0, rank_b = 0,
         rank_either = 0;  // rank correlation over A's, B's and both lists; NaN if too few
};

struct Comparison {
  std::array<Side, 2> sides;
  model::JointTree tree;
  bool absolute = false;
  std::vector<Ranked>
      contexts;  // those where either spent something itself, surest and greatest differences first
  std::vector<Ranked> methods;
  size_t contexts_beyond = 0;  // of which so many differ by more than the error
  size_t methods_beyond = 0;
  TopTen top;
  CallChanges calls;  // empty unless both have times of single calls

  Difference Of(const std::array<model::Amount, 2>& amounts) const;
};
// Fails if nothing was measured, if there is no such metric, if the profiles have no method in
// common, or if their units cannot be compared.
Result<Comparison> CompareTwo(model::Source& a, model::Source& b, const CompareOptions& options);

// Returns the facts of both profiles, and what of each could not be compared.
Quality QualityOfBoth(const Comparison& comparison);

// Returns "leaf < caller < caller x3 < ... (7 more)", with names in this form.
std::string PathText(const model::JointTree& tree, model::NodeIndex context, size_t callers,
                     model::NameForm form = model::NameForm::kJvm);

void PrintText(const FlatAndContext& flat, const CompareOptions& options, Output& out);
void PrintText(const Comparison& comparison, const CompareOptions& options, Output& out);
void PrintJson(const FlatAndContext& flat, const CompareOptions& options, Output& out);
void PrintJson(const Comparison& comparison, const CompareOptions& options, Output& out);
void PrintHtml(const FlatAndContext& flat, const CompareOptions& options, Output& out);
void PrintHtml(const Comparison& comparison, const CompareOptions& options, Output& out);

}  // namespace jprof::reports
