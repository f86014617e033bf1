// The assistant's server: messages in, responses out, over made profiles.
#include <gtest/gtest.h>

#include <fstream>

#include "reports/assistant/session.h"
#include "tests/unit/reports/combined_profile.h"
#include "tests/unit/reports/demo_profile.h"

namespace jprof::reports::assistant {
namespace {

using nlohmann::json;

constexpr char kBegin[] =
    R"({"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-06-18"}})";

ProfileDoor AnyProfile() {
  return {.admit = [](const std::string& named) { return Result<std::string>(named); },
          .open = [](const std::string& directory) { return model::Open(directory, {}); },
          .open_comparable =
              [](const std::string& directory) { return model::OpenSource(directory, {}); }};
}

class Assistant : public testing::Test {
 protected:
  // Returns the responses to these bytes; `meanwhile` arrives while the first message is handled.
  std::vector<json> Tell(const std::string& bytes, const std::string& meanwhile = "") {
    session_.Receive(bytes);
    return Answers(meanwhile);
  }
  std::vector<json> Answers(std::string meanwhile = "") {
    std::vector<json> answers;
    while (session_.waiting() > 0) {
      const auto answer = session_.Handle([&] { session_.Receive(std::exchange(meanwhile, "")); });
      if (!answer) continue;
      EXPECT_EQ(answer->find('\n'), std::string::npos);
      answers.push_back(json::parse(*answer));
    }
    return answers;
  }
  json Only(const std::string& message) {
    const std::vector<json> answers = Tell(message + "\n");
    EXPECT_EQ(answers.size(), 1u) << message;
    return answers.empty() ? json() : answers.front();
  }
  int ErrorOf(const std::string& message) { return Only(message).at("error").at("code"); }

  json Call(const std::string& tool, const json& arguments) {
    Tell(kBegin + std::string("\n"));
    const json request = {{"jsonrpc", "2.0"},
                          {"id", 7},
                          {"method", "tools/call"},
                          {"params", {{"name", tool}, {"arguments", arguments}}}};
    return Only(request.dump()).at("result");
  }
  std::string TextOf(const std::string& tool, const json& arguments) {
    return Call(tool, arguments).at("content").at(0).at("text");
  }

  Session session_{AnyProfile(), "1.2.3"};
};

TEST_F(Assistant, NegotiatesTheRevision) {
  const auto agreed = [&](const std::string& wanted) {
    return Only(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":")" +
                wanted + "\"}}")
        .at("result")
        .at("protocolVersion");
  };
  EXPECT_EQ(agreed("2024-11-05"), "2024-11-05");
  EXPECT_EQ(agreed("2025-11-25"), "2025-11-25");
  EXPECT_EQ(agreed("2099-01-01"), "2025-11-25");
  EXPECT_EQ(agreed("2026-07-28"), "2025-11-25");  // it has no initialize
}

constexpr char kModern[] =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";

TEST_F(Assistant, ServesRequestsThatStateTheirRevision) {
  const json found = Only(R"({"jsonrpc":"2.0","id":1,"method":"server/discover","params":{)" +
                          std::string(kModern) + "}}")["result"];
  EXPECT_EQ(found["resultType"], "complete");
  EXPECT_EQ(found["supportedVersions"][0], "2026-07-28");
  EXPECT_EQ(found["_meta"]["io.modelcontextprotocol/serverInfo"]["version"], "1.2.3");
  const json wrong = Only(
      R"({"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"1900-01-01","io.modelcontextprotocol/clientCapabilities":{}}}})")
      ["error"];
  EXPECT_EQ(wrong["code"], -32022);
  EXPECT_EQ(wrong["data"]["requested"], "1900-01-01");
  EXPECT_EQ(
      ErrorOf(
          R"({"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})"),
      -32602);  // no capabilities
}

TEST_F(Assistant, RequiresABeginning) {
  EXPECT_EQ(ErrorOf(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})"), -32602);
  EXPECT_EQ(Only(R"({"jsonrpc":"2.0","id":2,"method":"ping"})")["result"], json::object());
  Tell(kBegin + std::string("\n"));
  EXPECT_EQ(Only(R"({"jsonrpc":"2.0","id":3,"method":"tools/list"})")["result"]["tools"].size(),
            Tools().size());
}

