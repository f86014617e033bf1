#include "reports/lines/lines_report.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "common/shell_word.h"
#include "model/lines/load_lines.h"
#include "reports/lines/source_files.h"
#include "reports/print/formats.h"
#include "reports/print/screen.h"
#include "reports/quality/quality_of.h"
#include "reports/tree/header.h"
#include "reports/tree/metric_head.h"
#include "reports/tree/outline.h"

namespace jprof::reports {
namespace {

using model::CallAtLine;
using model::Lines;
using model::LineSum;
using model::MethodLines;

constexpr double kLeastPercent = 1;  // text shows lines and calls with this share, or most calls

// A row: a method, a line of it, or a call at that line.
struct LineRow {
  const MethodLines& method;
  const LineSum* line = nullptr;
  const CallAtLine* call = nullptr;
  std::string_view text = {};  // the source of the line
  std::string& buffer;

  uint64_t calls() const {
    return call != nullptr ? call->calls : line != nullptr ? line->calls : method.calls;
  }
  double all() const {
    return call != nullptr ? call->all : line != nullptr ? line->all : method.all;
  }
};
using LineColumns = Columns<LineRow>;

Result<Lines> LinesOf(model::Input& input, const Options& options) {
  if (auto* const source = std::get_if<model::Source>(&input))
    return model::LoadLines(*source, options);
  if (auto* const combined = std::get_if<model::Combined>(&input))
    return model::LoadLines(*combined, options);
  return WrongUse("{} is {}, which has no source lines", model::ShownNameOf(input),
                  model::NameOf(model::KindOf(input)));
}

// Returns the interval of a number of samples, or nothing for other values.
std::optional<model::Estimate> IntervalOf(const Lines& lines, double samples) {
  if (!lines.metric || !lines.metric->info.is_samples() || lines.metric->info.is_weighted())
    return std::nullopt;
  return model::Poisson(std::max(samples, 0.0));
}

bool IsNamed(const MethodLines& method, const std::string& name) {
  if (name.empty()) return true;
  using enum model::NameForm;
  return std::ranges::any_of(
      std::initializer_list<model::NameForm>{kFull, kShort, kJvm},
      [&](model::NameForm form) { return model::MethodIn(form, method.name).contains(name); });
}

// Keeps the methods to print. Fails if there are none.
Result<void> Select(Lines& lines, const Options& options) {
  const std::string& directory = lines.source->reader.shown();
  const std::string damage = model::DamageOf(*lines.source);
  if (lines.methods.empty()) {
    if (!damage.empty()) return Fail("{} has no source lines{}", directory, damage);
    return WrongUse("{} has no source lines: were the classes compiled with -g:none?", directory);
  }
  const std::string hottest = model::MethodIn(model::NameForm::kShort, lines.methods[0].name);
  std::erase_if(lines.methods,
                [&](const MethodLines& method) { return !IsNamed(method, options.method); });
  if (!lines.methods.empty()) return {};
  return WrongUse(
      "no method of {} with source lines contains '{}'; the hottest: jprof report "
      "lines {} {}",
      directory, options.method, ShellWord(hottest), ShellWord(directory));
}

Value Shown(const Lines& lines, double raw) {
  return lines.metric ? ShownValue(*lines.metric, raw) : Value::Missing();
}

Value InUnit(const Lines& lines, double raw) {
  return lines.metric ? Value::Number(model::InUnit(*lines.metric, raw)) : Value::Missing();
}

double Percent(const Lines& lines, double part) {
  return lines.whole > 0 ? std::max(0.0, 100 * part / lines.whole) : 0;
}

// Returns the own value, which calls have none of, and lines only where it was sampled.
std::optional<double> OwnOf(const Lines& lines, const LineRow& row) {
  if (row.call != nullptr || !lines.metric) return std::nullopt;
  if (row.line == nullptr) return row.method.own;
  return lines.metric->info.is_samples() ? std::optional(row.line->own) : std::nullopt;
}

std::string ShownName(const LineRow& row, model::NameForm form) {
  if (row.call != nullptr)
    return fmt::format("  -> {}:{}", row.call->letter, model::MethodIn(form, row.call->callee));
  if (row.line != nullptr) return fmt::format("  {}", row.text);
  return fmt::format("{}:{}{}{}", row.method.letter, model::MethodIn(form, row.method.name),
                     row.method.file.empty() ? "" : "  ", row.method.file);
}

LineColumns AllColumns(const Lines& lines, const Options& options) {
  const auto line = [](const LineRow& row) {
    return row.line != nullptr && row.line->line != 0 ? Value::Integer(row.line->line)
                                                      : Value::Missing();
  };
  const auto calls = [](const LineRow& row) { return Value::Integer(row.calls()); };
  LineColumns columns(EntryOf(options.format).view);
  columns.Add(kPeople, {"LINE", 5}, [line](const LineRow& row) {
    return row.line == nullptr || row.call != nullptr ? Value::Text("") : line(row);
  });
  columns.Add(kCsv | kJson, {"method"},
              [](const LineRow& row) { return Value::Text(row.method.name); });
  columns.Add(kCsv | kJson, {"file"}, [](const LineRow& row) {
    return row.method.file.empty() ? Value::Missing() : Value::Text(row.method.file);
  });
  columns.Add(kCsv | kJson, {"line"}, line);
  columns.Add(kCsv | kJson, {"bytecode"}, [](const LineRow& row) {
    return row.call != nullptr && row.line->line != 0 ? Value::Integer(row.call->bytecode)
                                                      : Value::Missing();
  });
  columns.Add(kCsv | kJson, {"callee"}, [](const LineRow& row) {
    return row.call != nullptr ? Value::Text(row.call->callee) : Value::Missing();
  });
  if (lines.has_calls) {
    columns.Add(kPeople, {"CALLS", 9}, calls);
    columns.Add(kCsv | kJson, {"calls"}, calls);
  }
  if (lines.metric) {
    const int width = ShowsDurations(*lines.metric) ? 8 : 9;
    columns.Add(kPeople, {"SAMPLES", width}, [&lines](const LineRow& row) {
      const auto value = OwnOf(lines, row);
      return value ? Shown(lines, *value) : Value::Text("");
    });
    columns.Add(kPeople, {"CUM", width},
                [&lines](const LineRow& row) { return Shown(lines, row.all()); });
    columns.Add(kPeople, {"+-", 6}, [&lines](const LineRow& row) {
      const auto interval = IntervalOf(lines, row.all());
      return interval ? Value::Integer(
                            static_cast<uint64_t>(std::ceil((interval->high - interval->low) / 2)))
                      : Value::Missing();
    });
    columns.Add(kPeople, {"%", 5}, [&lines](const LineRow& row) {
      return Value::Fixed(Percent(lines, row.all()), 1);
    });
    columns.Add(kCsv | kJson, {"self"}, [&lines](const LineRow& row) {
      const auto value = OwnOf(lines, row);
      return value ? InUnit(lines, *value) : Value::Missing();
    });
    columns.Add(kCsv | kJson, {"cumulative"},
                [&lines](const LineRow& row) { return InUnit(lines, row.all()); });
    columns.Add(kCsv | kJson, {"percent"},
                [&lines](const LineRow& row) { return Value::Number(Percent(lines, row.all())); });
  }
  columns.Add(kPeople, {"NAME"}, [form = options.names](const LineRow& row) {
    row.buffer = ShownName(row, form);
    return Value::Text(row.buffer);
  });
  columns.Add(kCsv | kJson, {"source"}, [](const LineRow& row) {
    return row.line == nullptr || row.call != nullptr || row.text.empty() ? Value::Missing()
                                                                          : Value::Text(row.text);
  });
  return columns;
}

// Prints the rows of methods. Text omits what is small, and counts it.
class RowPrinter {
 public:
  // Counts the rows that text omits in `hidden`, before the last call of the writer.
  RowPrinter(const Lines& lines, const Options& options, SourceFiles& sources, TableWriter& writer,
             size_t& hidden)
      : lines_(lines),
        options_(options),
        sources_(sources),
        writer_(writer),
        hidden_(hidden),
        columns_(AllColumns(lines, options)) {}

