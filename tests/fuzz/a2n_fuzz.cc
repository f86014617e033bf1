// libFuzzer: parses any bytes as each format that a2n/ parses itself: perf maps, jitdumps,
// /proc/PID/maps, kallsyms. Adds the result to a Resolver and resolves addresses. There must be no
// crash, no sanitizer report and no endless loop.
#include <string>
#include <string_view>

#include "a2n/a2n.h"
#include "a2n/jit_files.h"
#include "a2n/kallsyms.h"
#include "a2n/proc_maps.h"

namespace {

using namespace jprof::a2n;

void Ask(std::vector<JittedCode> codes) {
  Resolver resolver;
  std::vector<std::pair<uint64_t, Nanos>> questions;
  for (JittedCode& code : codes) {
    for (const Nanos when : {code.loaded, code.unloaded - 1, code.unloaded})
      questions.insert(questions.end(), {{code.start, when}, {code.start + code.length - 1, when}});
    resolver.Jitted(1, std::move(code));
  }
  for (const auto& [address, when] : questions) {
    if (address >> 63 != 0) continue;  // a kernel address
    resolver.Frames(1, address, when);
    resolver.Code(1, address, 64, when);
  }
}

}  // namespace

// The first byte selects the parser.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::string damage;
  switch (data[0] % 4) {
    case 0:
      Ask(ParsePerfMap(bytes, damage));
      break;
    case 1:
      if (auto codes = ParseJitDump(bytes, damage)) Ask(std::move(*codes));
      break;
    case 2:
      for (const Mapping& mapping : ParseMaps(bytes)) {
        if (mapping.length == 0) __builtin_trap();
      }
      break;
    case 3:
      if (const auto kernel = KernelSymbols::Parse(bytes)) {
        for (uint64_t shift = 0; shift < 64; ++shift) {
          const auto* symbol = kernel->Find(~uint64_t{0} << shift);
          if (symbol != nullptr && kernel->NameOf(*symbol).empty()) __builtin_trap();
        }
      }
      break;
  }
  return 0;
}
