#include "cpo/model/tlb_geometry.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

namespace jprof::cpo {
namespace {

// Answers by (leaf, subleaf); 0 for others.
Cpuid Answers(std::map<std::pair<uint32_t, uint32_t>, CpuidWords> answers) {
  return [answers = std::move(answers)](uint32_t leaf, uint32_t subleaf) {
    const auto found = answers.find({leaf, subleaf});
    return found == answers.end() ? CpuidWords{} : found->second;
  };
}
std::string Decoded(const Cpuid& cpuid) {
  const auto geometry = DecodeTlb(cpuid);
  return geometry ? TextOf(*geometry) : geometry.error().message;
}

constexpr CpuidWords kAmd = {0x10, 0x68747541, 0x444d4163, 0x69746e65};
CpuidWords Intel(uint32_t leaves) { return {leaves, 0x756e6547, 0x6c65746e, 0x49656e69}; }

// As an EPYC of family 19H, model 1, answers.
TEST(TlbGeometry, AmdZen3) {
  EXPECT_EQ(Decoded(Answers({{{0, 0}, kAmd},
                             {{1, 0}, {0x00a00f11}},
                             {{0x80000005, 0}, {0xff40ff40, 0xff40ff40, 0x20080140, 0x20080140}},
                             {{0x80000006, 0}, {0x48002200, 0x68004200, 0x02006140, 0x08009140}}})),
            "l1=64/full,l2=2048/8");
}

// Family 10H has an array for each size.
TEST(TlbGeometry, AmdBeforeZenIsSplit) {
  EXPECT_EQ(Decoded(Answers({{{0, 0}, kAmd},
                             {{1, 0}, {0x00100f42}},
                             {{0x80000005, 0}, {0xff30ff10, 0xff30ff20}},
                             {{0x80000006, 0}, {0x20800000, 0x42004200}}})),
            "l1-4k=48/full,l1-2m=48/full,l2-4k=512/4,l2-2m=128/2");
}

// As a Skylake answers: descriptors 63, 03, 76, FF, B5, F0, C3.
TEST(TlbGeometry, IntelDescriptors) {
  EXPECT_EQ(
      Decoded(Answers({{{0, 0}, Intel(0x16)}, {{2, 0}, {0x76036301, 0x00f0b5ff, 0, 0x00c30000}}})),
      "l1-4k=64/4,l1-2m=32/4,l2=1536/6");
}

TEST(TlbGeometry, IntelWordsWithoutDescriptorsAreIgnored) {
  EXPECT_EQ(
      Decoded(Answers({{{0, 0}, Intel(0x16)}, {{2, 0}, {0x00036301, 0x80c30000, 0, 0x00ca0000}}})),
      "l1-4k=64/4,l1-2m=32/4,l2-4k=512/4");
}

// As an Alder Lake answers: loads 96/6 and 32/4, stores 16/full, second level 2048/16, shared.
TEST(TlbGeometry, IntelLeaf18) {
  EXPECT_EQ(Decoded(Answers({{{0, 0}, Intel(0x20)},
                             {{2, 0}, {0x00fefe01, 0, 0, 0}},
                             {{0x18, 0}, {6, 0, 0, 0}},
                             {{0x18, 1}, {0, 0x00080001, 32, 0x22}},  // instructions
                             {{0x18, 2}, {0, 0x00100007, 1, 0x125}},  // stores
                             {{0x18, 3}, {0, 0x00060001, 16, 0x24}},  // loads, 4 KiB
                             {{0x18, 4}, {0, 0x00040006, 8, 0x24}},   // loads, 2 MiB, 4 MiB
                             {{0x18, 5}, {0, 0x00080001 | 6, 256, 0x43}},
                             {{0x18, 6}, {0, 0x00080009, 128, 0x43 | 0x100}}})),
            "l1-4k=96/6,l1-2m=32/4,l2=1024/full");
}

TEST(TlbGeometry, WhatIsNotDescribedIsRefused) {
  EXPECT_EQ(Decoded(Answers({{{0, 0}, Intel(0x16)}})),
            "the processor does not describe its TLB by CPUID; state it as in "
            "l1-4k=64/4,l1-2m=32/4,l2=1536/12");
}

TEST(TlbGeometry, ThisProcessorHasOne) {
  const TlbGeometry geometry = ThisTlb();
  EXPECT_GT(geometry.first.Of(false).entries, 0u);
  EXPECT_GT(geometry.first.Of(true).entries, 0u);
  EXPECT_EQ(ParseTlb(TextOf(geometry)).value(), geometry);
}

TEST(TlbGeometry, TextIsReadAsWritten) {
  for (const char* text : {"l1=64/full,l2=2048/8", "l1-4k=64/4,l1-2m=32/4,l2=1536/12", "l1=4/1",
                           "l1-4k=64/4,l1-2m=8/full,l2-4k=512/4"}) {
    EXPECT_EQ(TextOf(ParseTlb(text).value()), text);
  }
  EXPECT_EQ(TextOf(ParseTlb("l2=64/64,l1-2m=4/2,l1-4k=8/1").value()),
            "l1-4k=8/1,l1-2m=4/2,l2=64/full");
}

TEST(TlbGeometry, WrongTextsAreRefused) {
  for (const char* text : {"", "l2=64/4", "l1-4k=64/4", "l1=64", "l1=64/5", "l1=0/full", "l1=64/0",
                           "l1=64/4,l1=64/4", "l1=64/4,l1-2m=4/4", "l1-2m=4/4,l1=64/4", "l3=64/4",
                           "l1-1g=4/4", "l1=99999999999/1", "l1=-1/1", "=1/1", "l=1/1"}) {
    const auto parsed = ParseTlb(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error().kind, Error::Kind::kWrongUse);
    EXPECT_NE(parsed.error().message.find("write it as in l1-4k=64/4"), std::string::npos);
  }
}

}  // namespace
}  // namespace jprof::cpo
