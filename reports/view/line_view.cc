#include "reports/view/line_view.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "profile/files/printable_text.h"
#include "reports/view/head.h"

namespace jprof::reports {
namespace {

using model::CallAtLine;
using model::Lines;
using model::LineSum;
using model::MethodLines;
using nlohmann::json;

constexpr double kLeastShare = 0.001;
constexpr size_t kMostLines = 3000;
constexpr size_t kLongestLine = 200;  // bytes of a line

// Writes the lines with the largest shares, in the order of methods and lines.
class LinesWriter {
 public:
  LinesWriter(const Lines& lines, SourceFiles& sources, ViewNames& names)
      : lines_(lines), sources_(sources), names_(names) {
    for (const MethodLines& method : lines.methods)
      for (const LineSum& line : method.lines) all_calls_ += static_cast<double>(line.calls);
  }

  json Write() {
    json methods = json::array();
    const std::vector<Place> places = ShownLines();
    for (auto place = places.begin(); place != places.end();) {
      const size_t number = place->method;
      const MethodLines& method = lines_.methods[number];
      json shown = json::array();
      for (; place != places.end() && place->method == number; ++place)
        shown.push_back(LineOf(method, method.lines[place->line]));
      const size_t left_out = method.lines.size() - shown.size();
      methods.push_back({{"method", names_.Of(method.name)},
                         {"file", profile::CleanText(method.file)},
                         {"lines", std::move(shown)},
                         {"left_out", left_out}});
    }
    return {{"metric", lines_.metric ? DescribeMetric(*lines_.metric) : json()},
            {"whole", InUnit(lines_.whole)},
            {"has_calls", lines_.has_calls},
            {"methods", std::move(methods)}};
  }

 private:
  struct Place {
    size_t method, line;
    double share;
  };

  std::vector<Place> ShownLines() const {
    std::vector<Place> places;
    for (size_t m = 0; m < lines_.methods.size(); ++m) {
      const std::vector<LineSum>& lines = lines_.methods[m].lines;
      for (size_t i = 0; i < lines.size(); ++i) {
        const double share = ShareOf(lines[i].all, lines[i].calls);
        if (share >= kLeastShare) places.push_back({m, i, share});
      }
    }
    if (places.size() > kMostLines) {
      std::ranges::stable_sort(places, std::greater(), &Place::share);
      places.resize(kMostLines);
      std::ranges::sort(places, {},
                        [](const Place& one) { return std::tuple(one.method, one.line); });
    }
    return places;
  }

  // Returns the share of the whole or of all calls, whichever is larger.
  double ShareOf(double all, uint64_t calls) const {
    const double of_calls = all_calls_ > 0 ? static_cast<double>(calls) / all_calls_ : 0;
    return std::max(lines_.whole > 0 ? all / lines_.whole : 0, of_calls);
  }

  double InUnit(double raw) const { return lines_.metric ? model::InUnit(*lines_.metric, raw) : 0; }

  json LineOf(const MethodLines& method, const LineSum& line) {
    json called = json::array();
    for (const CallAtLine& call : line.called)
      if (ShareOf(call.all, call.calls) >= kLeastShare) called.push_back(CallOf(call));
    return {{"line", line.line},
            {"text", profile::BeginningOf(sources_.Line(method, line.line), kLongestLine)},
            {"calls", line.calls},
            {"own", InUnit(line.own)},
            {"all", InUnit(line.all)},
            {"called", std::move(called)}};
  }

  json CallOf(const CallAtLine& call) {
    return {{"method", names_.Of(call.callee)},
            {"type", std::string(1, call.letter)},
            {"bytecode", call.bytecode},
            {"calls", call.calls},
            {"all", InUnit(call.all)}};
  }

  const Lines& lines_;
  SourceFiles& sources_;
  ViewNames& names_;
  double all_calls_ = 0;  // at all lines
};

// Adds the lines of a profile of any kind. The page does without them if they cannot be read.
template <typename T>
void AddLinesOf(T& profile, ViewNames& names, ViewData& data) {
  if (!model::HasSites(profile)) return;
  const Result<Lines> lines = model::LoadLines(profile, {});
  if (!lines) {
    data.Loss(lines.error().message);
    return;
  }
  if (lines->methods.empty()) return;
  SourceFiles sources(UsualSourcePath(lines->source->reader.meta()));
  data["lines"] = data.AddText(
      DescribeLines(*lines, sources, names).dump(-1, ' ', false, json::error_handler_t::replace));
}

}  // namespace

json DescribeLines(const Lines& lines, SourceFiles& sources, ViewNames& names) {
  return LinesWriter(lines, sources, names).Write();
}

void AddLines(model::Source& source, ViewNames& names, ViewData& data) {
  AddLinesOf(source, names, data);
}

void AddLines(model::Combined& combined, ViewNames& names, ViewData& data) {
  AddLinesOf(combined, names, data);
}

}  // namespace jprof::reports
