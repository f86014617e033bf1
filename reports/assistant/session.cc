#include "reports/assistant/session.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "profile/files/json_fields.h"
#include "profile/files/printable_text.h"

namespace jprof::reports::assistant {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

// Errors of JSON-RPC and of the protocol.
constexpr int kParseError = -32700, kInvalidRequest = -32600, kNoMethod = -32601,
              kInvalidParams = -32602, kWrongRevision = -32022;

// The newest first. In the first one each request states the revision in _meta; in the others the
// client begins with `initialize`, whose result names the newest of them if it knows no better.
constexpr const char* kRevisions[] = {"2026-07-28", "2025-11-25", "2025-06-18", "2024-11-05"};
constexpr size_t kNewestWithInitialize = 1;

constexpr char kRevisionKey[] = "io.modelcontextprotocol/protocolVersion";
constexpr char kCapabilitiesKey[] = "io.modelcontextprotocol/clientCapabilities";
constexpr char kServerKey[] = "io.modelcontextprotocol/serverInfo";

constexpr char kInstructions[] =
    "jprof measures where Java and C++ programs spend their time and counts their calls exactly. "
    "The tools read profiles that it recorded (directories such as app.jprof). Begin with quality, "
    "which says how far the numbers can be trusted, then hottest; callers and callees explain one "
    "method; compare tells a change from noise. Values have 95 % intervals: do not call a "
    "difference within them a difference.";

// A list that never changes while the server runs.
constexpr int kFreshForMs = 3'600'000;

constexpr int kMostDepth = 64;

// Parses a message. A message that is nested deeper than any valid one has no value.
json Parse(std::string_view line) {
  bool deep = false;
  const auto keep = [&deep](int depth, json::parse_event_t, json&) {
    deep |= depth > kMostDepth;
    return !deep;
  };
  json parsed = json::parse(line, keep, /*allow_exceptions=*/false);
  return deep ? json(json::value_t::discarded) : parsed;
}

std::string Dumped(const auto& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool IsId(const json& value) { return value.is_string() || value.is_number_integer(); }

}  // namespace

constinit const Session::Method Session::kMethods[] = {
    {"initialize", &Session::Initialize, true},     {"ping", &Session::Ping, true},
    {"server/discover", &Session::Discover, false}, {"tools/list", &Session::ListTools, false},
    {"tools/call", &Session::Call, false},
};

void Session::Receive(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    overlong_ |= line_.size() + piece.size() > kMostLine;
    if (overlong_) {
      line_.clear();
    } else {
      line_ += piece;
    }
    if (end == bytes.npos) return;
    End();
    bytes.remove_prefix(end + 1);
  }
}

void Session::End() {
  if (std::exchange(overlong_, false)) {
    messages_.push_back({.error = RpcError{kInvalidRequest, "a message has at most 1 MiB"}});
  } else if (line_.find_first_not_of(" \t\r") != line_.npos) {
    TakeLine(line_);
  }
  line_.clear();
}

void Session::TakeLine(std::string_view line) {
  Message message = {.request = Parse(line)};
  const json& request = message.request;
  const profile::JsonFields fields(request);
  if (IsId(fields.At("id"))) message.id = fields.At("id");
  const json& method = fields.At("method");
  if (request.is_discarded()) {
    message.error = {kParseError, "the line is not JSON, or is nested too deeply"};
  } else if (!request.is_object() || fields.At("jsonrpc") != "2.0") {
    message.error = {kInvalidRequest, "a message is one object of JSON-RPC 2.0"};
  } else if (method.is_null() && (request.contains("result") || request.contains("error"))) {
    return;  // a response, although nothing was requested
  } else if (!method.is_string() || (request.contains("id") && message.id.is_null())) {
    message.error = {kInvalidRequest,
                     "a request has a method and an id, which is a text or an integer"};
  } else if (message.id.is_null()) {
    if (method == "notifications/cancelled") Cancel(fields.At("params"));
    return;  // other notifications change nothing
  }
  messages_.push_back(std::move(message));
}

void Session::Cancel(const json& params) {
  const json& id = profile::JsonFields(params).At("requestId");
  if (!IsId(id)) return;
  cancelled_ |= id == current_;
  std::erase_if(messages_, [&](const Message& message) { return message.id == id; });
}

std::optional<std::string> Session::Handle(const std::function<void()>& receive) {
  const Message message = std::move(messages_.front());
  messages_.pop_front();
  current_ = message.id;
  cancelled_ = false;
  structured_.clear();
  const Outcome outcome = message.error ? std::unexpected(*message.error) : Answer(message.request);
  receive();
  current_ = nullptr;
  if (cancelled_) return std::nullopt;
  std::string response = R"({"jsonrpc":"2.0")";
  if (!message.id.is_null()) response += ",\"id\":" + Dumped(message.id);
  if (!outcome) {
    ordered_json error = {{"code", outcome.error().code}, {"message", outcome.error().message}};
    if (!outcome.error().data.is_null()) error["data"] = outcome.error().data;
    return response + ",\"error\":" + Dumped(error) + "}";
  }
  std::string result = Dumped(*outcome);
  if (!structured_.empty()) {
    result.pop_back();
    result += ",\"structuredContent\":" + structured_ + "}";
  }
  return response + ",\"result\":" + result + "}";
}

