#include "record/itrace/itrace_places.h"

#include <fcntl.h>

#include <algorithm>
#include <charconv>

#include "a2n/image.h"
#include "common/fd.h"
#include "common/procfs.h"
#include "profile/files/layout.h"
#include "profile/log/jit_log.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

// The bytes at the beginning of a method's code in which its second entry is searched.
constexpr size_t kHead = 64;

std::vector<uint8_t> ReadCode(uint32_t pid, uint64_t address) {
  const Fd memory(open((procfs::Directory(pid) + "/mem").c_str(), O_RDONLY | O_CLOEXEC));
  std::vector<uint8_t> code(kHead);
  const ssize_t got = pread(memory.get(), code.data(), code.size(), static_cast<off_t>(address));
  code.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return code;
}

}  // namespace

PlaceFinder::PlaceFinder(uint32_t pid, std::string name, fs::path jvm)
    : pid_(pid), name_(std::move(name)), jvm_(std::move(jvm)) {}

std::vector<uint64_t> PlaceFinder::Find() {
  std::vector<uint64_t> found;
  if (name_.starts_with("0x")) {
    uint64_t address = 0;
    std::from_chars(name_.data() + 2, name_.data() + name_.size(), address, 16);
    return {address};
  }
  const auto maps = procfs::ReadMaps(pid_);
  if (!maps) return found;
  for (const procfs::Mapping& mapping : *maps) {
    if (!mapping.executable || mapping.inode == 0 || !mapping.path.starts_with('/')) continue;
    const auto here = InFile(mapping);
    found.insert(found.end(), here.begin(), here.end());
  }
  if (!jvm_.empty()) AddJitted(found);
  return found;
}

std::vector<uint64_t> PlaceFinder::InFile(const procfs::Mapping& mapping) {
  auto known = files_.find(mapping.path);
  if (known == files_.end()) {
    File file;
    Fd fd(open(mapping.path.c_str(), O_RDONLY | O_CLOEXEC));
    auto image = a2n::Image::Open(std::move(fd), mapping.path, {});
    if (image) {
      file.addresses = (*image)->AddressesOf(name_);
      file.offset = mapping.offset;
      file.link = (*image)->LinkAddress(mapping.offset).value_or(mapping.offset);
    }
    known = files_.emplace(mapping.path, std::move(file)).first;
  }
  std::vector<uint64_t> found;
  if (mapping.offset != known->second.offset) return found;
  for (const uint64_t address : known->second.addresses)
    found.push_back(mapping.start + address - known->second.link);
  return found;
}

void PlaceFinder::AddJitted(std::vector<uint64_t>& found) {
  std::error_code none;
  const uint64_t size = fs::file_size(jvm_ / profile::kJitLogFile, none);
  if (!none && size != log_size_) {
    log_size_ = size;
    jitted_.clear();
    const auto log = profile::ReadJitLog(jvm_.string());
    const size_t dot = name_.rfind('.');
    if (log && dot != std::string::npos) {
      std::string type = name_.substr(0, dot);
      std::ranges::replace(type, '.', '/');
      for (const profile::JitCode& code : log->code) {
        if (code.stub || code.type == 'N' || code.unloaded != profile::kJitForever) continue;
        if (code.class_name != type || code.name != std::string_view(name_).substr(dot + 1))
          continue;
        auto [known, fresh] = entries_.try_emplace({code.address, code.loaded});
        std::vector<uint64_t>& entries = known->second;
        if (fresh) entries = JavaEntries(code.address, ReadCode(pid_, code.address));
        jitted_.insert(jitted_.end(), entries.begin(), entries.end());
      }
    }
  }
  found.insert(found.end(), jitted_.begin(), jitted_.end());
}

// Returns the entry for callers that know the class. It is where the method touches the stack below
// it (mov [rsp - n], eax), or where it makes its frame (push rbp; sub rsp), after the check and
// padding.
std::vector<uint64_t> JavaEntries(uint64_t address, const std::vector<uint8_t>& code) {
  for (size_t i = 0; i + 7 <= code.size(); ++i) {
    const bool touches = code[i] == 0x89 && code[i + 1] == 0x84 && code[i + 2] == 0x24 &&
                         code[i + 5] >= 0xf0 && code[i + 6] == 0xff;
    if (touches) return {address + i};
  }
  for (size_t i = 0; i + 4 <= code.size(); i += 4) {
    const bool push = code[i] == 0x55;
    const bool sub =
        code[i] == 0x48 && (code[i + 1] == 0x83 || code[i + 1] == 0x81) && code[i + 2] == 0xec;
    if (push || sub) return {address + i};
  }
  return {address};
}

}  // namespace jprof::record
