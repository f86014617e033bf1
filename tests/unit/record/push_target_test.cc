#include "record/push/push_target.h"

#include <gtest/gtest.h>

namespace jprof::record {
namespace {

std::string UrlProblem(std::string url) {
  const auto good = CheckTarget({.url = std::move(url)});
  return good ? "" : good.error().message;
}

TEST(PushTarget, AUrlOfAServerWithoutUser) {
  for (const char* good : {"http://h:4040", "https://h", "http://h:7070/api"})
    EXPECT_EQ(UrlProblem(good), "") << good;
  for (const char* bad :
       {"", "h:4040", "ftp://h", "http://", "http://:80", "http://h?x", "http://h\n"})
    EXPECT_NE(UrlProblem(bad).find("is no URL"), std::string::npos) << bad;
  EXPECT_NE(UrlProblem("http://user:password@h").find("leave that out"), std::string::npos);
}

TEST(PushTarget, LabelsAreCheckedForTheServer) {
  const auto labels = ParseLabels({"env=staging", "empty="}, PushServer::kParca);
  ASSERT_TRUE(labels);
  EXPECT_EQ(*labels, (PushLabels{{"env", "staging"}, {"empty", ""}}));
  EXPECT_TRUE(ParseLabels({"job=x"}, PushServer::kPyroscope));
  for (const char* bad : {"job=x", "1a=x", "=x", "a", "a=x,y", "__name__=x"})
    EXPECT_FALSE(ParseLabels({bad}, PushServer::kParca)) << bad;
  EXPECT_FALSE(ParseLabels({"a=1", "a=2"}, PushServer::kPyroscope));
}

TEST(PushTarget, HeadersAreLines) {
  const auto check = [](const char* tenant, const char* authorization) {
    return CheckTarget({.url = "http://h", .tenant = tenant, .authorization = authorization});
  };
  EXPECT_TRUE(check("t", "Bearer x"));
  EXPECT_FALSE(check("t\n", ""));
  EXPECT_FALSE(check("", "Bearer x\n"));
}

}  // namespace
}  // namespace jprof::record
