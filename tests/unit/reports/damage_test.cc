// Damaged profiles: every report of every flipped, cut or missing byte ends with an answer, not a
// crash. Worth most under asan-ubsan.
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "tests/unit/reports/demo_profile.h"
#include "tests/unit/reports/lock_profile.h"

namespace jprof::reports {
namespace {

namespace fs = std::filesystem;

class Damage : public testing::Test {
 protected:
  Damage()
      : directory_(fs::path(testing::TempDir()) /
                   ("damage-" + std::to_string(getpid()) + ".jprof")) {
    fs::remove_all(directory_);
    RandomProfile(5, 3, 150, /*with_trace=*/true).Write(directory_);
    for (const char* name : {profile::kControlFile, profile::kNodesFile, profile::kMethodsFile,
                             profile::kTraceFile, profile::kMetaFile}) {
      std::ifstream file(directory_ / name, std::ios::binary);
      files_[name].assign(std::istreambuf_iterator<char>(file), {});
    }
  }
  ~Damage() override { fs::remove_all(directory_); }

  void Save(const std::string& name, const std::string& bytes) {
    std::ofstream(directory_ / name, std::ios::binary) << bytes;
  }

  // All reports, in the format the round gives; JSON must still be JSON.
  void PrintAll(int round) {
    const Format format = static_cast<Format>(round % 3);
    for (const Report& report : Reports()) {
      if (!PrintsProfiles(report)) continue;
      const Printed printed = Print(report.name, directory_,
                                    {.format = format,
                                     .merged = round % 2 == 0,
                                     .min_percent = round % 5 == 0 ? 1.0 : 0,
                                     .cumulative = round % 7 == 0},
                                    DemoTable(1));
      if (!printed.result) {
        EXPECT_GT(printed.result.error().message.size(), 10u);
      } else if (format == Format::kJson) {
        EXPECT_TRUE(nlohmann::json::accept(printed.text)) << report.name << " in round " << round;
      }
    }
  }

  const fs::path directory_;
  std::map<std::string, std::string> files_;
  std::mt19937 random_{11};
};

// The trace file has 32 KiB blocks that are mostly unused: flips go where the bytes are.
size_t UsedBytes(const std::string& name, const std::string& bytes) {
  return name == profile::kTraceFile ? std::min<size_t>(bytes.size(), 1000) : bytes.size();
}

#ifdef JPROF_SANITIZED
constexpr int kFlipRounds = 500;  // six times as slow
#else
constexpr int kFlipRounds = 2000;
#endif

TEST_F(Damage, FlippedBytes) {
  std::vector<std::string> names;
  for (const auto& [name, bytes] : files_) names.push_back(name);
  for (int round = 0; round < kFlipRounds; ++round) {
    const std::string& name = names[random_() % names.size()];
    std::string bytes = files_[name];
    for (unsigned flips = 1 + random_() % 4; flips > 0; --flips) {
      // In `control` only the header and the records matter; half of the flips go to the header.
      size_t at = random_() % UsedBytes(name, bytes);
      if (name == profile::kControlFile && random_() % 2 == 0)
        at = random_() % sizeof(profile::ControlHeader);
      bytes[at] = static_cast<char>(random_() % 3 == 0 ? 0xff : random_());
    }
    Save(name, bytes);
    PrintAll(round);
    Save(name, files_[name]);
  }
}

TEST_F(Damage, CutAndMissingFiles) {
  for (int round = 0; round < 400; ++round) {
    for (const auto& [name, bytes] : files_) {
      if (random_() % 3 != 0) continue;
      random_() % 20 == 0 ? (void)fs::remove(directory_ / name)
                          : Save(name, bytes.substr(0, random_() % bytes.size()));
    }
    PrintAll(round);
    for (const auto& [name, bytes] : files_) Save(name, bytes);
  }
}

TEST_F(Damage, RelationsOfLocksOfAnyBytes) {
  fs::remove_all(directory_);
  LockProfile demo = DemoLocks();
  demo.made().locks.resize(40);
  demo.Write(directory_);
  for (int round = 0; round < 400; ++round) {
    std::string bytes(40 * sizeof(profile::LockEdge), '\0');
    for (char& byte : bytes) {
      const unsigned kind = random_() % 8;  // most nodes exist, or nearly
      byte = static_cast<char>(kind == 0 ? random_() : kind < 3 ? random_() % 12 : 0);
    }
    Save(profile::kLocksFile, bytes);
    PrintAll(round);
  }
}

TEST_F(Damage, IsNamedInTheReport) {
  Save(profile::kNodesFile, files_[profile::kNodesFile].substr(0, 1000));
  const Printed text = Print("log-rt", directory_, {});
  EXPECT_NE(text.text.find(
                "quality   poor: damaged: nodes: cut off: call tree nodes are missing: 15 of "),
            std::string::npos);
  const auto json =
      nlohmann::json::parse(Print("log-rt", directory_, {.format = Format::kJson}).text);
  EXPECT_EQ(json["damages"].size(), 1u);
}

}  // namespace
}  // namespace jprof::reports
