#include "common/bytes.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace jprof {
namespace {

using namespace std::string_view_literals;

std::vector<uint8_t> Repeated(size_t count, uint8_t byte, uint8_t last) {
  std::vector<uint8_t> bytes(count, byte);
  bytes.push_back(last);
  return bytes;
}

// A failed cursor is empty and returns zero for every read.
void ExpectFailed(ByteCursor in) {
  EXPECT_FALSE(in.ok());
  EXPECT_TRUE(in.empty());
  EXPECT_EQ(in.Read<uint8_t>(), 0);
  EXPECT_EQ(in.ReadUleb(), 0u);
  EXPECT_EQ(in.ReadSleb(), 0);
  EXPECT_EQ(in.ReadText(), "");
  EXPECT_EQ(in.ReadBytes(1), "");
  EXPECT_FALSE(in.Part(0).ok());
}

TEST(ByteCursor, ReadsLittleEndianNumbersUpToTheEnd) {
  ByteCursor in("\x01\x02\x03\x04\x05\x06\x07\x08\xfe\xff\xff"sv);
  EXPECT_EQ(in.Read<uint64_t>(), 0x0807060504030201u);
  EXPECT_EQ(in.Read<int16_t>(), -2);
  EXPECT_EQ(in.left(), 1u);
  EXPECT_EQ(in.Read<int8_t>(), -1);
  EXPECT_TRUE(in.ok());
  EXPECT_TRUE(in.empty());
  EXPECT_EQ(in.Read<uint8_t>(), 0);
  ExpectFailed(in);
}

TEST(ByteCursor, ANumberThatIsCutOffFails) {
  for (size_t size = 0; size < sizeof(uint64_t); ++size) {
    ByteCursor in("\x01\x02\x03\x04\x05\x06\x07\x08"sv.substr(0, size));
    EXPECT_EQ(in.Read<uint64_t>(), 0u) << size;
    ExpectFailed(in);
  }
}

TEST(ByteCursor, ReadsStructsAsTheyLie) {
  struct Pair {
    uint16_t a = 7;
    uint16_t b = 7;
  };
  ByteCursor in("\x01\x00\x02\x00\x03\x00"sv);
  const auto pair = in.Read<Pair>();
  EXPECT_EQ(pair.a, 1);
  EXPECT_EQ(pair.b, 2);
  EXPECT_EQ(in.Read<Pair>().a, 7) << "a failed read returns the struct's defaults";
  ExpectFailed(in);
}

TEST(ByteCursor, TakesBytesOfEachType) {
  const std::array<uint8_t, 2> octets = {1, 2};
  const std::array<std::byte, 2> bytes = {std::byte{1}, std::byte{2}};
  EXPECT_EQ(ByteCursor(std::span<const uint8_t>(octets)).Read<uint16_t>(), 0x201);
  EXPECT_EQ(ByteCursor(std::span<const std::byte>(bytes)).Read<uint16_t>(), 0x201);
  EXPECT_TRUE(ByteCursor().ok());
  EXPECT_TRUE(ByteCursor().empty());
}

TEST(ByteCursor, Leb128) {
  const std::vector<uint8_t> bytes = {0x7f, 0x80, 0x01, 0xe5, 0x8e, 0x26, 0x3f,
                                      0x40, 0x7f, 0x80, 0x7f, 0x9b, 0xf1, 0x59};
  ByteCursor in{std::span<const uint8_t>(bytes)};
  EXPECT_EQ(in.ReadUleb(), 127u);
  EXPECT_EQ(in.ReadUleb(), 128u);
  EXPECT_EQ(in.ReadUleb(), 624485u);
  EXPECT_EQ(in.ReadSleb(), 63);
  EXPECT_EQ(in.ReadSleb(), -64);
  EXPECT_EQ(in.ReadSleb(), -1);
  EXPECT_EQ(in.ReadSleb(), -128);
  EXPECT_EQ(in.ReadSleb(), -624485);
  EXPECT_TRUE(in.ok() && in.empty());
}

TEST(ByteCursor, TheLargestLeb128) {
  const auto most = Repeated(9, 0xff, 0x01), least = Repeated(9, 0x80, 0x7f);
  EXPECT_EQ(ByteCursor(std::span<const uint8_t>(most)).ReadUleb(), ~uint64_t{0});
  EXPECT_EQ(ByteCursor(std::span<const uint8_t>(least)).ReadSleb(), INT64_MIN);
  const auto padded = Repeated(9, 0x80, 0x00);
  EXPECT_EQ(ByteCursor(std::span<const uint8_t>(padded)).ReadUleb(), 0u);
}

TEST(ByteCursor, ALeb128ThatIsCutOffOrTooLongFails) {
  for (const auto& bytes : {std::vector<uint8_t>{}, std::vector<uint8_t>{0x80},
                            std::vector<uint8_t>(9, 0xff), Repeated(10, 0x80, 0x00)}) {
    ByteCursor in{std::span<const uint8_t>(bytes)};
    EXPECT_EQ(in.ReadUleb(), 0u) << bytes.size();
    ExpectFailed(in);
  }
}

TEST(ByteCursor, TextEndsAtAZero) {
  ByteCursor in("ab\0\0cd"sv);
  EXPECT_EQ(in.ReadText(), "ab");
  EXPECT_EQ(in.ReadText(), "");
  EXPECT_TRUE(in.ok());
  EXPECT_EQ(in.rest(), "cd");
  EXPECT_EQ(in.ReadText(), "") << "no zero behind it";
  ExpectFailed(in);
}

TEST(ByteCursor, BytesAndPartsAreBounded) {
  ByteCursor in("abcdef"sv);
  EXPECT_EQ(in.ReadBytes(2), "ab");
  ByteCursor part = in.Part(3);
  EXPECT_EQ(part.rest(), "cde");
  part.Skip(4);
  ExpectFailed(part);
  EXPECT_TRUE(in.ok()) << "a part fails by itself";
  EXPECT_EQ(in.ReadBytes(1), "f");
  EXPECT_EQ(in.ReadBytes(0), "");
  EXPECT_TRUE(in.ok());
  ExpectFailed(in.Part(1));
  ExpectFailed(in);
}

TEST(ByteCursor, SizesThatWrapFail) {
  ByteCursor in("abc"sv);
  in.Skip(~uint64_t{0});
  ExpectFailed(in);
}

}  // namespace
}  // namespace jprof
