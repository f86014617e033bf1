// `jprof heap`: reads a heap dump, or takes one of a running JVM, and prints what holds the memory.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <string>

#include "cli/shared/choices.h"
#include "cli/shared/commands.h"
#include "cli/shared/opened_heap.h"
#include "cli/shared/pager.h"
#include "cli/shared/process_id.h"
#include "cli/shared/profile_source.h"
#include "cli/shared/report_options.h"
#include "cli/shared/usage_error.h"
#include "common/fd.h"
#include "common/nearest.h"
#include "common/procfs.h"
#include "common/shell_word.h"
#include "heap/analysis/names.h"
#include "profile/files/printable_text.h"
#include "record/attach/heap_dump.h"
#include "record/run/interruption.h"
#include "reports/heap/allocation_table.h"
#include "reports/heap/heap_report.h"

namespace jprof::cli {
namespace {

struct HeapArguments {
  std::optional<CommandLine> line;
  std::string file, second, pid, out, report, path_to, profile, only;
  std::string format = "text";
  bool all = false;
  TextChoice text;
  reports::HeapOptions options;
};

// Has the JVM write its heap. Returns the file, which has no name, or nothing if -o names one.
Result<Fd> DumpOf(const record::AttachTarget& target, const HeapArguments& arguments) {
  const record::Interruption guard;
  record::HeapDumpFile file(target);
  if (auto written = file.Write(arguments.all); !written) return std::unexpected(written.error());
  if (arguments.out.empty()) return file.OpenUnnamed();
  if (auto kept = file.Keep(arguments.out); !kept) return std::unexpected(kept.error());
  return Fd();
}

// Reads the heap of a JVM, which is kept only if -o names a file.
Result<std::unique_ptr<OpenedHeap>> OpenHeapOf(const HeapArguments& arguments,
                                               record::StatusLine& line) {
  const auto pid = ParsePid(arguments.pid, "jprof ps");
  if (!pid) return std::unexpected(pid.error());
  const auto target = record::FindTarget(*pid);
  if (!target) return std::unexpected(target.error());
  if (!arguments.out.empty()) {
    if (auto good = record::CheckPlace(arguments.out); !good) return std::unexpected(good.error());
  }
  ShowStep(fmt::format("process {} writes its heap", *pid), 0, line);
  const auto dump = DumpOf(*target, arguments);
  if (!dump) return std::unexpected(dump.error());
  if (record::Interruption::Number() != 0) return Fail("interrupted before the dump was read");
  const bool keep_references = !arguments.path_to.empty();
  if (!*dump) return OpenHeap(arguments.out, keep_references, line);
  auto opened = OpenHeap(procfs::DescriptorPath(dump->get()), keep_references, line);
  if (opened) (*opened)->heap.path = fmt::format("process {}", *pid);
  return opened;
}

Result<const reports::HeapReport*> ChooseHeapReport(const std::string& name) {
  std::vector<std::string_view> names;
  for (const reports::HeapReport& report : reports::HeapReports()) names.push_back(report.name);
  const Result<size_t> chosen = Choose("--report", name, names);
  if (!chosen) return std::unexpected(chosen.error());
  return &reports::HeapReports()[*chosen];
}

// Returns the report that is named, or null for the summary, which only text of one dump has.
Result<const reports::HeapReport*> HeapReportFor(const HeapArguments& arguments) {
  const bool is_text = arguments.options.format == reports::Format::kText;
  if (arguments.report.empty() && is_text && arguments.second.empty()) return nullptr;
  const auto report = ChooseHeapReport(arguments.report.empty() ? "histogram" : arguments.report);
  if (!report || arguments.second.empty() || (*report)->print_change != nullptr) return report;
  return WrongUse("{} is of one dump; two are compared by histogram, loaders or packages",
                  arguments.report);
}

// Returns the node with the id "0x...". Fails if there is none.
Result<uint32_t> NodeWithId(const heap::Heap& heap, const std::string& text) {
  uint64_t id = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + 2, end, id, 16);
  const uint32_t node = error == std::errc() && rest == end ? heap.NodeOf(id) : heap::kNone;
  if (node == heap::kNone) return WrongUse("no object in {} has the id {}", heap.path, text);
  return node;
}

// Returns which nodes are objects of the class. Fails if there is no such class or object.
Result<std::vector<bool>> NodesOfClass(const heap::Heap& heap, const std::string& name) {
  std::string dotted = name;
  std::ranges::replace(dotted, '/', '.');
  std::vector<std::string> names;
  for (const heap::HeapClass& one : heap.classes) names.push_back(heap::SourceName(one.name));
  if (std::ranges::find(names, dotted) == names.end()) {
    const std::vector<std::string_view> choices(names.begin(), names.end());
    const auto nearest = Nearest(dotted, choices);
    return WrongUse("no class in {} is called {}{}", heap.path, name,
                    nearest ? fmt::format("; did you mean {}?", *nearest) : "");
  }
  std::vector<bool> nodes(heap.nodes());
  bool found = false;
  for (uint32_t node = heap::kPrimitiveTypes; node < heap.nodes(); ++node) {
    nodes[node] =
        heap.IsClass(node) ? dotted == "java.lang.Class" : names[heap.ClassOf(node)] == dotted;
    found = found || nodes[node];
  }
  if (!found) return WrongUse("{} has no object of class {}", heap.path, name);
  return nodes;
}

// Returns which nodes --path-to names. Fails if there are none.
Result<std::vector<bool>> NamedNodes(const heap::Heap& heap, const std::string& name) {
  if (!name.starts_with("0x")) return NodesOfClass(heap, name);
  const auto node = NodeWithId(heap, name);
  if (!node) return std::unexpected(node.error());
  std::vector<bool> nodes(heap.nodes());
  nodes[*node] = true;
  return nodes;
}

using PrintHeap = std::function<Result<void>(reports::Output&)>;

Result<void> PrintHeapPaged(const HeapArguments& arguments, const PrintHeap& print) {
  Pager pager(arguments.options.format == reports::Format::kText && !arguments.text.no_pager);
  reports::Output out([&pager] { return pager.file(); }, reports::ShowsColour(stdout));
  auto printed = print(out);
  return printed ? out.Finish() : printed;
}

// Prints where the profile that --profile names has seen the objects of the heap allocated.
Result<void> PrintHeapAllocations(const HeapArguments& arguments, const reports::HeapView& view,
                                  reports::Output& out) {
  auto source = OpenProfile(arguments.profile, {.uncalibrated = true});
  if (!source) return std::unexpected(source.error());
  auto forest = model::LoadForest(*source, {});
  if (!forest) return std::unexpected(forest.error());
  std::string only = arguments.only;
  std::ranges::replace(only, '/', '.');
  return PrintAllocations(view, *forest, only, arguments.options, out);
}

Result<void> PrintOneHeap(const HeapArguments& arguments, const reports::HeapReport* report,
                          const OpenedHeap& opened, record::StatusLine& line) {
  reports::HeapView view = opened.View();
  view.progress = [&line](double share) { ShowStep("reading contents", share, line); };
  std::vector<bool> nodes;
  if (!arguments.path_to.empty()) {
    auto named = NamedNodes(opened.heap, arguments.path_to);
    if (!named) return std::unexpected(named.error());
    nodes = *std::move(named);
  }
  return PrintHeapPaged(arguments, [&](reports::Output& out) -> Result<void> {
    line.End();
    if (!arguments.profile.empty()) return PrintHeapAllocations(arguments, view, out);
    if (!nodes.empty())
      return PrintHeapPath(view, nodes, arguments.path_to, arguments.options, out);
    report != nullptr ? report->print(view, arguments.options, out)
                      : PrintHeapSummary(view, arguments.options, out);
    if (report == nullptr && arguments.pid.empty() && view.heap.tree.reachable != 0) {
      out.Print("next      jprof view {}: a map and the tree of what holds the memory\n",
                ShellWord(profile::CleanText(arguments.file)));
    }
    line.End();
    return {};
  });
}

Result<void> CheckHeapArguments(const HeapArguments& arguments) {
  const bool has_file = !arguments.file.empty(), has_pid = !arguments.pid.empty();
  if (has_file == has_pid)
    return WrongUse("name a heap dump, or a running JVM with --pid; `jprof ps` lists the JVMs");
  for (const auto& [value, option] :
       {std::pair(&arguments.path_to, "--path-to"), std::pair(&arguments.profile, "--profile")}) {
    if (!arguments.second.empty() && !value->empty())
      return WrongUse("{} is of one dump; leave out {}", option, arguments.second);
  }
  return CheckTextOptions(*arguments.line, arguments.format);
}

Result<void> Run(HeapArguments arguments) {
  if (auto good = CheckHeapArguments(arguments); !good) return good;
  const auto format = ChooseFormat(arguments.format, reports::kTableFormats);
  if (!format) return std::unexpected(format.error());
  arguments.options.format = *format;
  const auto names = arguments.text.Form();
  if (!names) return std::unexpected(names.error());
  arguments.options.names = *names;
  arguments.options.width = arguments.text.Width();
  const auto report = HeapReportFor(arguments);
  if (!report) return std::unexpected(report.error());
  record::StatusLine line;
  auto opened = arguments.pid.empty() ? OpenHeap(arguments.file, !arguments.path_to.empty(), line)
                                      : OpenHeapOf(arguments, line);
  if (!opened) return std::unexpected(opened.error());
  if (arguments.second.empty()) return PrintOneHeap(arguments, *report, **opened, line);
  auto second = OpenHeap(arguments.second, /*keep_references=*/false, line);
  if (!second) return std::unexpected(second.error());
  line.End();
  return PrintHeapPaged(arguments, [&](reports::Output& out) -> Result<void> {
    (*report)->print_change((*opened)->View(), (*second)->View(), arguments.options, out);
    return {};
  });
}

std::string HeapReportNames() {
  std::string names;
  for (const reports::HeapReport& report : reports::HeapReports())
    names += fmt::format("{}{}", names.empty() ? "" : "|", report.name);
  return names;
}

std::string HeapFooter() {
  std::string text =
      "Without --report, text shows a screen: totals, the classes and objects that hold most, and "
      "suspects of leaks. RETAINED is what would become garbage without an object or a class "
      "(docs/HEAP.md).\n\nReports:\n";
  for (const reports::HeapReport& report : reports::HeapReports())
    text += fmt::format("  {:<13}{}\n", report.name, report.help);
  return text +
         "\nExamples:\n"
         "  jprof heap app.hprof                           what holds the memory\n"
         "  jprof heap --pid 1234                          of a JVM that runs\n"
         "  jprof heap --pid 1234 -o app.hprof             the same, and keeps the dump\n"
         "  jprof heap app.hprof --path-to app.Session     why an object of this class is alive\n"
         "  jprof heap app.hprof --profile app.jprof       where the objects were allocated\n"
         "  jprof heap app.hprof --report dominators       the largest objects and their parts\n"
         "  jprof heap before.hprof after.hprof            what has grown\n"
         "  jprof view app.hprof                           a map of the heap, in the browser\n"
         "  jprof heap app.hprof --report histogram --format csv    all classes, for programs";
}

}  // namespace

