// Prints compare as text.
#include <algorithm>
#include <cmath>

#include "reports/compare/compare.h"
#include "reports/print/fit.h"
#include "reports/print/units.h"
#include "reports/quality/head.h"
#include "reports/tree/header.h"

namespace jprof::reports {
namespace {

constexpr size_t kLineCallers = 5;
constexpr size_t kParts = 5;         // contexts of one method
constexpr double kLeastPart = 0.05;  // of the method's own; smaller contexts are among the others

// Returns the name without its signature, which is printed only for the method that the row is
// about.
std::string_view Short(std::string_view name) {
  const size_t at = name.find('(');
  return at == 0 ? name : name.substr(0, at);
}

std::string Samples(const Side& side, const model::Amount& amount) {
  return side.counted ? fmt::format(" ({} samples)", model::Rounded(amount.samples)) : "";
}

std::string SideText(const Side& side) {
  const auto amount = [&](const model::Amount& of) {
    return AmountOf(side, of) + Samples(side, of);
  };
  return fmt::format("{}, {}; {} in methods, {} outside",
                     side.mode.empty() ? "unknown mode" : side.mode, side.how, amount(side.inside),
                     amount(side.outside));
}

std::string Interval(const model::Estimate& share) {
  return fmt::format("[{:.2f}, {:.2f}]", 100 * share.low, 100 * share.high);
}

// Prints the largest contexts only; JSON and HTML have all.
void PrintParts(const model::JointTree& tree, const HotMethod& method,
                const CompareOptions& options, Output& out) {
  size_t shown = 0;
  size_t others = method.other_parts;
  double other_share = method.other_share;
  for (const Part& part : method.parts) {
    const bool shows = shown == 0 || (shown < kParts && part.share.value >= kLeastPart);
    if (!shows) {
      ++others;
      other_share += part.share.value;
      continue;
    }
    ++shown;
    const model::NodeIndex caller = tree.contexts[part.context].parent;
    out.Text(FittedLine(
        fmt::format("        {:6.2f} % of it {:<16} < ", 100 * part.share.value,
                    Interval(part.share)),
        caller == 0 ? "(the thread)" : PathText(tree, caller, kLineCallers, options.names),
        options.width));
  }
  if (others > 0) {
    out.Print("        {:6.2f} % of it in {}\n", 100 * other_share,
              Counted(others, "other context", "other contexts"));
  }
}

void PrintHot(const FlatAndContext& flat, const std::vector<HotMethod>& methods, bool by_self,
              const CompareOptions& options, Output& out) {
  for (const HotMethod& method : methods) {
    const model::Estimate& share = by_self ? method.self : method.all;
    out.Text(FittedLine(fmt::format("{:6.2f} {:<16} {:6.2f} ", 100 * share.value, Interval(share),
                                    100 * (by_self ? method.all : method.self).value),
                        Shortened(model::MethodIn(options.names, flat.tree.names[method.name])),
                        options.width));
    PrintParts(flat.tree, method, options, out);
  }
}

void PrintHeading(std::string_view title, std::string_view columns, Output& out) {
  out.Bold(fmt::format("\n)) {}\n{}\n", title, columns));
}

std::string Rank(double correlation) {
  return std::isnan(correlation) ? "-" : fmt::format("{:.2f}", correlation);
}

std::string AgreementText(const TopTen& top) {
  return fmt::format(
      "{} of each one's top {} contexts are in both; rank correlation (Spearman) {} over the {} of "
      "either, {} over A's, {} over B's",
      top.both, top.size, Rank(top.rank_either), top.either, Rank(top.rank_a), Rank(top.rank_b));
}

std::string DifferencesText(const Comparison& comparison) {
  if (comparison.contexts_beyond + comparison.methods_beyond == 0)
    return "no differences beyond what the samples and the calibration leave open";
  return fmt::format(
      "{} of {} contexts and {} of {} methods by more than their error (95 %: one in twenty would "
      "by chance)",
      comparison.contexts_beyond, comparison.contexts.size(), comparison.methods_beyond,
      comparison.methods.size());
}

// Formats a value in percent, or in the unit of the metric.
std::string Figure(const Comparison& comparison, double value, bool sign = false) {
  if (!comparison.absolute)
    return sign ? fmt::format("{:+.2f}", 100 * value) : fmt::format("{:.2f}", 100 * value);
  return sign ? fmt::format("{:+}", model::Rounded(value))
              : fmt::format("{}", model::Rounded(value));
}

void PrintDifference(const Comparison& comparison, const Difference& difference,
                     std::string_view name, const CompareOptions& options, Output& out) {
  const auto figure = [&](double value, bool sign = false) {
    return Figure(comparison, value, sign);
  };
  const int width = comparison.absolute ? 14 : 7;
  const std::string interval =
      "[" + figure(difference.change.low, true) + ", " + figure(difference.change.high, true) + "]";
  out.Text(
      FittedLine(fmt::format("{} {:>{}} {:<{}} {:>{}} {:>{}} ", difference.within ? '~' : ' ',
                             figure(difference.change.value, true), width, interval, 2 * width + 4,
                             figure(difference.a.value), width, figure(difference.b.value), width),
                 name, options.width));
}

std::string DifferenceColumns(bool absolute, std::string_view name) {
  const int width = absolute ? 14 : 7;
  return fmt::format("  {:>{}} {:<{}} {:>{}} {:>{}} {}", absolute ? "B-A" : "B-A %", width,
                     "[95 % from, to]", 2 * width + 4, absolute ? "A" : "A %", width,
                     absolute ? "B" : "B %", width, name);
}

// Prints a line of CPU time and one of elapsed time for each method or context.
void PrintCallTimes(const std::vector<CallChange>& changes, const auto& name_of,
                    const CompareOptions& options, Output& out) {
  for (size_t i = 0; i < std::min(options.top, changes.size()); ++i) {
    const CallChange& change = changes[i];
    for (const ClockChange& clock : change.clocks) {
      std::string line = fmt::format("{:<7}", clock.clock);
      for (const TimeChange& quantile : clock.quantiles) {
        line += fmt::format(" {:>8} {:>8} {}{:>5}", TimeText(quantile.a), TimeText(quantile.b),
                            quantile.within ? '~' : ' ', RatioText(quantile.ratio.value));
      }
      const bool is_first = &clock == &change.clocks.front();
      out.Text(FittedLine(line + " ",
                          is_first
                              ? name_of(change.id)
                              : fmt::format("({} calls, {})", change.calls[0], change.calls[1]),
                          options.width));
    }
  }
}

void PrintCallTimes(const Comparison& comparison, const CompareOptions& options, Output& out) {
  if (comparison.calls.empty()) return;
  const auto columns = [](std::string_view name) {
    std::string text = fmt::format("{:<7}", "CLOCK");
    for (const char* quantile : {"P50", "P90", "P99"})
      text += fmt::format(" {:>8} {:>8} {:>6}", fmt::format("{}-A", quantile),
                          fmt::format("{}-B", quantile), "B/A");
    return text + " " + std::string(name);
  };
  const model::JointTree& tree = comparison.tree;
  PrintHeading("Single calls of contexts, with all that they called", columns("CONTEXT"), out);
  PrintCallTimes(
      comparison.calls.contexts,
      [&](uint32_t id) { return PathText(tree, id, kLineCallers, options.names); }, options, out);
  PrintHeading("Single calls of methods", columns("NAME"), out);
  PrintCallTimes(
      comparison.calls.methods,
      [&](uint32_t id) {
        return std::string(Shortened(model::MethodIn(options.names, tree.names[id])));
      },
      options, out);
}

}  // namespace

std::string PathText(const model::JointTree& tree, model::NodeIndex context, size_t callers,
                     model::NameForm form) {
  const std::vector<model::NodeIndex> path = tree.PathTo(context);
  std::string text;
  size_t shown = 0;
  for (size_t i = path.size(); i > 0;) {
    const uint32_t name = tree.contexts[path[i - 1]].name;
    size_t same = 0;
    if (shown > callers) return text + fmt::format(" < ... ({} more)", i);
    while (i > 0 && tree.contexts[path[i - 1]].name == name) --i, ++same;
    const std::string one = model::MethodIn(form, tree.names[name]);
    text += text.empty() ? Shortened(one) : " < " + Shortened(Short(one));
    if (same > 1) text += fmt::format(" x{}", same);
    ++shown;
  }
  return text;
}

void PrintText(const FlatAndContext& flat, const CompareOptions& options, Output& out) {
  PrintHead({.report = "compare",
             .of = flat.side.directory + ": flat against contextual",
             .directory = flat.side.directory,
             .lines = {{"profile", SideText(flat.side)}},
             .width = options.width},
            flat.side.quality, out);
  PrintHeading("Hot methods, and the contexts of their own time",
               " SELF% [95 %]           CUM% NAME", out);
  PrintHot(flat, flat.by_self, /*by_self=*/true, options, out);
  PrintHeading("Hot with all they called, and the contexts of that",
               "  CUM% [95 %]          SELF% NAME", out);
  PrintHot(flat, flat.by_all, /*by_self=*/false, options, out);
  PrintHeading("Small flat, large with callees: below a tenth of what they cost in all",
               "  CUM% [95 %]          SELF% NAME", out);
  PrintHot(flat, flat.hidden, /*by_self=*/false, options, out);
  if (flat.hidden.empty()) out.Text("   none\n");
}

void PrintText(const Comparison& comparison, const CompareOptions& options, Output& out) {
  PrintHead({.report = "compare",
             .of = fmt::format("{} (A) and {} (B)", comparison.sides[0].directory,
                               comparison.sides[1].directory),
             .directory = {},
             .lines = {{"A", SideText(comparison.sides[0])},
                       {"B", SideText(comparison.sides[1])},
                       {"differ", DifferencesText(comparison)},
                       {"agree", AgreementText(comparison.top)}},
             .width = options.width},
            QualityOfBoth(comparison), out);
  PrintHeadRow({"values", fmt::format("{}; [95 % from, to] of B-A; ~ within the error",
                                      comparison.absolute ? "in " + comparison.sides[0].unit
                                                          : "shares of all that was in methods")},
               options.width, out);
  PrintHeading("Contexts", DifferenceColumns(comparison.absolute, "CONTEXT"), out);
  const model::JointTree& tree = comparison.tree;
  for (size_t i = 0; i < std::min(options.top, comparison.contexts.size()); ++i) {
    const model::NodeIndex context = comparison.contexts[i].id;
    PrintDifference(comparison, comparison.Of(tree.contexts[context].self),
                    PathText(tree, context, kLineCallers, options.names), options, out);
  }
  PrintHeading("Methods", DifferenceColumns(comparison.absolute, "NAME"), out);
  for (size_t i = 0; i < std::min(options.top, comparison.methods.size()); ++i) {
    const uint32_t name = comparison.methods[i].id;
    PrintDifference(comparison, comparison.Of(tree.methods[name].self),
                    Shortened(model::MethodIn(options.names, tree.names[name])), options, out);
  }
  PrintCallTimes(comparison, options, out);
}

}  // namespace jprof::reports