  void Print() {
    writer_.Begin(columns_.columns());
    for (const MethodLines& method : lines_.methods) {
      if (IsFull()) {
        ++hidden_;
        continue;
      }
      Row({.method = method, .buffer = buffer_});
      for (const LineSum& line : method.lines) PrintLine(method, line);
    }
    writer_.End();
  }

 private:
  void PrintLine(const MethodLines& method, const LineSum& line) {
    if (IsSmall(method, line.all, line.calls)) {
      ++hidden_;
      return;
    }
    const std::string_view text = sources_.Line(method, line.line);
    Row({.method = method, .line = &line, .text = text, .buffer = buffer_});
    for (const CallAtLine& call : line.called) {
      if (IsSmall(method, call.all, call.calls)) {
        ++hidden_;
      } else {
        Row({.method = method, .line = &line, .call = &call, .text = text, .buffer = buffer_});
      }
    }
  }

  // Returns whether text omits a part of a method: it has little of the method's time, and few of
  // its calls.
  bool IsSmall(const MethodLines& method, double all, uint64_t calls) const {
    if (options_.top != 0 && printed_ >= options_.top) return true;
    if (!options_.for_people() || options_.all) return false;
    const double least = options_.min_percent.value_or(kLeastPercent) / 100;
    const bool is_slow = lines_.metric && all > 0 && all >= least * method.all;
    const bool is_called =
        calls > 0 && static_cast<double>(calls) >= least * static_cast<double>(method.calls);
    return !is_slow && !is_called;
  }

