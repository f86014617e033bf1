// Any bytes as a class file. What was woven can be read and woven again, and what is rewritten
// without insertions does not change any more.
#include <cstdint>
#include <span>

#include "jprof/weave/rewrite.h"
#include "jprof/weave/weave.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace jprof::weave;
  for (const Action action : {Action::kCount, Action::kAnnounce}) {
    uint32_t id = 32760;  // also an id that is a constant
    const auto decide = [&](const Method&) {
      const bool answers = id % 2 == 0;
      return Decision{.action = action,
                      .id = id++,
                      .answers = answers,
                      .leaves = action == Action::kCount && id % 3 == 0,
                      .sites = action == Action::kCount};
    };
    const Ids ids = {.of_site = [](uint32_t bci, uint32_t line) { return bci << 15 | line; }};
    const auto woven = Weave({data, size}, decide, ids);
    if (woven && !woven->bytes.empty() && !Weave(woven->bytes, decide, ids)) __builtin_trap();
  }
  const auto once = RewriteUnchanged({data, size});
  if (!once) return 0;
  const auto twice = RewriteUnchanged(*once);
  if (!twice || *twice != *once) __builtin_trap();
  return 0;
}
