// What assistants send: every response is one line, a message of JSON-RPC, whatever the pieces in
// which the bytes arrive. Profiles cannot be opened.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "reports/assistant/session.h"

namespace {

using namespace jprof;
using reports::assistant::Session;

reports::assistant::ProfileDoor NoProfiles() {
  return {.admit = [](const std::string& named) { return Result<std::string>(named); },
          .open = [](const std::string&) -> Result<model::Input> { return Fail("closed"); },
          .open_comparable = [](const std::string&) -> Result<model::Source> {
            return Fail("closed");
          }};
}

// Returns the responses to the bytes, which arrive line by line or byte by byte.
std::vector<std::string> ResponsesTo(std::string_view bytes, bool by_line) {
  Session session(NoProfiles(), "1");
  std::vector<std::string> responses;
  const auto handle = [&] {
    while (session.waiting() > 0) {
      if (auto response = session.Handle([] {})) responses.push_back(*std::move(response));
    }
  };
  while (!bytes.empty()) {
    const size_t size = by_line ? std::min(bytes.find('\n'), bytes.size() - 1) + 1 : 1;
    session.Receive(bytes.substr(0, size));
    bytes.remove_prefix(size);
    handle();
  }
  session.End();
  handle();
  return responses;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> responses = ResponsesTo(bytes, /*by_line=*/false);
  for (const std::string& response : responses) {
    const auto message = nlohmann::json::parse(response, nullptr, /*allow_exceptions=*/false);
    if (!message.is_object() || message.value("jsonrpc", "") != "2.0") std::abort();
    if (message.contains("result") == message.contains("error")) std::abort();
    if (response.find('\n') != response.npos) std::abort();
  }
  if (responses != ResponsesTo(bytes, /*by_line=*/true)) std::abort();
  return 0;
}
