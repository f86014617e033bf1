// Speaks the Model Context Protocol (https://modelcontextprotocol.io) with one client: bytes in,
// responses out, no input or output of its own. It serves the revision of 2026-07-28, whose
// requests state the revision each, and those before, which begin with `initialize`.
#pragma once

#include <deque>
#include <expected>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "reports/assistant/tools.h"

namespace jprof::reports::assistant {

class Session {
 public:
  // `version` is that of jprof.
  Session(ProfileDoor door, std::string version)
      : door_(std::move(door)), version_(std::move(version)) {}

  // Takes bytes as they arrive: a message ends with its line. A line of more than kMostLine bytes
  // is answered with an error, and not kept.
  void Receive(std::string_view bytes);
  // Ends the last line.
  void End();

  // Returns the number of messages that wait.
  size_t waiting() const { return messages_.size(); }

  // Handles the oldest message, and returns the response, one line without its end; nothing for a
  // notification and for a request that was cancelled. Calls `receive` before it returns, to
  // Receive what has arrived meanwhile. Requires a waiting message.
  std::optional<std::string> Handle(const std::function<void()>& receive);

  static constexpr size_t kMostLine = 1 << 20;

 private:
  struct RpcError {
    int code;
    std::string message;
    nlohmann::json data = {};
  };
  using Members = nlohmann::ordered_json;
  using Outcome = std::expected<Members, RpcError>;
  struct Message {
    nlohmann::json id;  // null for a notification, or if it cannot be read
    nlohmann::json request;
    std::optional<RpcError> error;  // why it is no request
  };
  struct Method {
    const char* name;
    Outcome (Session::*answer)(const nlohmann::json& params);
    bool any_time;  // also before the client states a revision of the protocol
  };
  static const Method kMethods[];

  void TakeLine(std::string_view line);
  void Cancel(const nlohmann::json& params);
  Outcome Answer(const nlohmann::json& request);
  std::optional<RpcError> CheckRevision(const nlohmann::json& params, bool any_time);

  Outcome Initialize(const nlohmann::json& params);
  Outcome Ping(const nlohmann::json& params);
  Outcome Discover(const nlohmann::json& params);
  Outcome ListTools(const nlohmann::json& params);
  Outcome Call(const nlohmann::json& params);

  Members ServerInfo() const;
  Members Introduction() const;

  ProfileDoor door_;
  std::string version_;
  std::string line_;       // the beginning of a message
  bool overlong_ = false;  // the rest of the line is not kept
  std::deque<Message> messages_;
  bool initialized_ = false;
  bool states_revision_ = false;  // the request that is handled, in _meta
  nlohmann::json current_;        // the id of the request that is handled
  bool cancelled_ = false;        // that request
  std::string structured_;        // JSON of its answer
};

}  // namespace jprof::reports::assistant
