// The VM's compressed tables of lines, against an encoder.
#include "jprof/hotspot/vm/line_table.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

namespace jprof::hotspot {
namespace {

void PutNumber(std::vector<uint8_t>& out, int32_t value, Coding coding) {
  const uint32_t excluded = coding == Coding::kNoZeros ? 1 : 0;
  const uint32_t low = 256 - 64 - excluded;  // bytes below it (plus `excluded`) end a number
  uint32_t sum = (static_cast<uint32_t>(value) << 1) ^ static_cast<uint32_t>(value >> 31);
  for (int i = 0; i < 4 && sum >= low; ++i) {
    sum -= low;
    out.push_back(static_cast<uint8_t>(excluded + low + sum % 64));
    sum /= 64;
  }
  out.push_back(static_cast<uint8_t>(excluded + sum));
}

std::vector<uint8_t> Encoded(const std::vector<std::pair<int, int>>& table, Coding coding) {
  std::vector<uint8_t> out;
  int bci = 0, line = 0;
  for (const auto& [at, of] : table) {
    const int bytes = at - bci, lines = of - line;
    if (bytes >= 0 && bytes < 31 && lines >= 0 && lines < 8 && (bytes != 0 || lines != 0)) {
      out.push_back(static_cast<uint8_t>(bytes << 3 | lines));
    } else {
      out.push_back(0xff);
      PutNumber(out, bytes, coding);
      PutNumber(out, lines, coding);
    }
    bci = at;
    line = of;
  }
  out.push_back(0);
  return out;
}

// The oracle: the entry with the greatest bytecode at or before, the first of equal ones.
uint32_t LineOf(const std::vector<std::pair<int, int>>& table, int bci) {
  int best = -1, line = 0;
  for (const auto& [at, of] : table) {
    if (at > bci || at <= best) continue;
    best = at;
    line = of;
  }
  return static_cast<uint32_t>(line);
}

int Below(std::mt19937& random, uint32_t limit) { return static_cast<int>(random() % limit); }

TEST(LineTable, AgreesWithTheOracle) {
  std::mt19937 random(3);
  for (const Coding coding : {Coding::kAllBytes, Coding::kNoZeros}) {
    for (int round = 0; round < 300; ++round) {
      std::vector<std::pair<int, int>> table;
      int bci = 0;
      for (int i = 0, count = 1 + Below(random, 40); i < count; ++i) {
        table.emplace_back(bci, 1 + Below(random, round % 3 == 0 ? 60000 : 40));
        bci += 1 + Below(random, round % 5 == 0 ? 2000 : 12);
        if (round % 7 == 0) bci = Below(random, 3000);  // in any order
      }
      const std::vector<uint8_t> bytes = Encoded(table, coding);
      for (int at = 0; at < 3000; at += 1 + Below(random, 50)) {
        ASSERT_EQ(
            LineIn(bytes.data(), bytes.data() + bytes.size(), coding, static_cast<uint32_t>(at)),
            LineOf(table, at))
            << round << " " << at;
      }
    }
  }
}

TEST(LineTable, AnyBytesEnd) {
  std::mt19937 random(4);
  for (int round = 0; round < 20000; ++round) {
    std::vector<uint8_t> bytes(random() % 40);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random() % 3 == 0 ? 0xff : random());
    for (const Coding coding : {Coding::kAllBytes, Coding::kNoZeros})
      EXPECT_LE(LineIn(bytes.data(), bytes.data() + bytes.size(), coding,
                       static_cast<uint32_t>(Below(random, 70000))),
                0xffffu);
  }
}

}  // namespace
}  // namespace jprof::hotspot