Session::Outcome Session::Answer(const json& request) {
  const auto& name = request.at("method").get_ref<const std::string&>();
  static const json kNone = json::object();
  const json& given = profile::JsonFields(request).At("params");
  const json& params = given.is_null() ? kNone : given;
  if (!params.is_object())
    return std::unexpected(RpcError{kInvalidParams, "the member params must be an object"});
  const auto method =
      std::ranges::find_if(kMethods, [&](const Method& one) { return one.name == name; });
  if (auto wrong = CheckRevision(params, method != std::end(kMethods) && method->any_time))
    return std::unexpected(*std::move(wrong));
  if (method == std::end(kMethods)) {
    return std::unexpected(
        RpcError{kNoMethod, "no method " + profile::CleanText(name.substr(0, 100))});
  }
  Outcome outcome = (this->*method->answer)(params);
  if (outcome && states_revision_) {
    (*outcome)["resultType"] = "complete";
    (*outcome)["_meta"][kServerKey] = ServerInfo();
  }
  return outcome;
}

// The members that a request of the newest revision must have.
std::optional<Session::RpcError> Session::CheckRevision(const json& params, bool any_time) {
  const profile::JsonFields meta(profile::JsonFields(params).At("_meta"));
  const json& revision = meta.At(kRevisionKey);
  states_revision_ = !revision.is_null();
  if (!states_revision_) {
    if (any_time || initialized_) return std::nullopt;
    return RpcError{kInvalidParams, std::string("begin with initialize, or state in _meta: ") +
                                        kRevisionKey + ", " + kCapabilitiesKey};
  }
  if (!revision.is_string() || !meta.At(kCapabilitiesKey).is_object()) {
    return RpcError{kInvalidParams, std::string("_meta must have ") + kRevisionKey +
                                        ", a text, and " + kCapabilitiesKey + ", an object"};
  }
  if (std::ranges::find(kRevisions, revision.get_ref<const std::string&>()) != std::end(kRevisions))
    return std::nullopt;
  return RpcError{kWrongRevision,
                  "Unsupported protocol version",
                  {{"supported", kRevisions}, {"requested", profile::JsonFields::Text(revision)}}};
}

Session::Members Session::ServerInfo() const {
  return {{"name", "jprof"}, {"title", "jprof"}, {"version", version_}};
}

// What both ways to begin tell about the server.
Session::Members Session::Introduction() const {
  return {{"capabilities", {{"tools", ordered_json::object()}}}, {"instructions", kInstructions}};
}

Session::Outcome Session::Initialize(const json& params) {
  const json& wanted = profile::JsonFields(params).At("protocolVersion");
  if (!wanted.is_string())
    return std::unexpected(RpcError{kInvalidParams, "initialize requires protocolVersion, a text"});
  initialized_ = true;
  const auto* first = std::begin(kRevisions) + kNewestWithInitialize;
  const auto* found = std::find(first, std::end(kRevisions), wanted.get_ref<const std::string&>());
  Members result = {{"protocolVersion", found == std::end(kRevisions) ? *first : *found}};
  result.update(Introduction());
  result["serverInfo"] = ServerInfo();
  return result;
}

Session::Outcome Session::Ping(const json&) { return Members::object(); }

Session::Outcome Session::Discover(const json&) {
  Members result = {
      {"supportedVersions", kRevisions}, {"ttlMs", kFreshForMs}, {"cacheScope", "public"}};
  result.update(Introduction());
  return result;
}

Session::Outcome Session::ListTools(const json& params) {
  if (!profile::JsonFields(params).At("cursor").is_null())
    return std::unexpected(RpcError{kInvalidParams, "the list has one page: leave out the cursor"});
  Members tools = Members::array();
  for (const Tool& tool : Tools()) tools.push_back(Described(tool));
  return Members{{"tools", std::move(tools)}, {"ttlMs", kFreshForMs}, {"cacheScope", "public"}};
}

Session::Outcome Session::Call(const json& params) {
  const profile::JsonFields fields(params);
  const std::string name = profile::JsonFields::Text(fields.At("name"));
  const auto tool =
      std::ranges::find_if(Tools(), [&](const Tool& one) { return one.name == name; });
  if (tool == Tools().end())
    return std::unexpected(RpcError{kInvalidParams, "no tool " + name.substr(0, 100)});
  static const json kNone = json::object();
  const json& given = fields.At("arguments");
  const json& arguments = given.is_null() ? kNone : given;
  if (!arguments.is_object())
    return std::unexpected(RpcError{kInvalidParams, "the member arguments must be an object"});
  auto answer = [&]() -> Result<assistant::Answer> {
    try {
      return CallTool(*tool, arguments, door_);
    } catch (const std::exception& error) {  // of memory, or of the file system
      return Fail("{}: the profile may be too large for the memory, or damaged", error.what());
    }
  }();
  if (answer) structured_ = std::move(answer->json);
  const std::string text = answer ? answer->text : answer.error().message;
  return Members{{"content", {{{"type", "text"}, {"text", text}}}}, {"isError", !answer}};
}

}  // namespace jprof::reports::assistant
