#include "cli/shell/man_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <ranges>

namespace jprof::cli {
namespace {

constexpr char kManDate[] = "2026-11-25";  // of the last change of the sections below

constexpr char kFiles[] = R"(.SH FILES
.TP
.I NAME.jprof/
A profile, a directory in the working directory: mapped files that the profiled JVM writes.
.TP
.I ~/.local/share/jprof/calibration/
Calibration tables, one per JVM, machine and set of metrics.
)";

constexpr char kEnvironment[] = R"(.SH ENVIRONMENT
.TP
.B JPROFOPTS
Options of the agent, appended to those that the command gives.
.TP
.B JPROF_AGENT
The agent library, where no option names it.
.TP
.B JAVA_HOME
The JDK that \fBjprof calibrate\fR uses, before PATH.
.TP
.B XDG_DATA_HOME
Instead of ~/.local/share for calibration tables and saved profiles.
.TP
.B TMPDIR
Where temporary files are made.
)";

constexpr char kExitOfTool[] = R"(.SH EXIT STATUS
.TP
.B 0
Success.
.TP
.B 1
It failed; a line on standard error says why.
.TP
.B 2
Wrong use; nothing was started.
)";

constexpr char kExitOfRun[] = R"(.SH EXIT STATUS
That of the program that was run; 128 plus the signal's number if a signal ended it.
.B 2
means wrong use: nothing was started.
.B 1
means that jprof itself failed.
)";

std::string Bold(std::string_view text) { return "\\fB" + RoffText(text) + "\\fR"; }
// A line may end behind each of several choices.
std::string Italic(std::string_view text) {
  std::string italic = "\\fI";
  for (const char c : RoffText(text)) italic += c == '|' ? "|\\:" : std::string(1, c);
  return italic + "\\fR";
}

// Returns "-o, --out DIR", "--event [PATTERN]" or "DIR...".
std::string Tag(const Argument& argument) {
  if (argument.IsPositional()) return Italic(argument.value) + (argument.repeated ? "..." : "");
  std::string tag;
  for (const std::string& name : argument.names) tag += (tag.empty() ? "" : ", ") + Bold(name);
  if (argument.IsFlag()) return tag;
  if (!argument.optional_value) return tag + " " + Italic(argument.value);
  const std::string_view value = argument.value;
  return tag + " [" + Italic(value.starts_with('[') ? value.substr(1, value.size() - 2) : value) +
         "]";
}

std::string ArgumentSection(std::string_view heading, const std::vector<Argument>& arguments) {
  if (arguments.empty()) return "";
  std::string text = fmt::format(".SH {}\n", heading);
  for (const Argument& argument : arguments) {
    text += fmt::format(".TP\n{}\n{}\n", Tag(argument), RoffText(argument.help));
    if (!argument.default_value.empty())
      text += RoffText(fmt::format("Default: {}.", argument.default_value)) + "\n";
  }
  return text;
}

std::string Synopsis(const CommandNode& command) {
  std::string text = Bold("jprof " + command.name) + " [" + Italic("OPTION") + "...]";
  for (const Argument& argument : command.Positionals()) text += " [" + Tag(argument) + "]";
  if (command.runs_command) text += " " + Bold("--") + " " + Italic("COMMAND") + "...";
  return text;
}

// The parts of a footer. Lines that begin with a blank keep their layout; examples follow the line
// "Examples:".
struct Footer {
  std::string text;      // roff
  std::string examples;  // roff
};

// Formats an example such as "  jprof info DIR      what it does".
std::string Example(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const size_t gap = line.find("   ");
  if (gap == line.npos) return fmt::format(".PP\n{}\n", Bold(line));
  std::string_view comment = line.substr(gap);
  comment.remove_prefix(comment.find_first_not_of(' '));
  return fmt::format(".TP\n{}\n{}\n", Bold(line.substr(0, gap)), RoffText(comment));
}

class FooterParser {
 public:
  Footer Parse(const std::string& text) {
    for (const auto part : std::views::split(text, '\n'))
      Add(std::string(part.begin(), part.end()));
    KeepLayout(false);
    return std::move(footer_);
  }

