// `jprof view`: writes the HTML view of a profile and opens it.
#include <memory>

#include "cli/fleet/fetched.h"
#include "cli/shared/commands.h"
#include "cli/shared/page_output.h"
#include "cli/shared/report_options.h"
#include "cli/shared/usage_error.h"
#include "cli/shared/view_output.h"

namespace jprof::cli {
namespace {

struct ViewArguments {
  std::vector<std::string> profiles;
  PageChoice page;
  TableChoice table;
};

Result<void> View(ViewArguments arguments) {
  if (arguments.profiles.empty()) {
    auto newest = NewestProfile(/*combined=*/true);
    if (!newest) return std::unexpected(newest.error());
    arguments.profiles.push_back(*newest);
  }
  for (std::string& profile : arguments.profiles) {
    if (auto fetched = FetchIfUrl(profile); !fetched) return fetched;
  }
  return ShowPage(
      arguments.page, ViewName(arguments.profiles.front()),
      [&](const std::string& out) { return WriteView(arguments.profiles, arguments.table, out); });
}

}  // namespace

Action ViewCommand(CommandLine line, const Command&) {
  auto arguments = std::make_shared<ViewArguments>();
  line.Footer(
      "One file with flame graph, call tree, methods, contexts, plots and, of traces, calls over "
      "time; of a heap dump, a map and the tree of what holds the memory. It needs no network and "
      "can be mailed (docs/VIEW.md). Without -o it is a temporary file.\n\n"
      "Examples:\n"
      "  jprof view                               the newest profile here, in the browser\n"
      "  jprof view app.jprof -o app.html         only writes the file\n"
      "  jprof view before.jprof after.jprof      two profiles, coloured by difference\n"
      "  jprof view trace.jprof                   a trace of jprof trace, also over time\n"
      "  jprof view app-tprof.jprof               a recording of jprof tprof\n"
      "  jprof view app.itrace                    a trace of jprof itrace, also over time\n"
      "  jprof view app.hprof                     a heap dump: what holds the memory");
  line.Option("PROFILES", arguments->profiles, "PROFILE",
              "A profile, a recording of tprof or itrace, a heap dump, or two profiles to compare; "
              "the newest *.jprof here if left out");
  AddPageOptions(line, arguments->page);
  AddWindowOption(line, arguments->table);
  AddTableOptions(line, arguments->table);
  return [arguments] { return StatusOf(View(*arguments)); };
}

}  // namespace jprof::cli
