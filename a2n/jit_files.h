// Reads the files that JIT compilers write for profilers: perf maps (text, /tmp/perf-PID.map) and
// jitdumps (jit-PID.dump, in the format of linux'
// tools/perf/Documentation/jitdump-specification.txt).
//
// - Both are untrusted: reading is bounded by their size and by 1 GiB.
// - The functions fail if nothing could be read.
// - Everything readable before or around damage is returned. `damage`, if given, then receives a
//   one-line description; otherwise it stays empty.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "a2n/a2n.h"
#include "common/result.h"

namespace jprof::a2n {

// Reads a perf map. It contains no times: all code is loaded at kAlways, a later line before an
// earlier one.
Result<std::vector<JittedCode>> ReadPerfMap(const std::string& path, std::string* damage = nullptr);
// Reads a jitdump. Times are those of the file: CLOCK_MONOTONIC, as perf requires. If the file
// declares processor time stamps instead, all code is loaded at kAlways.
Result<std::vector<JittedCode>> ReadJitDump(const std::string& path, std::string* damage = nullptr);

// These do the same for the content of a file.
std::vector<JittedCode> ParsePerfMap(std::string_view text, std::string& damage);
Result<std::vector<JittedCode>> ParseJitDump(std::string_view bytes, std::string& damage);

}  // namespace jprof::a2n
