// libFuzzer: the files of a tprof recording: the samples, or the JVM's log of its code. The first
// byte selects which.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "profile/log/jit_log.h"
#include "profile/log/sample_log.h"

namespace {

using namespace jprof::profile;

// The bytes that an event's views show.
size_t ViewedBytes(const CodeMapped& map) { return map.path.size() + map.build_id.size(); }
size_t ViewedBytes(const ThreadNamed& named) { return named.name.size(); }
size_t ViewedBytes(const SampleTaken& sample) { return sample.chain.size_bytes(); }
size_t ViewedBytes(const auto&) { return 0; }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  if (data[0] & 1) {
    const auto log = jprof::profile::ParseJitLog(bytes);
    if (!log) return 0;
    size_t sum = 0;
    for (const auto& code : log->code) {
      if (code.loaded >= code.unloaded) std::abort();  // an interval is never empty
      sum += code.name.size() + code.code.size() + code.lines.size();
    }
    if (sum > bytes.size() * 8) std::abort();
    return 0;
  }
  const auto log = jprof::profile::SampleLog::Parse(bytes, "fuzz");
  if (!log) return 0;
  size_t sum = 0;
  uint64_t last = 0;
  for (const auto& entry : log->entries()) {
    sum += std::visit([](const auto& event) { return ViewedBytes(event); }, entry.event);
    if (entry.time < last) std::abort();  // records must be in order
    last = entry.time;
  }
  if (sum > bytes.size()) std::abort();
  return 0;
}
