#include "cli/shared/view_output.h"

#include <algorithm>

#include "cli/shared/opened_heap.h"
#include "cli/shared/page_output.h"
#include "common/shell_word.h"
#include "reports/report_list.h"
#include "reports/view/heap_view.h"
#include "reports/view/view.h"

namespace jprof::cli {
namespace {

namespace fs = std::filesystem;

// Fails for an output in the directory of a profile, where it could replace one of its files.
Result<void> CheckOutside(const std::vector<std::string>& named, const std::string& out) {
  std::error_code error;
  const fs::path folder = fs::weakly_canonical(fs::absolute(out), error).parent_path();
  for (const std::string& profile : named) {
    if (fs::equivalent(folder, profile, error))
      return WrongUse("{} is inside the profile {}; choose another file with -o", out, profile);
  }
  return {};
}

// Returns whether it is a file: profiles are directories, and heap dumps are not.
bool IsFile(const std::string& named) {
  std::error_code error;
  return fs::is_regular_file(named, error);
}

Result<void> WriteOne(const std::string& named, const TableChoice& table, const std::string& out) {
  auto input = OpenNamed(named, table);
  if (!input) return std::unexpected(input.error());
  return WritePage(out, [&](reports::Output& to) { return PrintView(*input, to); });
}

Result<void> WriteHeap(const std::string& dump, const std::string& out) {
  record::StatusLine line;
  const auto opened = OpenHeap(dump, /*keep_references=*/false, line);
  if (!opened) return std::unexpected(opened.error());
  if ((*opened)->heap.tree.reachable == 0)
    return Fail("{} has no object that is in use: there is nothing to show", dump);
  ShowStep("making the page", 0, line);
  const reports::ViewData data = reports::ViewOf((*opened)->View());
  line.End();
  return WritePage(out, [&](reports::Output& to) { return data.Print(to); });
}

Result<void> WriteTwo(const std::vector<std::string>& named, const TableChoice& table,
                      const std::string& out) {
  auto before = OpenComparable(named[0], table);
  if (!before) return std::unexpected(before.error());
  auto after = OpenComparable(named[1], table);
  if (!after) return std::unexpected(after.error());
  return WritePage(out, [&](reports::Output& to) { return PrintView(*before, *after, to); });
}

}  // namespace

Result<void> WriteView(const std::vector<std::string>& named, const TableChoice& table,
                       const std::string& out) {
  if (auto outside = CheckOutside(named, out); !outside) return outside;
  if (std::ranges::any_of(named, IsFile)) {
    if (named.size() == 1) return WriteHeap(named.front(), out);
    return WrongUse(
        "a view of two profiles cannot show a heap dump; compare two dumps with: "
        "jprof heap {} {}",
        ShellWord(named[0]), ShellWord(named[1]));
  }
  if (named.size() > 2) return WrongUse("one profile, or two to compare; not {}", named.size());
  return named.size() == 2 ? WriteTwo(named, table, out) : WriteOne(named.front(), table, out);
}

std::string ViewName(const std::string& profile) {
  fs::path path = fs::path(profile).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  const std::string stem = path.stem();
  return (stem.empty() || stem == "." || stem == ".." ? "profile" : stem) + ".html";
}

}  // namespace jprof::cli
