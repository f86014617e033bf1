#include "cpo/optimize/program_key.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdlib>
#include <ranges>

#include "a2n/image.h"
#include "calibrate/store/text_hash.h"
#include "common/fd.h"
#include "options/java_program.h"

namespace jprof::cpo {
namespace {

namespace fs = std::filesystem;

using calibrate::TextHash;

std::string TextOf(const TextHash& hash) { return fmt::format("{:016x}", hash.value()); }

// Returns a hash of the file's bytes, or "none" if it cannot be read.
std::string HashOfFile(const fs::path& path) {
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return "none";
  TextHash hash;
  char buffer[1 << 16];
  for (ssize_t got; (got = read(file.get(), buffer, sizeof(buffer))) > 0;)
    hash.Add({buffer, static_cast<size_t>(got)});
  return TextOf(hash);
}

std::string IdentityOfFile(const fs::path& path) {
  const std::string build_id = a2n::BuildIdOf(path.string());
  return build_id.empty() ? "file:" + HashOfFile(path) : "build-id:" + build_id;
}

// Returns a hash of the files of a class path that are no folders.
std::string HashOfClassPath(std::string_view paths) {
  TextHash hash;
  for (const auto part : std::views::split(paths, ':')) {
    const std::string path(std::string_view(part.begin(), part.end()));
    struct stat status = {};
    hash.Add(path);
    if (stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode))
      hash.Add(
          fmt::format("{} {}.{}", status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec));
  }
  return TextOf(hash);
}

// Returns the class path that the options of a java command choose.
std::string ClassPathOf(const std::vector<std::string>& words, size_t main) {
  constexpr std::string_view kOptions[] = {"-cp", "-classpath", "--class-path", "-p",
                                           "--module-path"};
  const char* const variable = std::getenv("CLASSPATH");
  std::string paths = variable != nullptr ? variable : "";
  for (size_t i = 1; i + 1 < std::min(main, words.size()); ++i) {
    if (std::ranges::find(kOptions, words[i]) != std::end(kOptions)) paths = words[i + 1];
  }
  return paths;
}

std::string IdentityOfJava(const std::vector<std::string>& words, size_t main) {
  if (main >= words.size()) return "";
  const std::string& name = words[main];
  if (name.ends_with(".jar") || name.ends_with(".java"))
    return fmt::format(" jar:{}", HashOfFile(name));
  return fmt::format(" class:{} path:{}", name, HashOfClassPath(ClassPathOf(words, main)));
}

}  // namespace

std::string ArgumentClass(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 1; i < words.size(); ++i) {
    std::string_view word = words[i];
    if (word.starts_with('/')) word = word.substr(word.rfind('/') + 1);
    text += '\n';
    while (!word.empty()) {
      const size_t digits = std::min(word.find_first_not_of("0123456789"), word.size());
      if (digits == 0) {
        text += word.front();
        word.remove_prefix(1);
        continue;
      }
      const uint64_t number =
          std::strtoull(std::string(word.substr(0, digits)).c_str(), nullptr, 10);
      text += fmt::format("#{}", std::bit_width(number));
      word.remove_prefix(digits);
    }
  }
  return text;
}

ProgramKey KeyOfProgram(const ProgramCommand& command) {
  std::error_code ignored;
  ProgramKey key = {.name = options::ProfileName(command.words),
                    .identity = IdentityOfFile(command.program),
                    .arguments = {}};
  const bool is_java = fs::canonical(command.program, ignored).filename() == "java";
  const size_t main = is_java ? options::MainAt(command.words) : command.words.size();
  if (is_java) key.identity += IdentityOfJava(command.words, main);
  TextHash arguments;
  arguments.Add(ArgumentClass(command.words));
  key.arguments = TextOf(arguments);
  return key;
}

}  // namespace jprof::cpo
