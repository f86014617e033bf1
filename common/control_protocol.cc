#include "common/control_protocol.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "common/nearest.h"

namespace jprof::control {
namespace {

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

std::string Escaped(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (IsControl(c) || c == ' ' || c == '%') {
      text += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      text += c;
    }
  }
  return text;
}

int Digit(char c) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const size_t place = kDigits.find(c);
  return place == kDigits.npos ? -1 : static_cast<int>(place);
}

// Replaces the escapes in a text. Invalid ones stay unchanged.
std::string Unescaped(std::string_view text) {
  std::string value;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool whole = text[i] == '%' && i + 2 < text.size();
    const int high = whole ? Digit(text[i + 1]) : -1, low = whole ? Digit(text[i + 2]) : -1;
    const bool escape = high >= 0 && low >= 0;
    value += escape ? static_cast<char>(16 * high + low) : text[i];
    if (escape) i += 2;
  }
  return value;
}

// Removes and returns the word before the next blank.
std::string_view TakeWord(std::string_view& text) {
  const size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

}  // namespace

Result<Command> CommandOf(std::string_view word) {
  const auto found = std::ranges::find(kCommandNames, word);
  if (found != kCommandNames.end()) return static_cast<Command>(found - kCommandNames.begin());
  const auto nearest = Nearest(word, kCommandNames);
  return WrongUse("there is no command '{}'; {}", OneLine(word),
                  nearest ? fmt::format("did you mean {}?", *nearest)
                          : "use start, stop, flush, reset or status");
}

std::string Request(Command command) {
  return fmt::format("jprof {} {}\n", kVersion, kCommandNames[static_cast<size_t>(command)]);
}

Result<Command> ParseRequest(std::string_view line) {
  if (TakeWord(line) != "jprof") return WrongUse("this is not a command of jprof");
  const std::string_view version = TakeWord(line);
  if (version != std::to_string(kVersion)) {
    return WrongUse(
        "the agent speaks version {} of the protocol, not '{}'; use the jprof of that version",
        kVersion, OneLine(version));
  }
  return CommandOf(line);
}

std::string JoinFields(const std::vector<Field>& fields) {
  std::string text;
  for (const auto& [key, value] : fields) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, Escaped(value));
  }
  return text;
}

std::vector<Field> SplitFields(std::string_view text) {
  std::vector<Field> fields;
  while (!text.empty()) {
    const std::string_view word = TakeWord(text);
    const size_t equals = word.find('=');
    if (equals == word.npos) continue;
    fields.push_back({std::string(word.substr(0, equals)), Unescaped(word.substr(equals + 1))});
  }
  return fields;
}

std::string OneLine(std::string_view text) {
  std::string line(text);
  std::ranges::replace_if(line, IsControl, '?');
  return line;
}

std::string FolderOf(uid_t user, std::string_view runtime) {
  return fmt::format("{}/jprof-{}", runtime.starts_with('/') ? runtime : "/tmp", user);
}

std::string OwnFolder() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  struct stat status;
  const bool usable = runtime != nullptr && stat(runtime, &status) == 0 &&
                      S_ISDIR(status.st_mode) && status.st_uid == geteuid();
  return FolderOf(geteuid(), usable ? runtime : "");
}

std::string SocketName(pid_t pid) { return fmt::format("{}.sock", pid); }

}  // namespace jprof::control
