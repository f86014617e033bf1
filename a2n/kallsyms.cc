#include "a2n/kallsyms.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "a2n/small_file.h"

namespace jprof::a2n {
namespace {

constexpr uint64_t kPage = 4096;
constexpr std::string_view kBlank{" \t\r\0", 4};
constexpr size_t kMostTextBytes = size_t{256} << 20;

struct Line {
  uint64_t address = 0;
  char type = 0;
  std::string_view name, module;
};

// Parses "ffffffff81000000 T _stext" or "ffffffffc0201000 t init_once\t[ext4]".
bool ParseLine(std::string_view text, Line& line) {
  const char* end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, line.address, 16);
  if (error != std::errc() || end - after < 4 || after[0] != ' ' || after[2] != ' ') return false;
  line.type = after[1];
  line.name = {after + 3, end};
  line.module = {};
  const size_t blank = line.name.find_first_of(kBlank);
  if (blank != std::string_view::npos) {
    line.module =
        line.name.substr(std::min(line.name.find_first_not_of(kBlank, blank), line.name.size()));
    line.name = line.name.substr(0, blank);
  }
  return true;
}

bool IsText(char type) { return type == 't' || type == 'T' || type == 'w' || type == 'W'; }

}  // namespace

Result<KernelSymbols> KernelSymbols::Parse(std::string_view text) {
  if (text.size() > kMostTextBytes) return Fail("it is too long for a list of symbols");
  KernelSymbols kernel;
  std::map<std::string, uint32_t, std::less<>> modules = {{"vmlinux", 0}};
  kernel.modules_ = {"vmlinux"};
  struct Start {
    Symbol symbol;
    char type;
  };
  std::vector<Start> starts;
  bool all_zero = true;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    Line line;
    if (ParseLine(text.substr(at, end - at), line) && !line.name.empty()) {
      all_zero &= line.address == 0;
      if (line.address != 0) {
        uint32_t module = 0;
        if (!line.module.empty()) {
          const auto [place, made] =
              modules.try_emplace(std::string(line.module), kernel.modules_.size());
          if (made) kernel.modules_.emplace_back(line.module);
          module = place->second;
        }
        starts.push_back(
            {{line.address, 0, static_cast<uint32_t>(kernel.names_.size()), module}, line.type});
        if (IsText(line.type)) kernel.names_.append(line.name) += '\0';
      }
    }
    at = end + 1;
  }
  if (starts.empty() && all_zero && !text.empty()) {
    return Fail(
        "every address in it is 0: the kernel hides them from this user. Run as root, or as root "
        "do "
        "'sysctl kernel.kptr_restrict=0' (and kernel.perf_event_paranoid=1 or less)");
  }
  if (starts.empty()) return Fail("it contains no symbols");
  // The first global one of several names at one address is used. A function ends where any other
  // symbol begins.
  std::ranges::stable_sort(starts, [](const Start& a, const Start& b) {
    if (a.symbol.address != b.symbol.address) return a.symbol.address < b.symbol.address;
    const auto rank = [](char type) { return !IsText(type) ? 2 : type == 'T' ? 0 : 1; };
    return rank(a.type) < rank(b.type);
  });
  for (size_t i = 0; i < starts.size(); ++i) {
    const Symbol& symbol = starts[i].symbol;
    if (!IsText(starts[i].type)) continue;
    if (!kernel.symbols_.empty() && kernel.symbols_.back().address == symbol.address) continue;
    size_t next = i + 1;
    while (next < starts.size() && starts[next].symbol.address == symbol.address) ++next;
    const uint64_t page_end = (symbol.address | (kPage - 1)) == ~uint64_t{0}
                                  ? ~uint64_t{0}
                                  : (symbol.address | (kPage - 1)) + 1;
    uint64_t end = page_end;
    if (next < starts.size()) {
      end = starts[next].symbol.address;
      if (starts[next].symbol.module != symbol.module) end = std::min(end, page_end);
    }
    kernel.symbols_.push_back({symbol.address, end, symbol.name, symbol.module});
  }
  return kernel;
}

Result<KernelSymbols> KernelSymbols::Read(const std::string& path) {
  auto text = ReadSmallFile(path, kMostTextBytes);
  if (!text) return std::unexpected(text.error());
  return Parse(*text);
}

const KernelSymbols::Symbol* KernelSymbols::Find(uint64_t address) const {
  const auto after = std::ranges::upper_bound(symbols_, address, {}, &Symbol::address);
  if (after == symbols_.begin() || address >= std::prev(after)->end) return nullptr;
  return &*std::prev(after);
}

}  // namespace jprof::a2n
