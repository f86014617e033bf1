// Writes messages of profile.proto by the obvious implementation, for tests of the reader and the
// seeds of its fuzzer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jprof::profile::made {

inline std::string Varint(uint64_t value) {
  std::string text;
  for (; value >= 0x80; value >>= 7) text += static_cast<char>(value | 0x80);
  return text + static_cast<char>(value);
}
inline std::string Number(uint32_t field, uint64_t value) {
  return Varint(field << 3) + Varint(value);
}
inline std::string Bytes(uint32_t field, std::string_view bytes) {
  return Varint(field << 3 | 2) + Varint(bytes.size()) + std::string(bytes);
}

// A profile with the types samples/count and cpu/nanoseconds and a period of 10 ms. Location 1 is
// app.Work.run, with app.Work.step inlined; 2 is app.Main.main; 3 is malloc of libc.so.6.
inline std::string Pprof(bool packed = true) {
  const std::vector<std::string> texts = {"",
                                          "samples",
                                          "count",
                                          "cpu",
                                          "nanoseconds",
                                          "app.Work.run",
                                          "app/Work.step(I)V",
                                          "app.Main.main",
                                          "malloc",
                                          "/lib/libc.so.6",
                                          "thread",
                                          "worker",
                                          "src/Work.java",
                                          "app.Work.step(int)"};
  const auto sample = [&](const std::vector<uint64_t>& locations, uint64_t count, uint64_t thread) {
    std::string message;
    if (packed) {
      std::string ids;
      for (const uint64_t id : locations) ids += Varint(id);
      message = Bytes(1, ids) + Bytes(2, Varint(count) + Varint(count * 10'000'000));
    } else {
      for (const uint64_t id : locations) message += Number(1, id);
      message += Number(2, count) + Number(2, count * 10'000'000);
    }
    if (thread != 0) message += Bytes(3, Number(1, 10) + Number(2, thread));
    return Bytes(2, message);
  };
  std::string out = Bytes(1, Number(1, 1) + Number(2, 2)) + Bytes(1, Number(1, 3) + Number(2, 4));
  out += sample({1, 2}, 3, 11) + sample({3, 1, 2}, 1, 0);
  out += Bytes(3, Number(1, 1) + Number(5, 9));
  const auto line = [](uint64_t function, uint64_t number) {
    return Bytes(4, Number(1, function) + Number(2, number));
  };
  out += Bytes(4, Number(1, 1) + line(2, 5) + line(1, 42));
  out += Bytes(4, Number(1, 2) + line(3, 7));
  out += Bytes(4, Number(1, 3) + Number(2, 1) + line(4, 0));
  out += Bytes(5, Number(1, 1) + Number(2, 5) + Number(4, 12));
  out += Bytes(5, Number(1, 2) + Number(2, 13) + Number(3, 6) + Number(4, 12));
  out += Bytes(5, Number(1, 3) + Number(2, 7));
  out += Bytes(5, Number(1, 4) + Number(2, 8));
  for (const std::string& text : texts) out += Bytes(6, text);
  out += Number(9, 1'700'000'000'000'000'000) + Number(10, 2'000'000'000);
  return out + Bytes(11, Number(1, 3) + Number(2, 4)) + Number(12, 10'000'000);
}

}  // namespace jprof::profile::made