TEST_F(Assistant, AnswersWhatIsNoRequest) {
  EXPECT_EQ(ErrorOf("{"), -32700);
  EXPECT_EQ(ErrorOf("\xff"), -32700);
  EXPECT_EQ(ErrorOf("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}"), -32700);
  EXPECT_EQ(ErrorOf(std::string(100'000, '[')), -32700);
  EXPECT_EQ(ErrorOf(std::string(1000, '[') + std::string(1000, ']')), -32700);
  EXPECT_EQ(ErrorOf("17"), -32600);
  EXPECT_EQ(ErrorOf("[]"), -32600);
  EXPECT_EQ(ErrorOf(R"({"id":1,"method":"ping"})"), -32600);
  EXPECT_EQ(ErrorOf(R"({"jsonrpc":"2.0","id":null,"method":"ping"})"), -32600);
  EXPECT_EQ(ErrorOf(R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})"), -32600);
  EXPECT_EQ(ErrorOf(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[1]})"), -32602);
  EXPECT_EQ(ErrorOf(std::string(Session::kMostLine + 1, ' ')), -32600);
  Tell(kBegin + std::string("\n"));
  EXPECT_EQ(ErrorOf(R"({"jsonrpc":"2.0","id":1,"method":"resources/list"})"), -32601);
  EXPECT_EQ(ErrorOf(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}})"),
            -32602);
}

TEST_F(Assistant, DoesNotAnswerNotificationsAndResponses) {
  EXPECT_TRUE(Tell("\n \r\n").empty());
  EXPECT_TRUE(Tell("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n").empty());
  EXPECT_TRUE(Tell("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n").empty());
}

TEST_F(Assistant, TakesMessagesInPieces) {
  for (const char byte : std::string(R"({"jsonrpc":"2.0","id":1,"method":"ping"})"))
    EXPECT_TRUE(Tell({byte}).empty());
  session_.End();
  EXPECT_EQ(Answers().size(), 1u);
}

TEST_F(Assistant, DropsWhatIsCancelled) {
  const std::string ping = "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ping\"}\n";
  const std::string cancel =
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":5}}\n";
  EXPECT_TRUE(Tell(ping + cancel).empty());   // while it waits
  EXPECT_TRUE(Tell(ping, cancel).empty());    // while it is handled
  EXPECT_EQ(Tell(cancel + ping).size(), 1u);  // before it is there
}

TEST_F(Assistant, SchemasDescribeTheArguments) {
  for (const Tool& tool : Tools()) {
    const json schema = Described(tool)["inputSchema"];
    EXPECT_EQ(schema["type"], "object");
    EXPECT_EQ(schema["properties"].size(), tool.parameters.size());
    for (const auto& required : schema["required"])
      EXPECT_TRUE(schema["properties"].contains(required));
    EXPECT_TRUE(Described(tool)["annotations"]["readOnlyHint"]);
  }
}

TEST_F(Assistant, ExplainsWrongArguments) {
  const auto error = [&](const std::string& tool, const json& arguments) {
    const json result = Call(tool, arguments);
    EXPECT_TRUE(result["isError"]);
    EXPECT_FALSE(result.contains("structuredContent"));
    return result["content"][0]["text"].get<std::string>();
  };
  EXPECT_EQ(error("quality", {{"path", "x"}}),
            "the tool quality has no argument path; it has: profile, limit");
  EXPECT_EQ(error("hottest", {{"limit", 0}}),
            "the argument limit must be a whole number from 1 to 200");
  EXPECT_EQ(error("hottest", {{"by", "name"}}),
            "the argument by must be one of: self, cumulative, calls");
  EXPECT_NE(error("callers", json::object()).find("the argument method is missing"),
            std::string::npos);
  EXPECT_NE(error("quality", {{"profile", std::string("a\0b", 3)}}).find("zero bytes"),
            std::string::npos);
  EXPECT_NE(error("quality", {{"profile", json::array({1})}}).find("must be a text"),
            std::string::npos);
  EXPECT_NE(error("hottest", {{"profile", "/nowhere.jprof"}}).find("/nowhere.jprof"),
            std::string::npos);
}

// Two runs: main calls find 10 times, find and other call leaf; 60 of 100 samples are in find.
class AskedAboutCombined : public Assistant {
 protected:
  AskedAboutCombined() {
    std::ofstream(made_.directory() / profile::kRunsFile) << profile::ToJson(made_.meta());
  }

  static MadeCombined Made() {
    StackProfile counted = CountedStacks(), first = SampledStacks(), second = SampledStacks();
    counted.Call("A.main", 1);
    counted.Call("A.main B.find", 10);
    counted.Call("A.main B.find C.leaf", 70);
    counted.Call("A.main D.other C.leaf", 30);
    for (StackProfile* run : {&first, &second}) {
      run->Add("A.main", 10);
      run->Add("A.main B.find", 20);
      run->Add("A.main B.find C.leaf", 40);
      run->Add("A.main D.other C.leaf", 30);
    }
    std::vector<StackProfile> sampled;
    sampled.push_back(std::move(first));
    sampled.push_back(std::move(second));
    return {std::move(counted), std::move(sampled)};
  }
  json Rows(const std::string& tool, json arguments) {
    arguments["profile"] = made_.directory().string();
    const json result = Call(tool, arguments);
    EXPECT_FALSE(result["isError"]) << result;
    return result["structuredContent"]["rows"];
  }
  MadeCombined made_ = Made();
};

TEST_F(AskedAboutCombined, HottestHasExactCallsAndIntervals) {
  const json rows = Rows("hottest", {});
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0]["name"], "C.leaf()");
  EXPECT_EQ(rows[0]["calls"], 100);
  EXPECT_NEAR(rows[0]["self_percent"]["value"], 70, 0.01);
  EXPECT_LT(rows[0]["self_percent"]["low"], 70);
  EXPECT_GT(rows[0]["self_percent"]["high"], 70);
  EXPECT_EQ(Rows("hottest", {{"by", "cumulative"}})[0]["name"], "A.main()");
  EXPECT_EQ(Rows("hottest", {{"by", "calls"}, {"limit", 1}}).size(), 1u);
}

