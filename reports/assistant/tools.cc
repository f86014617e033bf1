#include "reports/assistant/tools.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "common/nearest.h"
#include "profile/files/printable_text.h"
#include "reports/assistant/call_graph.h"
#include "reports/assistant/find_method.h"
#include "reports/assistant/method_answers.h"
#include "reports/compare/compare.h"
#include "reports/lines/lines_report.h"
#include "reports/quality/explain.h"
#include "reports/quality/quality_of.h"

namespace jprof::reports::assistant {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using profile::CleanText;

// Loads the tree of calls of the argument `profile`, with what it was loaded from.
struct Loaded {
  model::Input input;
  CallGraph graph;
};
Result<std::shared_ptr<Loaded>> LoadGraph(const Arguments& arguments, const ProfileDoor& door) {
  auto input = door.open(arguments.Text("profile"));
  if (!input) return std::unexpected(input.error());
  const auto loaded = std::make_shared<Loaded>(Loaded{.input = *std::move(input), .graph = {}});
  auto graph = LoadCallGraph(loaded->input, arguments.Text("metric"));
  if (!graph) return std::unexpected(graph.error());
  loaded->graph = *std::move(graph);
  return loaded;
}

Result<AnswerPrinter> LoadHottest(const Arguments& arguments, const ProfileDoor& door) {
  const auto loaded = LoadGraph(arguments, door);
  if (!loaded) return std::unexpected(loaded.error());
  const CallGraph& graph = (*loaded)->graph;
  if (arguments.Text("by") == "calls" && !graph.has_calls)
    return WrongUse("{} has no counted calls: leave out the argument by", graph.head.of);
  return [loaded = *loaded, by = arguments.Text("by")](size_t limit, Format format, Output& out) {
    PrintHottestMethods(loaded->graph, by, limit, format, out);
    return Result<void>();
  };
}

template <Direction kDirection>
Result<AnswerPrinter> LoadNeighbours(const Arguments& arguments, const ProfileDoor& door) {
  const auto loaded = LoadGraph(arguments, door);
  if (!loaded) return std::unexpected(loaded.error());
  const auto method = FindMethod((*loaded)->graph, arguments.Text("method"));
  if (!method) return std::unexpected(method.error());
  return [loaded = *loaded, method = *method](size_t limit, Format format, Output& out) {
    PrintNeighbours(loaded->graph, method, kDirection, limit, format, out);
    return Result<void>();
  };
}

// The text of sources is not shown: a profile says where they are, and it may lie.
Result<AnswerPrinter> LoadLinesOf(const Arguments& arguments, const ProfileDoor& door) {
  auto opened = door.open(arguments.Text("profile"));
  if (!opened) return std::unexpected(opened.error());
  const auto input = std::make_shared<model::Input>(*std::move(opened));
  Options options;
  options.metric = arguments.Text("metric");
  options.method = arguments.Text("method");
  options.usual_sources = false;
  auto loaded = LoadedLines::Load(*input, options);
  if (!loaded) return std::unexpected(loaded.error());
  return [input, lines = std::make_shared<LoadedLines>(*std::move(loaded)), options](
             size_t limit, Format format, Output& out) mutable {
    options.format = format;
    options.top = static_cast<uint32_t>(limit);
    lines->Print(options, out);
    return Result<void>();
  };
}

Result<AnswerPrinter> LoadComparison(const Arguments& arguments, const ProfileDoor& door) {
  auto base = door.open_comparable(arguments.Text("base"));
  if (!base) return std::unexpected(base.error());
  auto changed = door.open_comparable(arguments.Text("new"));
  if (!changed) return std::unexpected(changed.error());
  CompareOptions options = {.metric = arguments.Text("metric"),
                            .absolute = arguments.Flag("absolute")};
  auto compared = CompareTwo(*base, *changed, options);
  if (!compared) return std::unexpected(compared.error());
  return [comparison = std::make_shared<Comparison>(*std::move(compared)), options](
             size_t limit, Format format, Output& out) mutable {
    options.top = limit;
    format == Format::kJson ? PrintJson(*comparison, options, out)
                            : PrintText(*comparison, options, out);
    return Result<void>();
  };
}

Result<AnswerPrinter> LoadQualityOf(const Arguments& arguments, const ProfileDoor& door) {
  const std::string directory = arguments.Text("profile");
  auto input = door.open(directory);
  auto quality = LoadQuality(input, directory, {});
  if (!quality) return std::unexpected(quality.error());
  return [quality = *std::move(quality),
          of = input ? std::string(model::ShownNameOf(*input)) : directory](
             size_t limit, Format format, Output& out) {
    Quality shown = quality;
    shown.facts.resize(std::min(limit, shown.facts.size()));
    const size_t left_out = quality.facts.size() - shown.facts.size();
    format == Format::kJson ? ExplainJson(of, shown, out) : ExplainText(of, shown, 0, out);
    if (format != Format::kJson && left_out > 0)
      out.Print("{} more facts are left out: argument limit\n", left_out);
    return Result<void>();
  };
}

using Kind = Parameter::Kind;
constexpr Parameter kProfile = {
    "profile", Kind::kProfile, false,
    "The directory that jprof wrote, such as app.jprof, or a URL of a database that the server was "
    "started with (--fleet); if left out, the newest *.jprof in the server's folder"};
constexpr Parameter kMetric = {"metric", Kind::kText, false,
                               "A metric or event of the profile; if left out, its first one"};
constexpr Parameter kLimit = {"limit", Kind::kLimit, false,
                              "The most rows of a list, 1 to 200 (default 20)"};
constexpr Parameter kMethod = {
    "method", Kind::kText, true,
    "The method or function: its name as answers have it, or a part that no other name has, such "
    "as Table.find"};

constexpr Parameter kHottestParameters[] = {
    kProfile,
    kMetric,
    {"by", Kind::kChoice, false,
     "The order: self, a method's own value; cumulative, with all that it calls; calls",
     kHottestBy},
    kLimit};
constexpr Parameter kNeighbourParameters[] = {kMethod, kProfile, kMetric, kLimit};
constexpr Parameter kLinesParameters[] = {
    {"method", Kind::kText, false,
     "A part of the method's name, such as Table.find; if left out, the hottest methods"},
    kProfile,
    kMetric,
    kLimit};
constexpr Parameter kCompareParameters[] = {
    {"base", Kind::kProfile, true, "The directory of the profile before the change"},
    {"new", Kind::kProfile, true, "The directory of the profile after it"},
    {"metric", Kind::kText, false,
     "The metric or event to compare; NAME,NAME: that of base and that of new"},
    {"absolute", Kind::kFlag, false, "Compare values, not shares of the whole (default false)"},
    kLimit};
constexpr Parameter kQualityParameters[] = {kProfile, kLimit};

constexpr Tool kTools[] = {
    {"hottest", "Hottest methods",
     "Lists the methods of a jprof profile with the largest values: SELF is what a method takes "
     "itself, CUM with all that it calls, +- half of the 95 % interval (JSON: low and high), "
     "CALLS the exact number of calls where they were counted, CUM/CALL what one call takes. "
     "Times of combined profiles are means of a run. `~`: few samples, estimated from calls. `<`: "
     "not measured more exactly than below this value.",
     kHottestParameters, LoadHottest},
    {"callers", "Callers of a method",
     "Lists who calls a method, and what of its value and of its calls each caller causes. The "
     "first row is the method itself; the columns are those of the tool hottest.",
     kNeighbourParameters, LoadNeighbours<Direction::kCallers>},
    {"callees", "Callees of a method",
     "Lists what a method calls, and what each takes there: its value and its calls in this "
     "method. The first row is the method itself; the columns are those of the tool hottest.",
     kNeighbourParameters, LoadNeighbours<Direction::kCallees>},
    {"lines", "Source lines of a method",
     "Lists the source lines of a method: SAMPLES taken at the line itself, CUM with all that is "
     "called there, and the methods that are called there (->) with their exact calls, where the "
     "profile has these (jprof calltree --call-sites).",
     kLinesParameters, LoadLinesOf},
    {"compare", "Compare two profiles",
     "Shows which calling contexts and methods became slower or faster between two profiles, each "
     "with its 95 % interval and whether the change is within the error, that is, noise.",
     kCompareParameters, LoadComparison},
    {"quality", "Quality of a profile",
     "States how far the numbers of a profile can be trusted: each fact, such as few samples or "
     "lost events, what it means, and what to do about it. Call it before conclusions are drawn.",
     kQualityParameters, LoadQualityOf},
};

// Describes one parameter in JSON Schema.
ordered_json SchemaOf(const Parameter& parameter) {
  ordered_json schema;
  switch (parameter.kind) {
    case Kind::kFlag:
      schema["type"] = "boolean";
      break;
    case Kind::kLimit:
      schema["type"] = "integer";
      schema["minimum"] = 1;
      schema["maximum"] = Arguments::kMostLimit;
      schema["default"] = Arguments::kLimit;
      break;
    case Kind::kChoice:
      schema["type"] = "string";
      schema["enum"] = parameter.choices;
      schema["default"] = parameter.choices.front();
      break;
    default:
      schema["type"] = "string";
      schema["minLength"] = 1;
  }
  schema["description"] = parameter.description;
  return schema;
}

std::string NamesOf(const Tool& tool) {
  std::vector<std::string_view> names;
  for (const Parameter& parameter : tool.parameters) names.push_back(parameter.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

// Fails if the value is not one of the parameter.
Result<void> Check(const Parameter& parameter, const json& value) {
  constexpr size_t kMostText = 4096;
  const auto wrong = [&](std::string_view must) {
    return WrongUse("the argument {} must be {}", parameter.name, must);
  };
  if (parameter.kind == Kind::kFlag)
    return value.is_boolean() ? Result<void>() : wrong("true or false");
  if (parameter.kind == Kind::kLimit) {
    const bool fits = value.is_number_unsigned() && value.get<uint64_t>() >= 1 &&
                      value.get<uint64_t>() <= Arguments::kMostLimit;
    if (!fits) return wrong("a whole number from 1 to 200");
    return {};
  }
  if (!value.is_string()) return wrong("a text");
  const auto& text = value.get_ref<const std::string&>();
  if (text.empty() || text.size() > kMostText || text.find('\0') != text.npos)
    return wrong("a text of 1 to 4096 bytes without zero bytes");
  if (parameter.kind == Kind::kChoice &&
      std::ranges::find(parameter.choices, text) == parameter.choices.end())
    return wrong(fmt::format("one of: {}", fmt::join(parameter.choices, ", ")));
  return {};
}

// Returns the arguments, with the directories of profiles in place of what names them.
Result<Arguments> Checked(const Tool& tool, const json& given, const ProfileDoor& door) {
  for (const auto& [name, value] : given.items()) {
    const auto known = std::ranges::find_if(
        tool.parameters, [&](const Parameter& parameter) { return parameter.name == name; });
    if (known == tool.parameters.end()) {
      return WrongUse("the tool {} has no argument {}; it has: {}", tool.name,
                      CleanText(name.substr(0, 100)), NamesOf(tool));
    }
    if (auto fits = Check(*known, value); !fits) return std::unexpected(fits.error());
  }
  json values = given;
  for (const Parameter& parameter : tool.parameters) {
    if (parameter.required && !given.contains(parameter.name))
      return WrongUse("the argument {} is missing: {}", parameter.name, parameter.description);
    if (parameter.kind != Kind::kProfile) continue;
    const auto directory = door.admit(given.value(parameter.name, ""));
    if (!directory) return std::unexpected(directory.error());
    values[parameter.name] = *directory;
  }
  return Arguments(std::move(values));
}

// Ends a text within the limit, with a line that says so.
std::string Cut(std::string text) {
  constexpr std::string_view kNote = "\n... cut: an answer has at most 32 KiB of text\n";
  if (text.size() <= kMostAnswer) return text;
  text.resize(profile::BeginningOf(text, kMostAnswer - kNote.size()).size());
  return text.append(kNote);
}

// Prints the answer with as many rows as the limit of bytes allows, at most `limit`.
Result<Answer> Bounded(const AnswerPrinter& print, size_t limit) {
  for (size_t rows = limit;; rows /= 2) {
    const auto as = [&](Format format) {
      return PrintedText([&](Output& out) { return print(rows, format, out); });
    };
    auto text = as(Format::kText);
    if (!text) return std::unexpected(text.error());
    auto document = as(Format::kJson);
    if (!document) return std::unexpected(document.error());
    const bool fits = text->size() <= kMostAnswer && document->size() <= kMostAnswer;
    if (!fits && rows > 1) continue;
    if (document->size() > kMostAnswer) document->clear();
    std::ranges::replace(*document, '\n', ' ');  // those in texts are escaped
    if (rows < limit)
      *text += fmt::format("limit {} in place of {}: an answer has at most 32 KiB\n", rows, limit);
    return Answer{Cut(*std::move(text)), *std::move(document)};
  }
}

}  // namespace

std::span<const Tool> Tools() { return kTools; }

ordered_json Described(const Tool& tool) {
  ordered_json properties = ordered_json::object(), required = ordered_json::array();
  for (const Parameter& parameter : tool.parameters) {
    properties[parameter.name] = SchemaOf(parameter);
    if (parameter.required) required.push_back(parameter.name);
  }
  return {{"name", tool.name},
          {"title", tool.title},
          {"description", tool.description},
          {"inputSchema",
           {{"type", "object"},
            {"properties", std::move(properties)},
            {"required", std::move(required)},
            {"additionalProperties", false}}},
          {"annotations", {{"readOnlyHint", true}, {"openWorldHint", false}}}};
}

Result<Answer> CallTool(const Tool& tool, const json& arguments, const ProfileDoor& door) {
  const auto checked = Checked(tool, arguments, door);
  if (!checked) return std::unexpected(checked.error());
  const auto print = tool.load(*checked, door);
  if (!print) return std::unexpected(print.error());
  return Bounded(*print, checked->Limit());
}

}  // namespace jprof::reports::assistant
