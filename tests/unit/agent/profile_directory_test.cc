#include "jprof/setup/profile_directory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace jprof::agent {
namespace {

namespace fs = std::filesystem;

class ProfileDirectory : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "jprof-directory-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    options_.out = folder_ / "p.jprof";
  }
  void TearDown() override { fs::remove_all(folder_); }
  size_t Made() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
  options::AgentOptions options_;
};

TEST_F(ProfileDirectory, IsMade) {
  EXPECT_EQ(setup::MakeProfileDirectory(options_).value(), options_.out);
  EXPECT_TRUE(fs::is_directory(options_.out));
}

TEST_F(ProfileDirectory, ThatIsTakenIsAnError) {
  fs::create_directory(options_.out);
  const auto made = setup::MakeProfileDirectory(options_);
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().message,
            "cannot make the profile directory " + options_.out + ": File exists");
}

TEST_F(ProfileDirectory, ThatIsTakenMakesOnlyIfFreeDoNothing) {
  options_.only_if_free = true;
  fs::create_directory(options_.out);
  EXPECT_EQ(setup::MakeProfileDirectory(options_).value(), "");
  EXPECT_EQ(Made(), 1u);
}

TEST_F(ProfileDirectory, OfAllChildrenContainsOneForEach) {
  options_.children = options::Children::kAll;
  const std::string first = setup::MakeProfileDirectory(options_).value();
  EXPECT_EQ(first, options_.out + "/agent_test-" + std::to_string(getpid()));
  EXPECT_EQ(setup::MakeProfileDirectory(options_).value(), first + "-2")
      << "the process executed another";
  EXPECT_EQ(Made(), 1u);
}

TEST_F(ProfileDirectory, OfAllChildrenIsNotMadeInAProfile) {
  options_.children = options::Children::kAll;
  fs::create_directory(options_.out);
  std::ofstream(fs::path(options_.out) / "control") << "x";
  const auto made = setup::MakeProfileDirectory(options_);
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().message,
            "cannot make the profile directory " + options_.out + ": File exists");
}

TEST_F(ProfileDirectory, OfTheFirstChildIsNotShared) {
  options_.children = options::Children::kFirst;
  EXPECT_EQ(setup::MakeProfileDirectory(options_).value(), options_.out);
  EXPECT_EQ(setup::MakeProfileDirectory(options_).value(), "");
  EXPECT_EQ(Made(), 1u);
}

TEST_F(ProfileDirectory, NamesThePathAndTheReason) {
  options_.out = folder_ / "none" / "p.jprof";
  EXPECT_EQ(setup::MakeProfileDirectory(options_).error().message,
            "cannot make the profile directory " + options_.out + ": No such file or directory");
}

// Several processes that start at the same moment.
TEST_F(ProfileDirectory, OfProcessesThatStartAtOnceIsEachItsOwn) {
  options_.children = options::Children::kAll;
  constexpr int kRounds = 50;
  constexpr size_t kProcesses = 4;
  for (int round = 0; round < kRounds; ++round) {
    options_.out = folder_ / ("p" + std::to_string(round));
    int gate[2];
    ASSERT_EQ(pipe(gate), 0);
    std::vector<pid_t> children;
    for (size_t i = 0; i < kProcesses; ++i) {
      children.push_back(fork());
      if (children.back() != 0) continue;
      close(gate[1]);
      char byte;
      while (read(gate[0], &byte, 1) > 0) {
      }
      _exit(setup::MakeProfileDirectory(options_).has_value() ? 0 : 1);
    }
    close(gate[0]);
    close(gate[1]);  // releases all processes
    for (const pid_t child : children) {
      int status = -1;
      waitpid(child, &status, 0);
      EXPECT_EQ(status, 0) << "round " << round;
    }
  }
  size_t profiles = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder_))
    profiles += entry.path().parent_path() != folder_;
  EXPECT_EQ(profiles, kRounds * kProcesses);
}

}  // namespace
}  // namespace jprof::agent
