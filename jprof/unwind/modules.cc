#include "jprof/unwind/modules.h"

#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

#include "common/loaded_objects.h"

namespace jprof::unwind {
namespace {

using Segments = std::span<const ElfW(Phdr)>;

std::string OwnPath() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return {path, static_cast<size_t>(std::max<ssize_t>(length, 0))};
}

CodeRange RangeOf(const ElfW(Phdr) & segment, uint64_t bias) {
  const uint64_t low = bias + segment.p_vaddr;
  return {low, low + segment.p_memsz};
}

// Returns the bytes from `address` to the end of the readable segment that contains it.
std::span<const uint8_t> BytesFrom(uint64_t address, Segments segments, uint64_t bias) {
  for (const ElfW(Phdr) & segment : segments) {
    const CodeRange range = RangeOf(segment, bias);
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_R) == 0) continue;
    if (address >= range.low && address < range.high) {
      return {reinterpret_cast<const uint8_t*>(address), range.high - address};
    }
  }
  return {};
}

// Returns the address of .eh_frame, or 0 if it is not known. The index begins with a version, three
// encodings and that address (LSB Core 10.6.2).
uint64_t EhFrameAddress(FrameBytes index) {
  const auto version = index.Read<uint8_t>();
  const auto encoding = index.Read<uint8_t>();
  index.Skip(2);
  const uint64_t address = index.ReadPointer(encoding);
  return version == 1 && index.ok() ? address : 0;
}

std::string PathOf(const dl_phdr_info& info, const CodeRange& span) {
  const uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
  if (vdso >= span.low && vdso < span.high) return "[vdso]";
  return info.dlpi_name == nullptr || *info.dlpi_name == '\0' ? OwnPath() : info.dlpi_name;
}

Module ModuleOf(const dl_phdr_info& info) {
  Module module;
  module.bias = info.dlpi_addr;
  module.span = {~uint64_t{0}, 0};
  const Segments segments(info.dlpi_phdr, info.dlpi_phnum);
  for (const ElfW(Phdr) & segment : segments) {
    const CodeRange range = RangeOf(segment, module.bias);
    if (segment.p_type == PT_GNU_EH_FRAME) {
      const auto bytes = BytesFrom(range.low, segments, module.bias);
      module.index = bytes.first(std::min<uint64_t>(bytes.size(), segment.p_memsz));
    }
    if (segment.p_type != PT_LOAD) continue;
    module.span = {std::min(module.span.low, range.low), std::max(module.span.high, range.high)};
    if ((segment.p_flags & PF_X) != 0) module.code.push_back(range);
  }
  const uint64_t frames =
      EhFrameAddress({module.index, reinterpret_cast<uint64_t>(module.index.data())});
  module.eh_frame = {BytesFrom(frames, segments, module.bias), frames};
  module.path = PathOf(info, module.span);
  return module;
}

}  // namespace

bool ForEachModule(ModuleCounts& counts, const std::function<void(const Module&)>& visit) {
  ModuleCounts now = counts;
  bool started = false;
  ForEachLoadedObject([&](const dl_phdr_info& info) {
    now = {info.dlpi_adds, info.dlpi_subs};
    if (!started && now == counts) return true;
    started = true;
    visit(ModuleOf(info));
    return false;
  });
  counts = now;
  return started;
}

}  // namespace jprof::unwind
