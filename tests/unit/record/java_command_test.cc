#include "record/java_command.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

namespace jprof::record {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// The files of a JDK that jprof looks for.
class JavaCommandTest : public testing::Test {
 protected:
  JavaCommandTest() {
    std::string made = (fs::temp_directory_path() / "jprof-java-XXXXXX").string();
    jdk_ = mkdtemp(made.data());
    fs::create_directories(jdk_ / "bin");
    fs::create_directories(jdk_ / "lib");
    std::ofstream(jdk_ / "lib/jvm.cfg") << "-server KNOWN\n";
    for (const char* name : {"java", "javac"}) AddProgram(jdk_ / "bin" / name);
  }
  ~JavaCommandTest() override { fs::remove_all(jdk_); }

  static void AddProgram(const fs::path& path) {
    std::ofstream(path) << "#!/bin/sh\n";
    fs::permissions(path, fs::perms::owner_all);
  }
  std::string Java() const { return jdk_ / "bin/java"; }

  fs::path jdk_;
};

TEST_F(JavaCommandTest, JavaGetsTheAgentAsItsFirstArgument) {
  const auto launch = WithAgent({Java(), "-cp", "x", "Main"}, "/a/lib.so", "OUT=y", false, "-z");
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->program, Java());
  EXPECT_EQ(launch->arguments, (Words{Java(), "-agentpath:/a/lib.so=OUT=y", "-cp", "x", "Main"}));
  EXPECT_FALSE(launch->java_tool_options);
}

TEST_F(JavaCommandTest, ALinkToJavaIsJava) {
  fs::create_symlink("java", jdk_ / "bin/run");
  const auto launch = WithAgent({jdk_ / "bin/run"}, "/lib.so", "o", false, "");
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->arguments.at(1), "-agentpath:/lib.so=o");
}

TEST_F(JavaCommandTest, OtherToolsOfTheJdkTakeItAfterJ) {
  const auto launch = WithAgent({jdk_ / "bin/javac", "A.java"}, "/lib.so", "o", false, "");
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->arguments.at(1), "-J-agentpath:/lib.so=o");
}

TEST_F(JavaCommandTest, OtherProgramsAreWrongUseWithoutChildren) {
  const auto refused = WithAgent({"/bin/sh"}, "/lib.so", "o", false, "");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Error::Kind::kWrongUse);
  const auto launch = WithAgent({"/bin/sh", "-c", "x"}, "/lib.so", "o", true, "-Dx");
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->arguments, (Words{"/bin/sh", "-c", "x"}));
  EXPECT_EQ(launch->java_tool_options, "-Dx -agentpath:/lib.so=o");
}

TEST_F(JavaCommandTest, ToolOptionsAreQuotedAsTheJvmReadsThem) {
  const auto launch = WithAgent({Java()}, "/a b/'c\"d.so", "o", true, "");
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->java_tool_options, R"(-agentpath:/a" "b/"'"c'"'d.so=o)");
}

TEST_F(JavaCommandTest, AnAgentWithAnEqualsSignInItsPathIsWrongUse) {
  EXPECT_FALSE(WithAgent({Java()}, "/a=b/lib.so", "o", false, ""));
}

TEST_F(JavaCommandTest, ProgramsAreFoundByPathOrByName) {
  EXPECT_EQ(FindProgram(Java()).value(), Java());
  EXPECT_EQ(FindProgram("sh").value().filename(), "sh");
  for (const std::string name : {jdk_ / "lib/jvm.cfg", jdk_ / "bin", jdk_ / "none"}) {
    const auto found = FindProgram(name);
    ASSERT_FALSE(found) << name;
    EXPECT_EQ(found.error().kind, Error::Kind::kWrongUse);
  }
  EXPECT_FALSE(FindProgram("no-program-has-this-name"));
}

TEST(ProfileName, IsTheMainClassOrJarOfJava) {
  for (const auto& [command, name] : std::vector<std::pair<Words, std::string>>{
           {{"java", "-cp", "a.jar", "-Xmx1g", "com.acme.Main", "arg"}, "Main"},
           {{"/jdk/bin/java", "-jar", "/x/app.jar", "b.jar"}, "app"},
           {{"java", "-m", "com.acme/com.acme.Main"}, "Main"},
           {{"java", "--module=com.acme/com.acme.Main"}, "Main"},
           {{"java", "@options", "src/Hello.java"}, "Hello"},
           {{"java", "-version"}, "java"},
           {{"java", "-jar"}, "java"},
           {{"/usr/bin/make", "all"}, "make"}})
    EXPECT_EQ(ProfileName(command), name);
}

TEST(CommandText, BeginsWithTheMainClassOrJarOfJava) {
  for (const auto& [command, text] : std::vector<std::pair<Words, std::string>>{
           {{"java", "-cp", "app.jar", "com.acme.Main", "-x", "y"}, "com.acme.Main -x y"},
           {{"/jdk/bin/java", "-Xmx1g", "-jar", "/x/app.jar", "b"}, "/x/app.jar b"},
           {{"java", "--module=m/com.acme.Main", "1"}, "--module=m/com.acme.Main 1"},
           {{"java", "-version"}, "java -version"},
           {{"javac", "A.java"}, "javac A.java"},
           {{}, ""}})
    EXPECT_EQ(CommandText(command), text);
}

}  // namespace
}  // namespace jprof::record
