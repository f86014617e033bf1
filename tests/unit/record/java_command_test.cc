#include "record/run/java_command.h"

#include <elf.h>
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
  const auto launch =
      WithAgent({Java(), "-cp", "x", "Main"}, "/a/lib.so", "OUT=y", {.tool_options = "-z"});
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->program, Java());
  EXPECT_EQ(launch->arguments, (Words{Java(), "-agentpath:/a/lib.so=OUT=y", "-cp", "x", "Main"}));
  EXPECT_FALSE(launch->java_tool_options);
}

TEST_F(JavaCommandTest, ALinkToJavaIsJava) {
  fs::create_symlink("java", jdk_ / "bin/run");
  const auto launch = WithAgent({jdk_ / "bin/run"}, "/lib.so", "o", {});
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->arguments.at(1), "-agentpath:/lib.so=o");
}

// The program consists only of the name of its dynamic linker.
TEST_F(JavaCommandTest, AJavaOnMuslIsNotStarted) {
  const auto launch = [&](std::string linker, const char* magic = ELFMAG) {
    Elf64_Ehdr header = {};
    std::copy_n(magic, SELFMAG, header.e_ident);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_phoff = sizeof header;
    header.e_phnum = 2;
    const Elf64_Phdr parts[] = {{.p_type = PT_PHDR},
                                {.p_type = PT_INTERP,
                                 .p_offset = sizeof header + 2 * sizeof(Elf64_Phdr),
                                 .p_filesz = linker.size() + 1}};
    std::ofstream file(jdk_ / "bin/java", std::ios::binary);
    file.write(reinterpret_cast<const char*>(&header), sizeof header);
    file.write(reinterpret_cast<const char*>(parts), sizeof parts);
    file.write(linker.c_str(), static_cast<std::streamsize>(linker.size() + 1));
    file.close();
    return WithAgent({Java()}, "/lib.so", "o", {});
  };
  const auto refused = launch("/lib/ld-musl-x86_64.so.1");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("runs on musl: jprof's agent needs glibc"),
            std::string::npos)
      << refused.error().message;
  EXPECT_TRUE(launch("/lib64/ld-linux-x86-64.so.2"));
  EXPECT_TRUE(launch("/lib/ld-musl-x86_64.so.1", "#!/b")) << "a script";
}

TEST_F(JavaCommandTest, OtherToolsOfTheJdkTakeItAfterJ) {
  const auto launch = WithAgent({jdk_ / "bin/javac", "A.java"}, "/lib.so", "o", {});
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->arguments.at(1), "-J-agentpath:/lib.so=o");
}

TEST_F(JavaCommandTest, TheJvmsOfOtherProgramsAreRecordedUnlessChosenOtherwise) {
  using enum options::Children;
  for (const auto& [chosen, java, other] :
       {std::tuple{kAuto, kNo, kAll}, {kNo, kNo, kNo}, {kFirst, kNo, kFirst}, {kAll, kAll, kAll}}) {
    EXPECT_EQ(ChildrenOf({Java()}, chosen), java);
    EXPECT_EQ(ChildrenOf({jdk_ / "bin/javac"}, chosen), java);
    EXPECT_EQ(ChildrenOf({"/bin/sh"}, chosen), other);
  }
}

TEST_F(JavaCommandTest, OtherProgramsAreWrongUseWithoutTheEnvironment) {
  const auto refused = WithAgent({"/bin/sh"}, "/lib.so", "o", {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Error::Kind::kWrongUse);
  const auto launch = WithAgent({"/bin/sh", "-c", "x"}, "/lib.so", "o",
                                {.environment = true, .tool_options = "-Dx"});
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->arguments, (Words{"/bin/sh", "-c", "x"}));
  EXPECT_EQ(launch->java_tool_options, "-Dx -agentpath:/lib.so=o");
  EXPECT_TRUE(launch->environment.empty());
}

TEST_F(JavaCommandTest, FunctionsThatTakeLocksAreReplacedBesideTheHooks) {
  const auto launch =
      WithAgent({"/bin/ls"}, "/jprof/lib.so", "locks", {.hooks = true, .locks = true});
  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_EQ(launch->environment.back(),
            (std::pair<std::string, std::string>("LD_PRELOAD",
                                                 "/jprof/lib.so:/jprof/libjprof_locks.so")));
}

TEST_F(JavaCommandTest, HooksArePreloadedAfterWhatIsPreloadedAlready) {
  using Variables = std::vector<std::pair<std::string, std::string>>;
  const auto launch = WithAgent({"/bin/sh"}, "/lib.so", "o",
                                {.hooks = true, .preload = "/x.so", .asan_options = "a=1"});
  ASSERT_TRUE(launch);
  EXPECT_FALSE(launch->java_tool_options);
  EXPECT_EQ(launch->environment, (Variables{{"JPROF_HOOKS", "o"},
                                            {"ASAN_OPTIONS", "a=1:verify_asan_link_order=0"},
                                            {"LD_PRELOAD", "/x.so:/lib.so"}}));
  const auto java = WithAgent({Java()}, "/lib.so", "o", {.hooks = true});
  ASSERT_TRUE(java);
  EXPECT_EQ(java->arguments.at(1), "-agentpath:/lib.so=o");
  EXPECT_EQ(java->environment, (Variables{{"JPROF_HOOKS", "o"},
                                          {"ASAN_OPTIONS", "verify_asan_link_order=0"},
                                          {"LD_PRELOAD", "/lib.so"}}));
}

TEST_F(JavaCommandTest, ToolOptionsAreQuotedAsTheJvmReadsThem) {
  const auto launch = WithAgent({Java()}, "/a b/'c\"d.so", "o", {.environment = true});
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->java_tool_options, R"(-agentpath:/a" "b/"'"c'"'d.so=o)");
}

TEST_F(JavaCommandTest, AnAgentWithAnEqualsSignInItsPathIsWrongUse) {
  EXPECT_FALSE(WithAgent({Java()}, "/a=b/lib.so", "o", {}));
  EXPECT_FALSE(WithAgent({"/bin/sh"}, "/a b/lib.so", "o", {.hooks = true}));
  EXPECT_FALSE(WithAgent({"/bin/sh"}, "/a:b/lib.so", "o", {.hooks = true}));
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

}  // namespace
}  // namespace jprof::record
