#include "jprof/unwind/kernel_functions.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <utility>

namespace jprof::unwind {
namespace {

constexpr char kKernel[] = "vmlinux";

}  // namespace

bool KernelFunctions::Read(const char* path) {
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return false;
  text_.assign(kKernel, sizeof kKernel);
  std::string_view module;  // of the previous line: modules are contiguous
  uint32_t module_at = 0;
  char line[1024];
  while (std::fgets(line, sizeof line, file) != nullptr) {  // "ffffffff81000000 T _stext\t[module]"
    line[std::strcspn(line, "\n")] = '\0';
    uint64_t start = 0;
    const auto [end, problem] = std::from_chars(line, line + std::strlen(line), start, 16);
    if (problem != std::errc() || start == 0 || std::strlen(end) < 4) continue;
    if ((end[1] | 0x20) != 't' && (end[1] | 0x20) != 'w') continue;
    char* const name = const_cast<char*>(end) + 3;
    char* const tab = std::strchr(name, '\t');
    if (tab != nullptr) *tab = '\0';
    const std::string_view here = tab != nullptr ? tab + 1 : "";
    if (here != module) {
      module_at = here.empty() ? 0 : static_cast<uint32_t>(text_.size());
      if (!here.empty()) text_.append(here).push_back('\0');
      module = std::string_view(text_).substr(module_at, here.size());
    }
    functions_.push_back({start, static_cast<uint32_t>(text_.size()), module_at});
    text_.append(name).push_back('\0');
    module =
        here.empty() ? std::string_view() : std::string_view(text_).substr(module_at, here.size());
  }
  std::fclose(file);
  // Functions with equal starts are in the order of the file. A stable sort would allocate a
  // buffer.
  std::ranges::sort(functions_, {},
                    [](const Entry& entry) { return std::pair(entry.start, entry.name); });
  text_.shrink_to_fit();
  ready_.store(!functions_.empty(), std::memory_order_release);
  return !functions_.empty();
}

KernelFunctions::Function KernelFunctions::At(uint64_t address) const {
  if (!ready_.load(std::memory_order_acquire)) return {};
  const auto after = std::ranges::upper_bound(functions_, address, {}, &Entry::start);
  if (after == functions_.begin()) return {};
  const Entry& entry = after[-1];
  return {entry.start, text_.data() + entry.name, text_.data() + entry.module};
}

}  // namespace jprof::unwind
