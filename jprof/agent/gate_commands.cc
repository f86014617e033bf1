#include "jprof/agent/gate_commands.h"

#include <vector>

namespace jprof::agent {
namespace {

std::vector<control::Field> GateStatus(const options::AgentOptions& options,
                                       engine::Session& session, const std::string& out) {
  const profile::ControlHeader& header = *session.writer().header();
  return {{"mode", std::string(NameOf(options.mode))},
          {"recording", session.gate().paused() ? "no" : "yes"},
          {"starts", std::to_string(header.starts)},
          {"stops", std::to_string(header.stops)},
          {"threads", std::to_string(header.thread_count)},
          {"out", out}};
}

}  // namespace

Result<int> FolderOf(engine::Session& session) {
  const int folder = session.writer().directory_fd();
  if (folder < 0) return Fail("the program has closed the descriptor of the profile's folder");
  return folder;
}

Control::Handlers GateCommands(const options::AgentOptions& options, engine::Session& session,
                               const std::string& out) {
  Control::Handlers handlers;
  handlers.start = [&session]() -> Result<std::string> {
    session.gate().Start();
    return "started";
  };
  handlers.stop = [&session]() -> Result<std::string> {
    session.gate().Stop();
    return "stopped";
  };
  handlers.flush = [&session] { return FolderOf(session); };
  handlers.status = [&options, &session, out] { return GateStatus(options, session, out); };
  return handlers;
}

}  // namespace jprof::agent
