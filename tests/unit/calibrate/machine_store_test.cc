#include "calibrate/train/machine_store.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "calibrate/store/table_store.h"

namespace jprof::calibrate {
namespace {

namespace fs = std::filesystem;

const Fingerprint kMachine = {{"arch", "x86_64"}, {"cpu", "A"}, {"kernel", "6.1"}};

class MachineStore : public testing::Test {
 protected:
  void SetUp() override {
    std::string made = (fs::temp_directory_path() / "machine_store_XXXXXX").string();
    ASSERT_NE(mkdtemp(made.data()), nullptr);
    home_ = made;
    setenv("XDG_DATA_HOME", home_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("XDG_DATA_HOME");
    fs::remove_all(home_);
  }
  static void Write(const char* text) { std::ofstream(MachinePath(kMachine)) << text; }
  fs::path home_;
};

TEST_F(MachineStore, KeepsOneFigureForEachMachine) {
  EXPECT_FALSE(FindInterruptNanos(kMachine));
  ASSERT_TRUE(SaveInterruptNanos(kMachine, 33'000));
  EXPECT_EQ(FindInterruptNanos(kMachine), 33'000u);
  EXPECT_FALSE(FindInterruptNanos({{"arch", "x86_64"}, {"cpu", "A"}, {"kernel", "6.2"}}));
  ASSERT_TRUE(SaveInterruptNanos(kMachine, 22'000));
  EXPECT_EQ(FindInterruptNanos(kMachine), 22'000u);
}

TEST_F(MachineStore, IsNoTable) {
  ASSERT_TRUE(SaveInterruptNanos(kMachine, 33'000));
  EXPECT_NE(MachinePath(kMachine).extension(), ".json");
  EXPECT_EQ(MachinePath(kMachine).parent_path(), DataDirectory());
}

TEST_F(MachineStore, TakesNothingFromADamagedOrForeignFile) {
  ASSERT_TRUE(SaveInterruptNanos(kMachine, 33'000));
  for (const char* text : {"", "{", "[1]", "7", R"({"interrupt_ns":33000})",
                           R"({"fingerprint":{"cpu":"B"},"interrupt_ns":33000})",
                           R"({"fingerprint":{"arch":"x86_64","cpu":"A","kernel":"6.1"}})",
                           R"({"fingerprint":{"arch":"x86_64","cpu":"A","kernel":"6.1"},)"
                           R"("interrupt_ns":-5})"}) {
    Write(text);
    EXPECT_FALSE(FindInterruptNanos(kMachine)) << text;
  }
}

TEST_F(MachineStore, SaysWhereItCannotWrite) {
  std::ofstream(home_ / "jprof") << "a file where the folder would be";
  const auto saved = SaveInterruptNanos(kMachine, 1);
  ASSERT_FALSE(saved);
  EXPECT_NE(saved.error().message.find(MachinePath(kMachine).string()), std::string::npos);
}

}  // namespace
}  // namespace jprof::calibrate
