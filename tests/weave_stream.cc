// Weaves the classes of its standard input, for tests/e2e/weave_all.py.
//
//   weave_stream [--unchanged]
//
// Input: for each class its length (4 bytes, little-endian) and its bytes. Output for each class:
//   length of the woven class: 0 = unchanged, 0xffffffff = an error
//   its bytes; for an error the length of the message and the message
//   nanoseconds that weaving took
//   number of methods counted
//   number of methods skipped, for each reason of jprof::weave::SkipReason
// All numbers have 4 bytes. Counts each method with code except intrinsics, with ascending ids, and
// its locks, allocations and sites. Each fourth method may be a leaf, without locks and
// allocations.
// --unchanged: reads and writes each method without inserting anything.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jprof/weave/rewrite.h"
#include "jprof/weave/weave.h"

namespace {

using jprof::Result;
using namespace jprof::weave;

bool ReadAll(void* to, size_t size) { return std::fread(to, 1, size, stdin) == size; }
void Write(const void* from, size_t size) { std::fwrite(from, 1, size, stdout); }
void WriteNumber(uint64_t number) {
  const auto small = static_cast<uint32_t>(number);
  Write(&small, sizeof(small));
}

Result<Woven> WeaveNext(std::span<const uint8_t> bytes, bool unchanged, uint32_t& next_id) {
  if (!unchanged) {
    const auto leaves = [](uint32_t id) { return id % 4 == 3; };
    const auto decide = [&](const Method& method) {
      return method.is_intrinsic ? Decision{}
                                 : Decision{.action = Action::kCount,
                                            .id = next_id++,
                                            .leaves = leaves(next_id),
                                            .locks = !leaves(next_id),
                                            .allocations = !leaves(next_id),
                                            .sites = true};
    };
    return Weave(
        bytes, decide,
        {.of_class = [](std::string_view name) { return static_cast<uint32_t>(name.size()); },
         .of_site = [](uint32_t bci, uint32_t line) { return bci << 15 | line; }});
  }
  auto rewritten = RewriteUnchanged(bytes);
  if (!rewritten) return std::unexpected(rewritten.error());
  return Woven{.bytes = std::move(*rewritten)};
}

void WriteResult(const Result<Woven>& woven, uint64_t nanoseconds) {
  const std::string_view error = woven ? std::string_view() : woven.error().message;
  WriteNumber(woven ? woven->bytes.size() : UINT32_MAX);
  if (!woven) {
    WriteNumber(error.size());
    Write(error.data(), error.size());
  } else {
    Write(woven->bytes.data(), woven->bytes.size());
  }
  WriteNumber(nanoseconds);
  WriteNumber(woven ? woven->counted : 0);
  uint32_t skipped[kSkipReasons] = {};
  if (woven)
    for (const SkippedMethod& method : woven->skipped) ++skipped[static_cast<size_t>(method.why)];
  for (const uint32_t count : skipped) WriteNumber(count);
}

}  // namespace

int main(int argc, char** argv) {
  using Clock = std::chrono::steady_clock;
  const bool unchanged = argc > 1 && std::string_view(argv[1]) == "--unchanged";
  uint32_t next_id = 0;
  uint32_t size = 0;
  while (ReadAll(&size, sizeof(size))) {
    std::vector<uint8_t> bytes(size);
    if (!ReadAll(bytes.data(), size)) return 1;
    const auto begin = Clock::now();
    const auto woven = WeaveNext(bytes, unchanged, next_id);
    WriteResult(woven, static_cast<uint64_t>((Clock::now() - begin).count()));
    std::fflush(stdout);
  }
  return 0;
}
