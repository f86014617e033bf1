#include "model/sums/program_rows.h"

#include <algorithm>

namespace jprof::model {
namespace {

constexpr std::string_view kJdkPackages[] = {"java/", "javax/", "jdk/", "sun/", "com/sun/"};
constexpr NodeIndex kNotYetKnown = kNoNode - 1;

}  // namespace

bool IsOfJdk(std::string_view class_name) {
  return std::ranges::any_of(
      kJdkPackages, [&](std::string_view package) { return class_name.starts_with(package); });
}

ProgramRows::ProgramRows(const Forest& forest)
    : forest_(forest), above_(forest.rows.rows.size(), kNotYetKnown) {}

bool ProgramRows::IsOfJdkRow(NodeIndex row) const {
  return IsOfJdk(forest_.names.Parts(forest_.rows.rows[row].method).class_name);
}

NodeIndex ProgramRows::Above(NodeIndex row) {
  if (row == kNoNode) return kNoNode;
  if (above_[row] != kNotYetKnown) return above_[row];
  if (!IsOfJdkRow(row)) return kNoNode;
  std::vector<NodeIndex> path;
  NodeIndex at = row;
  while (at != kNoNode && above_[at] == kNotYetKnown && IsOfJdkRow(at)) {
    path.push_back(at);
    at = forest_.rows.rows[at].parent;
  }
  const bool is_known = at != kNoNode && above_[at] != kNotYetKnown;
  const NodeIndex found = is_known ? above_[at] : at;
  for (const NodeIndex one : path) above_[one] = found;
  return found;
}

}  // namespace jprof::model
