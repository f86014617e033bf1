// libFuzzer: the logs of a recording: samples, the JVM's log of its code, branches, or references
// to memory. The low bits of the first byte select which; bit 2 states that the checks of packets
// stay as they are.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "profile/log/branch_log.h"
#include "profile/log/jit_log.h"
#include "profile/log/memory_log.h"
#include "profile/log/sample_log.h"

namespace {

using namespace jprof::profile;

// Corrects the checks of all packets: otherwise no changed byte would reach a decoder.
void RepairChecks(std::string& bytes) {
  size_t at = sizeof(LogHeader);
  while (at + sizeof(LogPacket) <= bytes.size()) {
    LogPacket packet;
    std::memcpy(&packet, bytes.data() + at, sizeof(packet));
    const size_t begin = at + sizeof(packet);
    if (packet.bytes % 8 != 0 || packet.bytes > bytes.size() - begin) return;
    const std::string_view content(bytes.data() + begin, packet.bytes);
    SealPacket(packet, {&content, 1});
    std::memcpy(bytes.data() + at, &packet, sizeof(packet));
    at = begin + packet.bytes;
  }
}

void TryJitLog(const std::string& bytes) {
  const auto log = ParseJitLog(bytes);
  if (!log) return;
  size_t sum = 0;
  for (const auto& code : log->code) {
    if (code.loaded >= code.unloaded) std::abort();  // an interval is never empty
    sum += code.name.size() + code.code.size() + code.lines.size();
  }
  if (sum > bytes.size() * 8) std::abort();
}

// The bytes that an event's views show.
size_t ViewedBytes(const CodeMapped& map) { return map.path.size() + map.build_id.size(); }
size_t ViewedBytes(const ThreadNamed& named) { return named.name.size(); }
size_t ViewedBytes(const SampleTaken& sample) { return sample.chain.size_bytes(); }
size_t ViewedBytes(const auto&) { return 0; }

void TrySamples(const std::string& bytes) {
  const auto log = SampleLog::Parse({bytes, "fuzz"});
  if (!log) return;
  size_t sum = 0;
  uint64_t last = 0;
  for (const auto& entry : log->entries()) {
    sum += std::visit([](const auto& event) { return ViewedBytes(event); }, entry.event);
    if (entry.time < last) std::abort();  // records must be in order
    last = entry.time;
  }
  if (sum > bytes.size()) std::abort();
}

void TryBranches(const std::string& bytes) {
  const auto log = BranchLog::Parse({bytes, "fuzz"});
  if (log && log->records() != log->All().size()) std::abort();
}

void TryReferences(const std::string& bytes) {
  const auto log = MemoryLog::Parse({bytes, "fuzz"});
  if (!log) return;
  uint64_t count = 0;
  log->ForEach([&count](const MemoryReference&) { ++count; });
  if (count != log->records()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  if ((data[0] & 4) == 0) RepairChecks(bytes);
  constexpr void (*kTries[])(const std::string&) = {TrySamples, TryJitLog, TryBranches,
                                                    TryReferences};
  kTries[data[0] & 3](bytes);
  return 0;
}
