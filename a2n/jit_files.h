// What JIT compilers leave for profilers: perf maps (text, /tmp/perf-PID.map) and jitdumps
// (jit-PID.dump, in the format of linux' tools/perf/Documentation/jitdump-specification.txt). Both
// may be damaged or hostile: reading them is bounded by their size and 1 GiB. Error: nothing could
// be read. What could be read before or around damage is given, and `damage`, if there is one, says
// in a line what was wrong; it stays empty otherwise.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "a2n/a2n.h"
#include "common/result.h"

namespace jprof::a2n {

// No times are known: code is there from kAlways on, a later line before an earlier one.
Result<std::vector<JittedCode>> ReadPerfMap(const std::string& path, std::string* damage = nullptr);
// Times are the file's, CLOCK_MONOTONIC as perf wants it, unless it says that they are the
// processor's: then kAlways.
Result<std::vector<JittedCode>> ReadJitDump(const std::string& path, std::string* damage = nullptr);

// The same, of what was read.
std::vector<JittedCode> ParsePerfMap(std::string_view text, std::string& damage);
Result<std::vector<JittedCode>> ParseJitDump(std::string_view bytes, std::string& damage);

}  // namespace jprof::a2n
