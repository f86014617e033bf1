#include "profile/files/process_context.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <new>
#include <optional>
#include <string_view>

#include "common/fd.h"
#include "common/procfs.h"
#include "profile/files/whole_file.h"

namespace jprof::profile {
namespace {

constexpr std::string_view kContextSignature = "OTEL_CTX";
constexpr uint32_t kContextVersion = 2;
constexpr uint32_t kLargestContext = 1 << 20;
constexpr int kAttempts = 100;  // the program may be changing it

struct ContextHeader {
  char signature[8] = {};
  uint32_t version = 0;
  uint32_t payload_size = 0;
  uint64_t published_at_ns = 0;  // 0 while it is being changed
  uint64_t payload = 0;          // its address
};
static_assert(sizeof(ContextHeader) == 32);

bool ReadMemory(int memory, uint64_t address, void* to, size_t bytes) {
  return pread(memory, to, bytes, static_cast<off_t>(address)) == static_cast<ssize_t>(bytes);
}

bool IsContext(const ContextHeader& header) {
  return std::string_view(header.signature, sizeof header.signature) == kContextSignature &&
         header.version == kContextVersion && header.payload_size <= kLargestContext;
}

// Reads the bytes behind a header. They are whole if the header is the same afterwards.
std::optional<std::string> ReadContext(int memory, uint64_t address) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    ContextHeader before, after;
    if (!ReadMemory(memory, address, &before, sizeof before) || !IsContext(before)) break;
    std::string bytes(before.payload_size, '\0');
    const bool is_read = before.published_at_ns != 0 &&
                         ReadMemory(memory, before.payload, bytes.data(), bytes.size()) &&
                         ReadMemory(memory, address, &after, sizeof after);
    if (is_read && std::memcmp(&before, &after, sizeof before) == 0) return bytes;
    usleep(100);
  }
  return std::nullopt;
}

bool IsNamedContext(const std::string& path) {
  return path.starts_with("/memfd:OTEL_CTX") || path.starts_with("[anon_shmem:OTEL_CTX]") ||
         path.starts_with("[anon:OTEL_CTX]");
}

}  // namespace

std::string PublishedContext(uint32_t pid) {
  const auto maps = procfs::ReadMaps(pid);
  if (!maps) return {};
  for (const procfs::Mapping& mapping : *maps) {
    if (!IsNamedContext(mapping.path)) continue;
    const Fd memory(open((procfs::Directory(pid) + "/mem").c_str(), O_RDONLY | O_CLOEXEC));
    if (auto found = ReadContext(memory.get(), mapping.start)) return *std::move(found);
  }
  return {};
}

void KeepProcessContext(const std::string& directory) {
  // This may be called while a program of C exits, which would be ended by an exception.
  try {
    const std::string context = PublishedContext(procfs::kSelf);
    if (!context.empty()) (void)WriteWholeFile(directory + "/" + kProcessContextFile, context);
  } catch (const std::bad_alloc&) {
    return;
  }
}

}  // namespace jprof::profile