 private:
  void Add(const std::string& line) {
    const size_t indent = line.find_first_not_of(' ');
    if (line == "Examples:") {
      in_examples_ = true;
    } else if (indent == line.npos) {
      KeepLayout(false);
      if (!footer_.text.empty()) paragraph_ = true;
    } else if (indent > 0 && in_examples_) {
      footer_.examples += indent < 20 ? Example(line) : RoffText(line.substr(indent)) + "\n";
    } else {
      in_examples_ = false;
      AddText(line, indent);
    }
  }
  void AddText(const std::string& line, size_t indent) {
    if (paragraph_ && !footer_.text.empty()) footer_.text += ".PP\n";
    paragraph_ = false;
    KeepLayout(indent > 0);
    footer_.text += RoffText(line) + "\n";
  }
  void KeepLayout(bool keep) {
    if (keep != kept_) footer_.text += keep ? ".PP\n.nf\n" : ".fi\n";
    kept_ = keep;
  }

  Footer footer_;
  bool in_examples_ = false, kept_ = false, paragraph_ = false;
};

std::string Head(const std::string& name, std::string_view description) {
  std::string upper = name;
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return std::toupper(c); });
  return fmt::format(
      ".\\\" Written by: jprof man\n.TH {} 1 \"{}\" \"jprof {}\" \"User Commands\"\n"
      ".SH NAME\n{} \\- {}\n",
      RoffText(upper), kManDate, JPROF_VERSION, RoffText(name), RoffText(description));
}

std::string Examples(const std::string& examples) {
  return examples.empty() ? "" : ".SH EXAMPLES\n" + examples;
}

std::string SeeAlso(const CommandNode& root, const CommandNode* command) {
  std::vector<std::string> pages;
  if (command != nullptr) pages.push_back("\\fBjprof\\fR(1)");
  for (const CommandNode& other : root.commands) {
    if (command == nullptr || (&other != command && other.group == command->group))
      pages.push_back(fmt::format("\\fBjprof\\-{}\\fR(1)", other.name));
  }
  std::ranges::sort(pages);
  return fmt::format(".SH SEE ALSO\n{}\n", fmt::join(pages, ",\n"));
}

// Lists the commands under the headings of their groups.
std::string CommandList(const CommandNode& root) {
  std::string text = ".SH COMMANDS\n", group;
  for (const CommandNode& command : root.commands) {
    if (command.group != group) text += fmt::format(".SS {}\n", RoffText(command.group));
    group = command.group;
    text += fmt::format(".TP\n\\fBjprof\\-{}\\fR(1)\n{}\n", command.name,
                        RoffText(command.description));
  }
  return text;
}

std::string MainPage(const CommandNode& root) {
  const std::string& about = root.description;  // "jprof: WHAT"
  return Head("jprof", about.substr(about.find(' ') + 1)) + ".SH SYNOPSIS\n" + Bold("jprof") + " " +
         Italic("COMMAND") + " [" + Italic("OPTION") + "...] [" + Bold("--") + " " +
         Italic("PROGRAM") +
         "...]\n.SH DESCRIPTION\n"
         "Profiles Java programs: records every entry and exit of every method, samples stacks,\n"
         "counts events, and reports call trees.\n"
         "Without arguments it prints where to start.\n" +
         CommandList(root) + ArgumentSection("OPTIONS", root.Options()) +
         Examples(FooterParser().Parse(root.footer).examples) + kExitOfTool + kFiles +
         kEnvironment + SeeAlso(root, nullptr);
}

}  // namespace

std::string RoffText(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const bool starts_line = escaped.empty() || escaped.back() == '\n';
    if (starts_line && (c == '.' || c == '\'')) escaped += "\\&";
    switch (c) {
      case '\\':
        escaped += "\\e";
        break;
      case '-':
        escaped += "\\-";
        break;
      case '\'':
        escaped += "\\(aq";
        break;
      case '`':
        escaped += "\\(ga";
        break;
      case '^':
        escaped += "\\(ha";
        break;
      case '~':
        escaped += "\\(ti";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string ManName(const CommandNode* command) {
  return command == nullptr ? "jprof.1" : fmt::format("jprof-{}.1", command->name);
}

std::string ManPage(const CommandNode& root, const CommandNode* command) {
  if (command == nullptr) return MainPage(root);
  const Footer footer = FooterParser().Parse(command->footer);
  return Head("jprof-" + command->name, command->description) + ".SH SYNOPSIS\n.ad l\n" +
         Synopsis(*command) + "\n.SH DESCRIPTION\n" + RoffText(command->description + ".") + "\n" +
         (footer.text.empty() ? "" : ".PP\n" + footer.text) +
         ArgumentSection("ARGUMENTS", command->Positionals()) +
         ArgumentSection("OPTIONS", command->Options()) + Examples(footer.examples) +
         (command->runs_command ? kExitOfRun : kExitOfTool) +
         (command->runs_command ? kFiles : "") + (command->runs_command ? kEnvironment : "") +
         SeeAlso(root, command);
}

}  // namespace jprof::cli
