// Registers are read from files in place of the devices: the number of a register is the position
// of its eight bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "ptm/msr/device.h"
#include "ptm/msr/registers.h"
#include "tests/unit/temporary_directory.h"

namespace jprof::ptm {
namespace {

TEST(MsrRegisters, AreNamedInAnyCaseOrNumbered) {
  const auto named = ParseRegister("aperf");
  ASSERT_TRUE(named);
  EXPECT_EQ(named->name, "APERF");
  EXPECT_EQ(named->number, 0xe8u);
  EXPECT_EQ(ParseRegister("0xE8")->name, "APERF");
  EXPECT_EQ(ParseRegister("232")->name, "APERF");
  EXPECT_EQ(ParseRegister("0xc0010299")->number, 0xc0010299u);
  EXPECT_EQ(ParseRegister("0x1234")->name, "0x1234");
}

TEST(MsrRegisters, OthersAreRefusedWithTheNearestName) {
  const auto close = ParseRegister("APREF");
  ASSERT_FALSE(close);
  EXPECT_EQ(close.error().kind, Error::Kind::kWrongUse);
  EXPECT_NE(close.error().message.find("did you mean 'APERF'?"), std::string::npos);
  for (const char* text : {"", "qqqqqqqqqqqqq", "0x", "12a", "4294967296", "0x100000000", "-1"}) {
    const auto refused = ParseRegister(text);
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().kind, Error::Kind::kWrongUse) << text;
  }
}

TEST(MsrRegisters, AreInTheTableOnceWithTheirSource) {
  const auto registers = NamedRegisters();
  const auto not_above = [](const NamedRegister& a, const NamedRegister& b) {
    return a.number >= b.number;
  };
  EXPECT_EQ(std::ranges::adjacent_find(registers, not_above), registers.end());
  for (const NamedRegister& one : registers) {
    EXPECT_EQ(ParseRegister(one.name)->number, one.number);
    const std::string_view manual = one.documented.substr(0, one.documented.find(' '));
    EXPECT_TRUE(manual == "Intel" || manual == "APM" || manual == "PPR") << one.name;
    EXPECT_FALSE(one.meaning.empty());
  }
}

class MsrDevices : public ::testing::Test {
 protected:
  void Device(uint32_t processor, uint32_t number, uint64_t value) {
    const std::string folder = Folder() + "/" + std::to_string(processor);
    std::filesystem::create_directories(folder);
    std::ofstream file(folder + "/msr", std::ios::binary);
    file.seekp(number);
    file.write(reinterpret_cast<const char*>(&value), sizeof value);
  }
  std::string Folder() const { return directory_.path(); }

  TemporaryDirectory directory_{"msr"};
};

TEST_F(MsrDevices, AreReadAtThePositionOfTheRegister) {
  Device(0, 0xe8, 0x0123456789abcdef);
  Device(10, 0xe8, UINT64_MAX);
  Device(2, 0x10, 5);
  std::filesystem::create_directory(Folder() + "/microcode");
  EXPECT_EQ(MsrProcessors(Folder()), (std::vector<uint32_t>{0, 2, 10}));
  const uint32_t processors[] = {0, 10};
  const MsrRegister registers[] = {*ParseRegister("APERF"), *ParseRegister("0xe7")};
  const auto readings = ReadRegisters(Folder(), processors, registers);
  ASSERT_TRUE(readings) << readings.error().message;
  ASSERT_EQ(readings->size(), 4u);
  EXPECT_EQ((*readings)[0].value.value(), 0x0123456789abcdefu);
  EXPECT_EQ((*readings)[1].of.name, "MPERF");
  EXPECT_EQ((*readings)[1].value.value(), 0x23456789abcdef00u);
  EXPECT_EQ((*readings)[2].processor, 10u);
  EXPECT_EQ((*readings)[2].value.value(), UINT64_MAX);
}

// The memory at these addresses is not mapped, which is EIO as for a register that is not there.
TEST_F(MsrDevices, ARefusedRegisterDoesNotPreventTheOthers) {
  std::filesystem::create_directory(Folder() + "/0");
  std::filesystem::create_symlink("/proc/self/mem", Folder() + "/0/msr");
  Device(1, 0x20, 1);
  const uint32_t processors[] = {0, 1};
  const MsrRegister registers[] = {{"TSC", 0x10}, {"0x20", 0x20}};
  const auto readings = ReadRegisters(Folder(), processors, registers);
  ASSERT_TRUE(readings);
  ASSERT_FALSE((*readings)[0].value);
  EXPECT_NE((*readings)[0].value.error().message.find("TSC (0x10) is refused by processor 0"),
            std::string::npos);
  EXPECT_EQ((*readings)[3].value.value(), 1u);
}

TEST_F(MsrDevices, MissingOnesAreExplained) {
  EXPECT_TRUE(MsrProcessors(Folder() + "/none").empty());
  const uint32_t processors[] = {0};
  const MsrRegister registers[] = {{"TSC", 0x10}};
  const auto missing = ReadRegisters(Folder(), processors, registers);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, Error::Kind::kFailed);
  EXPECT_NE(missing.error().message.find("modprobe msr"), std::string::npos);
  EXPECT_NE(missing.error().message.find(Folder() + "/0/msr"), std::string::npos);
  EXPECT_NE(ExplainMsr("x", EPERM).find("CAP_SYS_RAWIO"), std::string::npos);
  EXPECT_NE(ExplainMsr("x", EACCES).find("root"), std::string::npos);
  EXPECT_NE(ExplainMsr("x", ENXIO).find("offline"), std::string::npos);
  EXPECT_NE(ExplainMsr("x", EMFILE).find("Too many open files"), std::string::npos);
}

}  // namespace
}  // namespace jprof::ptm
