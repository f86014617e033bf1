#include "cli/gate/gate.h"

#include <fcntl.h>

#include <memory>

#include "cli/shared/output_file.h"
#include "cli/shared/usage_error.h"
#include "common/errno_text.h"
#include "common/fd.h"
#include "common/write_all.h"
#include "options/filter.h"
#include "record/run/status_line.h"

namespace jprof::cli {
namespace {

Result<std::string> Printed(reports::PrintGate* print, const reports::GateReport& report) {
  return reports::PrintedText([&](reports::Output& out) -> Result<void> {
    print(report, out);
    return {};
  });
}

Result<void> WriteFile(const std::string& path, reports::PrintGate* print,
                       const reports::GateReport& report) {
  return WriteOutputFile(path, [&](const std::string& file_path) {
    return PrintToNewFile(file_path, [&](std::FILE* file) {
      reports::Output out(file);
      print(report, out);
      return out.Finish();
    });
  });
}

// Parses a pattern of --methods.
Result<reports::MethodFilter> ParseMethods(std::string_view pattern) {
  auto filter = options::ParseFilter(pattern, options::Names::kMethods);
  if (!filter) return std::unexpected(filter.error());
  return [filter = *std::move(filter)](std::string_view class_name, std::string_view name) {
    return filter.AcceptsMethod(class_name, name);
  };
}

// Adds the summary to the file, which other steps of a job may have begun.
Result<void> AppendSummary(const std::string& path, const reports::GateReport& report) {
  const auto text = Printed(reports::PrintGateMarkdown, report);
  if (!text) return std::unexpected(text.error());
  const Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!file)
    return WrongUse("cannot write {}: {}; choose another file with --summary", path, ErrnoText());
  if (const int error = WriteAll(file.get(), *text))
    return Fail("cannot write {}: {}", path, ErrnoText(error));
  return {};
}

Result<void> Print(const reports::GateReport& report, const GateView& view) {
  if (!view.out.empty()) return WriteFile(view.out, view.print, report);
  reports::Output out(view.stream, reports::ShowsColour(view.stream));
  view.print(report, out);
  return out.Finish();
}

}  // namespace

Result<std::vector<reports::Condition>> GateChoice::Conditions() const {
  std::vector<reports::Condition> conditions;
  for (const std::string& text :
       fail_if.empty() ? std::vector<std::string>{kDefaultCondition} : fail_if) {
    auto condition = reports::ParseCondition(text, ParseMethods);
    if (!condition) return std::unexpected(condition.error());
    conditions.push_back(*std::move(condition));
  }
  return conditions;
}

void AddGateOptions(CommandLine line, GateChoice& choice) {
  line.Option("--fail-if", choice.fail_if, "CONDITION",
              "Exit with 1 if this holds: 'calls > 0%', 'time > 3%', 'calls of com.acme.*.find > "
              "+10', 'calls of each com.acme.* > 5%'; may be repeated (docs/GATE.md)")
      .Repeatable();
  line.Option("--junit", choice.junit, "FILE",
              "Write the verdict to this file, too, as a JUnit report with a test per condition");
  line.Option("--summary", choice.summary, "FILE",
              "Append the verdict to this file, too, as Markdown: \"$GITHUB_STEP_SUMMARY\"");
}

Result<int> CompareByConditions(model::Input& base, model::Input& now,
                                const std::vector<reports::Condition>& conditions,
                                const GateChoice& choice, const GateView& view) {
  record::StatusLine line;
  const auto data = reports::LoadGate(base, now, [&](size_t done, size_t runs) {
    line.Show(fmt::format("comparing: {} of {} runs", done, runs));
  });
  line.End();
  if (!data) return std::unexpected(data.error());
  const auto verdict = reports::Judge(*data, conditions, view.top);
  if (!verdict) return std::unexpected(verdict.error());
  const reports::GateReport report = {*data, *verdict, view.names, view.width};
  if (!choice.junit.empty()) {
    if (auto written = WriteFile(choice.junit, reports::PrintGateJunit, report); !written)
      return std::unexpected(written.error());
  }
  if (!choice.summary.empty()) {
    if (auto written = AppendSummary(choice.summary, report); !written)
      return std::unexpected(written.error());
  }
  if (auto printed = Print(report, view); !printed) return std::unexpected(printed.error());
  return verdict->violated > 0 ? 1 : 0;
}

}  // namespace jprof::cli
