#include "calibrate/train/runner.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "options/agent_argument.h"
#include "options/agent_options.h"

namespace jprof::calibrate {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kRunLimit{
    300};  // a run takes seconds, but longer on a loaded machine

// Returns the line of output that best explains why the JVM failed.
std::string Reason(std::string_view output) {
  std::string first;
  while (!output.empty()) {
    const size_t end = std::min(output.find('\n'), output.size());
    const std::string_view line = output.substr(0, end);
    output.remove_prefix(std::min(end + 1, output.size()));
    const bool noise = line.empty() || line.starts_with("Warning:") ||
                       line.starts_with("WARNING:") || line.starts_with("shape ") ||
                       line.starts_with("function ") || line.find(" warning:") != line.npos;
    if (!noise && first.empty()) first = line;
    if (line.starts_with("Error") || line.starts_with("Exception") || line.starts_with("jprof")) {
      return std::string(line);
    }
  }
  return first.empty() ? "it printed nothing" : first;
}

}  // namespace

Result<Truth> Runner::Run(std::string_view step, const Program& program,
                          const std::string& agent_options) {
  if (plan_.progress) plan_.progress(done_, total_, step);
  ++done_;
  const auto argv = Command(program, agent_options);
  const fs::path log = plan_.work / "trainer.log";
  const auto child = plan_.run_traced ? plan_.run_traced(argv, log)
                                      : RunChild(argv, log, kRunLimit, plan_.interrupted);
  if (!child) return std::unexpected(child.error());
  auto shapes = ParseShapes(child->output);
  functions_ = ParseFunctions(child->output);
  if (shapes && child->status == 0) return shapes;
  return Fail("the trainer failed under {} (exit status {}): {}",
              (plan_.hook_trainer.empty() ? plan_.java : plan_.hook_trainer).string(),
              child->status, Reason(child->output));
}

Result<Runner::Profiled> Runner::Profile(std::string_view step, const Program& program,
                                         bool train) {
  options::AgentOptions agent = {
      .mode = Mode::kCallflow, .out = plan_.work / "trainer.jprof", .train = train};
  fs::remove_all(agent.out);
  if (const auto done = options::ApplyOptions("METRICS=" + plan_.metrics, agent); !done)
    return WrongUse("{}", options::Render(done.error(), options::Interface::kAgentString));
  const auto run = Run(step, program, options::ToString(agent));
  if (!run) return std::unexpected(run.error());
  auto reader = profile::Reader::Open(agent.out);
  if (!reader) return std::unexpected(reader.error());
  profile::Methods methods = reader->ReadMethods();
  NameFunctions(functions_, methods);
  return Profiled{*std::move(reader), std::move(methods)};
}

std::vector<std::string> Runner::Command(const Program& program,
                                         const std::string& agent_options) const {
  if (!plan_.hook_trainer.empty()) return HookCommand(program, agent_options);
  std::vector<std::string> argv = {plan_.java.string()};
  if (!agent_options.empty())
    argv.push_back(options::AgentArgument(plan_.agent.string(), agent_options));
  if (!program.inlines) argv.push_back("-XX:-Inline");  // the same code as with probes
  argv.push_back("-XX:+UseSerialGC");
  argv.insert(argv.end(), program.options.begin(), program.options.end());
  argv.push_back("-Xbootclasspath/a:" + plan_.trainers.string());
  argv.push_back("jprof.trainers." + program.main);
  argv.insert(argv.end(), program.arguments.begin(), program.arguments.end());
  return argv;
}

std::vector<std::string> Runner::HookCommand(const Program& program,
                                             const std::string& agent_options) const {
  std::vector<std::string> argv;
  if (!agent_options.empty()) {
    argv = {"env", "LD_PRELOAD=" + plan_.agent.string(), "JPROF_HOOKS=" + agent_options};
  }
  argv.push_back(plan_.hook_trainer.string());
  argv.push_back(agent_options.empty() ? "plain" : "hooked");
  argv.push_back(program.main);
  argv.insert(argv.end(), program.arguments.begin(), program.arguments.end());
  if (!agent_options.empty() && !CountersOf(plan_).empty()) argv.push_back("-");
  return argv;
}

}  // namespace jprof::calibrate