  // Returns whether text has no space for more methods. One that was asked for has it.
  bool IsFull() const {
    if (options_.top != 0) return printed_ >= options_.top;
    return options_.for_people() && !options_.all && options_.method.empty() &&
           printed_ >= kScreenRows;
  }

  void Row(const LineRow& row) {
    writer_.Row(columns_.Of(row));
    ++printed_;
  }

  const Lines& lines_;
  const Options& options_;
  SourceFiles& sources_;
  TableWriter& writer_;
  size_t& hidden_;
  LineColumns columns_;
  std::string buffer_;
  size_t printed_ = 0;
};

void TextHead(const Lines& lines, size_t width, Output& out) {
  Head head = ForestHead(*lines.source, *lines.forest, "lines");
  head.width = width;
  PrintHead(head, QualityOf(*lines.source, *lines.forest), out);
  out.Text("\n");
}

}  // namespace

Result<LoadedLines> LoadedLines::Load(model::Input& input, const Options& options) {
  Result<Lines> lines = LinesOf(input, options);
  if (!lines) return std::unexpected(lines.error());
  if (auto selected = Select(*lines, options); !selected) return std::unexpected(selected.error());
  return LoadedLines(*std::move(lines));
}

void LoadedLines::Print(const Options& options, Output& out) {
  std::vector<std::string> path = options.source_path;
  if (options.usual_sources)
    std::ranges::move(UsualSourcePath(lines_.source->reader.meta()), std::back_inserter(path));
  SourceFiles sources(std::move(path));
  size_t hidden = 0;
  const Layout layout = {
      .head = {.text = [&](Output& text) { TextHead(lines_, options.width, text); },
               .json =
                   [&](JsonWriter& json) {
                     JsonMetrics(*lines_.forest, json);
                     JsonLosses(*lines_.source, QualityOf(*lines_.source, *lines_.forest), json);
                     JsonRun(*lines_.source, "lines", json);
                   }},
      .tail = {.text =
                   [&](Output& text) {
                     text.Text(options.top == 0 ? MoreText(hidden, "row")
                               : hidden == 0    ? ""
                                                : fmt::format("\n{} more rows\n", hidden));
                   },
               .json = [&](JsonWriter& json) { json.Member("left_out", hidden); }},
      .rows = "lines",
      .width = options.width,
      .legend = options.legend};
  const auto writer = EntryOf(options.format).make(layout, out);
  RowPrinter(lines_, options, sources, *writer, hidden).Print();
  RemarkLosses(*lines_.source, options.format, out);
}

Result<void> PrintLines(model::Input& input, const Options& options, Output& out) {
  Result<LoadedLines> lines = LoadedLines::Load(input, options);
  if (!lines) return std::unexpected(lines.error());
  lines->Print(options, out);
  return {};
}

}  // namespace jprof::reports