TEST_F(AskedAboutCombined, NeighboursShareWhatTheMethodHas) {
  const json callers = Rows("callers", {{"method", "leaf"}});
  ASSERT_EQ(callers.size(), 3u);
  EXPECT_EQ(callers[0]["role"], "method");
  EXPECT_EQ(callers[1]["name"], "B.find()");
  EXPECT_EQ(callers[1]["calls"], 70);
  EXPECT_NEAR(callers[1]["cumulative_percent"]["value"], 40, 0.01);
  EXPECT_EQ(callers[2]["name"], "D.other()");
  EXPECT_EQ(callers[2]["calls"], 30);
  const json callees = Rows("callees", {{"method", "A.main()"}});
  ASSERT_EQ(callees.size(), 3u);
  EXPECT_EQ(callees[1]["name"], "B.find()");
  EXPECT_NEAR(callees[1]["cumulative_percent"]["value"], 60, 0.01);
  EXPECT_EQ(callees[1]["calls"], 10);
  EXPECT_EQ(Rows("callers", {{"method", "A.main"}})[1]["name"], "(threads)");
}

TEST_F(AskedAboutCombined, MethodsAreFoundByParts) {
  const std::string profile = made_.directory().string();
  EXPECT_NE(TextOf("callers", {{"profile", profile}, {"method", "m"}}).find("A.main()"),
            std::string::npos);
  EXPECT_NE(TextOf("callers", {{"profile", profile}, {"method", "."}})
                .find("4 methods have . in their names; name one of them whole: A.main()"),
            std::string::npos);
  EXPECT_NE(
      TextOf("callers", {{"profile", profile}, {"method", "B.fnd"}}).find("did you mean B.find?"),
      std::string::npos);
}

TEST_F(AskedAboutCombined, QualityAndTextSayWhatJsonSays) {
  const json result = Call("quality", {{"profile", made_.directory().string()}});
  EXPECT_EQ(result["structuredContent"]["profile"], made_.directory().string());
  const std::string text =
      TextOf("hottest", {{"profile", made_.directory().string()}, {"limit", 1}});
  EXPECT_NE(text.find("C.leaf()"), std::string::npos);
  EXPECT_NE(text.find("3 rows are left out"), std::string::npos);
}

TEST_F(Assistant, AnswersAreBounded) {
  const auto directory = std::filesystem::path(testing::TempDir()) /
                         ("long-names-" + std::to_string(getpid()) + ".jprof");
  StackProfile made = CountedStacks();
  for (int i = 0; i < 100; ++i) {
    const std::string number = std::to_string(i);
    made.Call("A.main B.m" + number + std::string(2000, 'x'), 1 + i);
  }
  made.Write(directory);
  const json result = Call("hottest", {{"profile", directory.string()}, {"limit", 200}});
  EXPECT_FALSE(result["isError"]);
  const std::string text = result["content"][0]["text"];
  EXPECT_LE(text.size(), kMostAnswer + 100);
  EXPECT_NE(text.find("in place of 200"), std::string::npos);
  EXPECT_LE(result["structuredContent"].dump().size(), kMostAnswer);
  EXPECT_GE(result["structuredContent"]["rows"].size(), 1u);
  EXPECT_GT(result["structuredContent"]["left_out"], 0);
  std::filesystem::remove_all(directory);
}

TEST_F(Assistant, HostileNamesStayInOneLine) {
  const auto directory = std::filesystem::path(testing::TempDir()) /
                         ("hostile-" + std::to_string(getpid()) + ".jprof");
  StackProfile made = CountedStacks();
  made.Call("A.a\"\\\x01\xff B.b", 1);
  made.Write(directory);
  EXPECT_FALSE(Call("hottest", {{"profile", directory.string()}})["isError"]);
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace jprof::reports::assistant
