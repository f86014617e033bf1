#include "common/procfs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>

#include "common/errno_text.h"
#include "common/fd.h"

namespace jprof::procfs {
namespace {

namespace fs = std::filesystem;

Result<std::string> ReadFile(const std::string& path, size_t most) {
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return Fail("{}: {}", path, ErrnoText());
  constexpr size_t kLeastStep = size_t{1} << 12, kMostStep = size_t{1} << 16;  // most are small
  std::string text;
  for (size_t filled = 0; filled < most;) {
    text.resize(std::min(most, filled + std::clamp(filled, kLeastStep, kMostStep)));
    const ssize_t got = read(file.get(), text.data() + filled, text.size() - filled);
    const int error = errno;
    filled += got > 0 ? static_cast<size_t>(got) : 0;
    text.resize(filled);
    if (got == 0) break;
    if (got < 0 && error != EINTR) return Fail("{}: {}", path, ErrnoText(error));
  }
  return text;
}

// Removes the first line, without its newline, from the text.
std::string_view TakeLine(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

// Returns the value of the first line "name: value" or "name<tab>: value".
std::optional<std::string_view> FieldOf(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const std::string_view line = TakeLine(text);
    const size_t colon = line.find(':');
    if (colon == line.npos || Trimmed(line.substr(0, colon)) != name) continue;
    return Trimmed(line.substr(colon + 1));
  }
  return std::nullopt;
}

std::optional<uint32_t> WholeNumber(std::string_view text) {
  uint32_t value = 0;
  const char* end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || after != end) return std::nullopt;
  return value;
}

std::vector<uint32_t> NumbersIn(const std::string& directory) {
  std::vector<uint32_t> numbers;
  std::error_code failed;
  for (fs::directory_iterator entry(directory, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const auto number = WholeNumber(entry->path().filename().native());
    if (number) numbers.push_back(*number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

std::vector<std::string> SplitAtZeros(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\0'), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

// Returns the n-th word, counted from 0.
std::string_view WordAt(std::string_view text, int index) {
  constexpr std::string_view kBlanks = " \t";
  for (; index > 0; --index) {
    text.remove_prefix(std::min(text.find_first_of(kBlanks), text.size()));
    text = Trimmed(text);
  }
  return text.substr(0, text.find_first_of(kBlanks));
}

// Removes a number and the character after it from the text.
bool TakeNumber(std::string_view& text, uint64_t& value, int base, char behind) {
  const char* end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, value, base);
  if (error != std::errc() || after == end || *after != behind) return false;
  text.remove_prefix(static_cast<size_t>(after - text.data()) + 1);
  return true;
}

// Replaces \012 by the newline that the kernel writes so in a path.
std::string Unescaped(std::string_view path) {
  std::string text(path);
  for (size_t at = 0; (at = text.find("\\012", at)) != std::string::npos; ++at)
    text.replace(at, 4, 1, '\n');
  return text;
}

// Parses a line such as "7f..-7f.. r-xp 00026000 fe:01 1234       /usr/lib/x.so".
std::optional<Mapping> ParseMapping(std::string_view line) {
  Mapping mapping;
  uint64_t major = 0, minor = 0;
  if (!TakeNumber(line, mapping.start, 16, '-') || !TakeNumber(line, mapping.end, 16, ' '))
    return std::nullopt;
  if (mapping.end <= mapping.start || line.size() < 5 || line[4] != ' ') return std::nullopt;
  mapping.executable = line[2] == 'x';
  mapping.writable = line[1] == 'w';
  mapping.shared = line[3] == 's';
  line.remove_prefix(5);
  if (!TakeNumber(line, mapping.offset, 16, ' ') || !TakeNumber(line, major, 16, ':') ||
      !TakeNumber(line, minor, 16, ' '))
    return std::nullopt;
  const auto inode = NumberAt<uint64_t>(line);
  if (!inode) return std::nullopt;
  mapping.inode = *inode;
  line.remove_prefix(std::min(line.find_first_not_of("0123456789"), line.size()));
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  mapping.path = Unescaped(line);
  return mapping;
}

// Returns a field of a process's stat from the third one on, counted from 1, or an empty text if
// there is none. The second field is a name in parentheses that may contain blanks and parentheses.
std::string_view StatField(std::string_view stat, int number) {
  const size_t name_end = stat.rfind(')');
  return name_end == stat.npos ? std::string_view() : WordAt(stat.substr(name_end), number - 2);
}

std::optional<uint64_t> StatNumber(std::string_view stat, int number) {
  return NumberAt<uint64_t>(StatField(stat, number));
}

// Returns the sum of user and system time, in clock ticks.
std::optional<uint64_t> CpuTicks(std::string_view stat) {
  const auto user = StatNumber(stat, 14), system = StatNumber(stat, 15);
  if (!user || !system) return std::nullopt;
  return *user + *system;
}

}  // namespace

std::string Directory(uint32_t pid, const std::string& root) {
  return pid == kSelf ? root + "/self" : fmt::format("{}/{}", root, pid);
}

std::string ReadSmallFile(const std::string& path) {
  return ReadFile(path, kMaxSmallFile).value_or("");
}

std::string DescriptorPath(int fd) { return fmt::format("{}/self/fd/{}", kRoot, fd); }

std::vector<uint32_t> Processes(const std::string& root) { return NumbersIn(root); }

std::vector<uint32_t> Threads(uint32_t pid, const std::string& root) {
  return NumbersIn(Directory(pid, root) + "/task");
}

bool Exists(uint32_t pid, const std::string& root) {
  return access(Directory(pid, root).c_str(), F_OK) == 0;
}

std::string ThreadName(uint32_t pid, uint32_t tid, const std::string& root) {
  const std::string text = ReadSmallFile(fmt::format("{}/task/{}/comm", Directory(pid, root), tid));
  return text.substr(0, text.rfind('\n'));  // the name itself may contain newlines
}

std::vector<std::string> CommandLine(uint32_t pid, const std::string& root) {
  return SplitAtZeros(ReadSmallFile(Directory(pid, root) + "/cmdline"));
}

std::string EnvironmentAtStart(uint32_t pid, std::string_view name, const std::string& root) {
  const std::string start = std::string(name) + "=";
  for (const std::string& word : SplitAtZeros(ReadSmallFile(Directory(pid, root) + "/environ"))) {
    if (word.starts_with(start)) return word.substr(start.size());
  }
  return "";
}

Status ReadStatus(uint32_t pid, const std::string& root) {
  return ParseStatus(ReadSmallFile(Directory(pid, root) + "/status"));
}

Status ParseStatus(std::string_view text) {
  const auto number = [text](std::string_view name, int index, int base = 10) {
    return NumberAt<uint64_t>(WordAt(FieldOf(text, name).value_or(""), index), base);
  };
  const auto user = number("Uid", 1);  // real, effective, saved, of the file system
  const std::string_view state = FieldOf(text, "State").value_or("");  // "S (sleeping)"
  const std::string_view pids = FieldOf(text, "NSpid").value_or("");   // outermost namespace first
  Status status;
  status.parent = static_cast<uint32_t>(number("PPid", 0).value_or(0));
  if (user) status.user = static_cast<uid_t>(*user);
  status.group = static_cast<gid_t>(number("Gid", 1).value_or(0));
  status.own_pid = NumberAt<uint32_t>(pids.substr(pids.find_last_of(" \t") + 1)).value_or(0);
  status.capabilities = number("CapEff", 0, 16).value_or(0);
  status.caught = number("SigCgt", 0, 16).value_or(0);
  status.blocked = number("SigBlk", 0, 16).value_or(0);
  if (!state.empty()) status.state = state.front();
  return status;
}

std::optional<uid_t> Owner(uint32_t pid, const std::string& root) {
  struct stat status;
  if (stat(Directory(pid, root).c_str(), &status) != 0) return std::nullopt;
  return status.st_uid;
}

std::optional<uint64_t> ParseStartTime(std::string_view stat) { return StatNumber(stat, 22); }

bool Runs(uint32_t pid, const std::string& root) {
  const std::string stat = ReadSmallFile(Directory(pid, root) + "/stat");
  const std::string_view state = StatField(stat, 3);
  return !state.empty() && state != "Z" && state != "X";
}

uint64_t CpuNanos(uint32_t pid, const std::string& root) {
  const std::string stat = ReadSmallFile(Directory(pid, root) + "/stat");
  return CpuTicks(stat).value_or(0) *
         (1'000'000'000 / static_cast<uint64_t>(std::max(1l, sysconf(_SC_CLK_TCK))));
}

bool SharesFiles(uint32_t pid, const std::string& root) {
  const auto same = [&](const char* name) {
    struct stat theirs = {}, ours = {};
    return stat((Directory(pid, root) + name).c_str(), &theirs) == 0 &&
           stat((Directory(kSelf, root) + name).c_str(), &ours) == 0 &&
           theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino;
  };
  return same("/ns/mnt") && same("/root");
}

std::optional<Times> ReadTimes(uint32_t pid, const std::string& root) {
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  const std::string stat = ReadSmallFile(Directory(pid, root) + "/stat");
  const auto start = ParseStartTime(stat);
  const auto cpu = CpuTicks(stat);
  const auto up = NumberAt<uint64_t>(ReadSmallFile(root + "/uptime"));
  if (!start || !cpu || !up) return std::nullopt;
  return Times{
      .running = std::max(0.0, static_cast<double>(*up) - static_cast<double>(*start) / ticks),
      .cpu = static_cast<double>(*cpu) / ticks};
}

std::vector<Mapping> ParseMaps(std::string_view text) {
  std::vector<Mapping> mappings;
  while (!text.empty()) {
    if (auto mapping = ParseMapping(TakeLine(text))) mappings.push_back(*std::move(mapping));
  }
  return mappings;
}

Result<std::vector<Mapping>> ReadMaps(uint32_t pid, const std::string& root) {
  const auto text = ReadFile(Directory(pid, root) + "/maps", kMaxMaps);
  if (!text) return std::unexpected(text.error());
  return ParseMaps(*text);
}

std::optional<uint64_t> MachineMemory(const std::string& root) {
  const auto kibibytes =
      NumberAt<uint64_t>(FieldOf(ReadSmallFile(root + "/meminfo"), "MemAvailable").value_or(""));
  if (!kibibytes) return std::nullopt;
  return *kibibytes * 1024;
}

std::string CpuModel(const std::string& root) {
  const std::string model = CpuInfo("model name", root);
  return model.empty() ? "unknown" : model;
}

std::string CpuInfo(std::string_view name, const std::string& root) {
  return std::string(FieldOf(ReadSmallFile(root + "/cpuinfo"), name).value_or(""));
}

std::optional<int> KernelSetting(const std::string& name, const std::string& root) {
  return NumberAt<int>(ReadSmallFile(root + "/sys/kernel/" + name));
}

}  // namespace jprof::procfs
