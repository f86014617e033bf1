#include "model/lines/line_sums.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "model/tree/site_place.h"

namespace jprof::model {

uint32_t LineSums::MethodAt(std::string_view name) {
  const auto [known, is_new] =
      by_name_.try_emplace(std::string(name), static_cast<uint32_t>(methods_.size()));
  if (is_new) methods_.emplace_back().name = name;
  return known->second;
}

LineSum& LineSums::LineAt(uint32_t method, uint32_t line) {
  std::vector<LineSum>& lines = methods_[method].lines;
  const auto [known, is_new] =
      by_line_.try_emplace(uint64_t{method} << 32 | line, static_cast<uint32_t>(lines.size()));
  if (is_new) lines.emplace_back().line = line;
  return lines[known->second];
}

// Adds one forest.
class LineSums::Adder {
 public:
  Adder(LineSums& sums, Forest& forest, bool with_calls, bool with_values)
      : sums_(sums),
        forest_(forest),
        rows_(forest.rows.rows),
        with_calls_(with_calls),
        with_values_(with_values && forest.metric_count() > 0),
        method_of_(forest.names.size(), kNoNode) {
    if (with_values_) all_ = Cumulative(forest.rows, 0);
    own_sites_.resize(rows_.size());
    for (size_t i = 0; i < forest.rows.sites.size(); ++i)
      own_sites_[forest.rows.sites[i].row].push_back(i);
  }

  // Visits the rows depth first. What is below a method or a line that is already on the path has
  // been added to it.
  void Add() {
    const auto enter = [&](NodeIndex at) {
      if (rows_[at].parent != kNoNode) Enter(at);
      return true;
    };
    const auto leave = [&](NodeIndex at) {
      if (rows_[at].parent != kNoNode) Leave(at);
    };
    for (const NodeIndex root : forest_.rows.roots) VisitNodes(rows_, root, enter, leave);
  }

 private:
  bool IsMethod(NodeIndex row) const { return rows_[row].parent != kNoNode; }

  uint32_t MethodOf(NodeIndex row) {
    const profile::MethodId id = rows_[row].method;
    if (IndexOf(id) >= method_of_.size()) return sums_.MethodAt(forest_.names.Of(id));
    uint32_t& method = method_of_[IndexOf(id)];
    if (method == kNoNode) method = sums_.MethodAt(forest_.names.Of(id));
    return method;
  }

  // Returns the place of a site, whose name is read once.
  const SitePlace& PlaceAt(profile::MethodId site) {
    const auto [known, is_new] = places_.try_emplace(IndexOf(site));
    if (is_new) known->second = PlaceOfSite(forest_.names.Parts(site));
    return known->second;
  }

  // Returns the number of a method's line, which counts how often it is on the path.
  uint64_t LineKey(uint32_t method, profile::MethodId site) {
    const SitePlace& place = PlaceAt(site);
    if (sums_.methods_[method].file.empty()) sums_.methods_[method].file = place.file;
    return uint64_t{method} << 32 | place.line;
  }
  LineSum& LineOf(uint64_t key) {
    return sums_.LineAt(static_cast<uint32_t>(key >> 32), static_cast<uint32_t>(key));
  }

  void Enter(NodeIndex at) {
    const Row& row = rows_[at];
    if (IsMethod(row.parent)) AddCall(at);
    const uint32_t method = MethodOf(at);
    MethodLines& sum = sums_.methods_[method];
    if (with_calls_) sum.calls += row.calls;
    const bool is_inner = on_path_[uint64_t{method} << 32 | kWholeMethod]++ > 0;
    if (sum.letter == '?' || with_values_)
      sum.letter = forest_.names.LetterOf(row.method, row.type, false);
    if (!with_values_) return;
    sum.own += forest_.rows.cell(at, 0).base();
    if (!is_inner) sum.all += all_[at];
    for (const size_t i : own_sites_[at]) {
      const SiteValues& values = forest_.rows.sites[i];
      const uint64_t key = LineKey(method, values.site);
      const auto value = static_cast<double>(values.raw[0]);
      LineSum& line = LineOf(key);
      line.own += value;
      if (on_path_[key] == 0) line.all += value;
    }
  }

  // Adds a row to the line of its caller that calls it.
  void AddCall(NodeIndex at) {
    const Row& row = rows_[at];
    const uint32_t caller = MethodOf(row.parent);
    const uint64_t key = LineKey(caller, row.site);
    LineSum& line = LineOf(key);
    const bool is_inner = on_path_[key]++ > 0;
    if (with_values_ && !is_inner) line.all += all_[at];
    const SitePlace& place = PlaceAt(row.site);
    const std::string_view callee = forest_.names.Of(row.method);
    auto call = std::ranges::find_if(line.called, [&](const CallAtLine& one) {
      return one.bytecode == place.bytecode && one.callee == callee;
    });
    if (call == line.called.end()) {
      line.called.push_back({.bytecode = place.bytecode, .callee = std::string(callee)});
      call = line.called.end() - 1;
    }
    const bool is_inner_call = calls_on_path_[CallKey(at)]++ > 0;
    if (call->letter == '?' || with_values_)
      call->letter = forest_.names.LetterOf(row.method, row.type, false);
    if (with_calls_) {
      line.calls += row.calls;
      call->calls += row.calls;
    }
    if (with_values_ && !is_inner_call) call->all += all_[at];
  }

  // Identifies the calls of one method at one bytecode: the caller, the site, and the callee.
  std::array<uint32_t, 3> CallKey(NodeIndex at) {
    return {MethodOf(rows_[at].parent), IndexOf(rows_[at].site), MethodOf(at)};
  }

  void Leave(NodeIndex at) {
    const Row& row = rows_[at];
    --on_path_[uint64_t{MethodOf(at)} << 32 | kWholeMethod];
    if (!IsMethod(row.parent)) return;
    --on_path_[LineKey(MethodOf(row.parent), row.site)];
    --calls_on_path_[CallKey(at)];
  }

  static constexpr uint32_t kWholeMethod = 0xffffffff;  // in place of a line

  LineSums& sums_;
  Forest& forest_;
  const std::vector<Row>& rows_;
  const bool with_calls_, with_values_;
  std::vector<double> all_;
  std::vector<std::vector<size_t>> own_sites_;      // of each row: places in Rows::sites
  std::vector<uint32_t> method_of_;                 // by id
  std::unordered_map<uint32_t, SitePlace> places_;  // by id of the site
  std::unordered_map<uint64_t, uint32_t> on_path_;
  std::map<std::array<uint32_t, 3>, uint32_t> calls_on_path_;
};

void LineSums::Add(Forest& forest, bool with_calls, bool with_values) {
  Adder(*this, forest, with_calls, with_values).Add();
  if (with_values && forest.metric_count() > 0) whole_ += forest.metrics[0].base();
}

std::vector<MethodLines> LineSums::Take() {
  by_name_.clear();
  by_line_.clear();
  for (MethodLines& method : methods_) {
    std::ranges::sort(method.lines, {}, &LineSum::line);
    for (LineSum& line : method.lines) {
      std::ranges::stable_sort(line.called, [](const CallAtLine& a, const CallAtLine& b) {
        return std::tuple(a.bytecode, b.all, b.calls) < std::tuple(b.bytecode, a.all, a.calls);
      });
    }
  }
  std::ranges::stable_sort(methods_, [](const MethodLines& a, const MethodLines& b) {
    return std::tuple(a.own, a.all, a.calls) > std::tuple(b.own, b.all, b.calls);
  });
  return std::move(methods_);
}

}  // namespace jprof::model
