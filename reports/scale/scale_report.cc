#include "reports/scale/scale_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "model/tree/run_description.h"
#include "reports/print/units.h"
#include "reports/quality/head.h"
#include "reports/quality/quality_of.h"
#include "reports/scale/scale_columns.h"
#include "reports/tree/outline.h"

namespace jprof::reports {
namespace {

using model::ScaleRow;
using model::ScaleView;

constexpr size_t kCallersInText = 3;
// In text that fits a screen, a method shows at most so many of its contexts, each with at least
// this part of it.
constexpr size_t kContextsInText = 3;
constexpr double kLeastPart = 0.1;

// Returns "n^1.97".
std::string PowerText(double exponent) {
  const std::string digits = fmt::format("{:.2f}", exponent);
  return "n^" + (digits == "-0.00" ? "0.00" : digits);
}

// Returns the callers of a context, the nearest first: "a < b < c".
std::string CallersOf(const ScaleView& view, const ScaleRow& row, model::NameForm form,
                      size_t most) {
  std::string text;
  if (row.context == model::kNoNode) return text;
  for (model::NodeIndex at = view.contexts[row.context].parent; at != 0;
       at = view.contexts[at].parent) {
    if (most-- == 0) return text + " < ...";
    text += text.empty() ? "" : " < ";
    text += model::MethodIn(form, view.names[view.contexts[at].name]);
  }
  return text.empty() ? "(the thread)" : text;
}

ShownScale Shown(const ScaleView& view, const ScaleRow& row, const Options& options) {
  const bool text = options.for_people();
  const model::NameForm form = text ? options.names : model::NameForm::kJvm;
  ShownScale shown = {.row = row,
                      .name = model::MethodIn(form, view.names[row.name]),
                      .callers = CallersOf(view, row, text ? ShortOf(form) : form,
                                           text ? kCallersInText : SIZE_MAX),
                      .law = LawText(row.law),
                      .exponent = {},
                      .arm = {}};
  if (row.time_exponent) {
    shown.exponent = PowerText(row.time_exponent->value);
    shown.arm = fmt::format("{:.2f}", row.time_exponent->high - row.time_exponent->value);
  }
  if (text && row.is_part) {
    shown.name = "  < " + shown.callers;
  } else if (text && !shown.callers.empty()) {
    shown.name += " < " + shown.callers;
  }
  return shown;
}

// Returns the rows that text shows by default.
std::vector<ScaleRow> OnScreen(const std::vector<ScaleRow>& rows) {
  std::vector<ScaleRow> shown;
  const ScaleRow* method = nullptr;
  size_t contexts = 0;
  for (const ScaleRow& row : rows) {
    if (!row.is_part) method = &row, contexts = 0;
    const bool is_small = row.share_farther < kLeastPart * method->share_farther;
    if (row.is_part && (is_small || contexts++ >= kContextsInText)) continue;
    if (shown.size() == kScreenRows) break;
    shown.push_back(row);
  }
  return shown;
}

std::string SizesText(const ScaleView& view) {
  std::vector<std::string> sizes;
  for (const double size : view.sizes) sizes.push_back(fmt::format("{:.0f}", size));
  return fmt::format("{}", fmt::join(sizes, ", "));
}

std::string CallsText(const ScaleView& view) {
  const model::RunSummary &first = view.counted.front(), &last = view.counted.back();
  return fmt::format("{} at n = {:.0f}, {} at n = {:.0f}; {}", first.calls, view.sizes.front(),
                     last.calls, view.sizes.back(), last.how);
}

std::string RunsText(const model::Scale& scale, const ScaleView& view) {
  if (!view.has_times) return "only counted (--runs 0)";
  return fmt::format("counted, and {} for own times",
                     Counted(scale.runs.back().sampled.size(), "sampled run", "sampled runs"));
}

// Returns what will matter most: "Table.find(int): calls ~ n^2.00; 62 % of the time at n = 8000".
std::string GrowsText(const ScaleView& view, const Options& options) {
  const ScaleRow& top = view.rows.front();
  std::string text = fmt::format(
      "{}: calls ~ {}", model::MethodIn(options.names, view.names[top.name]), LawText(top.law));
  if (top.time_exponent) text += ", time ~ " + PowerText(top.time_exponent->value);
  return text +
         fmt::format("; {:.0f} % of the {} at n = {:.0f}, {:.0f} % at {:.0f} if all grows on",
                     100 * top.share, view.has_times ? "time" : "calls", view.sizes.back(),
                     100 * top.share_farther, view.farther());
}

void TextHead(const model::Scale& scale, const ScaleView& view, const Options& options,
              Output& out) {
  PrintHead({.report = "scale",
             .of = scale.directory,
             .directory = scale.directory,
             .lines = {{"command", HeadCommand(scale.meta.command)},
                       {"grows", GrowsText(view, options)},
                       {"sizes", fmt::format("n = {}; {}", SizesText(view), RunsText(scale, view))},
                       {"calls", CallsText(view)}},
             .width = options.width},
            QualityOf(scale), out);
  out.Text("\n");
}

void JsonHead(const model::Scale& scale, const ScaleView& view, JsonWriter& json) {
  json.Member("report", "scale");
  json.Member("directory", scale.directory);
  json.Member("command", model::CommandText(scale.meta.command));
  json.Key("sizes");
  json.StartArray();
  for (const uint64_t size : scale.meta.sizes) json.Value(size);
  json.EndArray();
  json.Member("has_times", view.has_times);
  JsonQuality(QualityOf(scale), json);
}

}  // namespace

std::string LawText(const std::optional<model::Scaling>& law) {
  using enum model::Scaling::Form;
  if (!law) return "-";
  std::string text = "n^0";
  if (law->form == kPower) text = PowerText(law->exponent);
  if (law->form == kLogarithmic) {
    constexpr const char* kLogarithms[] = {"log n", "n log n", "n^2 log n"};
    text = kLogarithms[law->log_power()];
  }
  return law->misfit > kIrregular ? text + "?" : text;
}

Result<void> PrintScale(model::Scale& scale, const Options& options, Output& out) {
  const auto view = model::LoadScale(scale);
  if (!view) return std::unexpected(view.error());
  const std::vector<ScaleRow> rows = options.fits_screen() ? OnScreen(view->rows) : view->rows;
  const Layout layout = {
      .head = {.text = [&](Output& to) { TextHead(scale, *view, options, to); },
               .json = [&](JsonWriter& json) { JsonHead(scale, *view, json); }},
      .tail = {.text =
                   [&](Output& to) { to.Text(MoreText(view->rows.size() - rows.size(), "row")); }},
      .rows = "rows",
      .width = options.width,
      .legend = options.legend};
  if (!EntryOf(options.format).head) {
    for (const std::string& note : scale.meta.notes) out.Remark(note);
  }
  ScaleColumns columns = ColumnsOf(*view, options);
  const auto writer = EntryOf(options.format).make(layout, out);
  writer->Begin(columns.columns());
  for (const ScaleRow& row : rows) {
    const ShownScale shown = Shown(*view, row, options);
    writer->Row(columns.Of(shown));
  }
  writer->End();
  return {};
}

}  // namespace jprof::reports