Action HeapCommand(CommandLine line, const Command&) {
  auto arguments = std::make_shared<HeapArguments>();
  arguments->line.emplace(line);
  line.Footer(HeapFooter());
  line.Option("FILE", arguments->file, "FILE",
              "A heap dump in HPROF, also compressed: of jcmd PID GC.heap_dump FILE, or of "
              "-XX:+HeapDumpOnOutOfMemoryError");
  line.Option("FILE2", arguments->second, "FILE", "A later dump, to show what has changed");
  line.Option("--pid", arguments->pid, "PID", "Have this JVM write its heap, and read that")
      .Excludes("FILE");
  line.Option("-o,--out", arguments->out, "FILE", "Keep the dump of --pid in this file")
      .Needs("--pid");
  line.Flag("--all", arguments->all, "Dump garbage, too, without a collection before")
      .Needs("--pid");
  line.Option("--report", arguments->report, HeapReportNames(), "The report (below)");
  line.Option("--path-to", arguments->path_to, "CLASS|0xID",
              "Show a shortest path from a root to an object: with this id, or of this class")
      .Excludes("--report");
  line.Option("--profile", arguments->profile, "PROFILE",
              "Show where the objects of each class were allocated, by a profile of jprof objects")
      .Excludes("--report")
      .Excludes("--path-to");
  line.Option("--class", arguments->only, "CLASS",
              "Show the whole contexts that allocated this class")
      .Needs("--profile");
  line.Option("--top", arguments->options.top, "N", "Show N rows; 0: all");
  line.Option("--depth", arguments->options.depth, "N", "Levels of --report dominators (5)")
      .Between(uint64_t{1}, uint64_t{100});
  line.Option("--format", arguments->format, "text|json|csv|markdown",
              "text (default), or for programs");
  line.Flag("--legend", arguments->options.legends, "Explain the columns below the table");
  AddTextOptions(line, arguments->text);
  return [arguments] { return StatusOf(Run(*arguments)); };
}

}  // namespace jprof::cli
