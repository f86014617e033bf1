#include "reports/lines/source_files.h"

#include <unzip.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ranges>

#include "model/tree/readable_name.h"
#include "model/tree/site_place.h"
#include "profile/files/printable_text.h"

namespace jprof::reports {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kLargestFile = uint64_t{8} << 20;
constexpr std::string_view kSourceFolders[] = {"", "src", "src/main/java", "src/test/java"};

std::string_view Trimmed(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r\f\v";
  const size_t begin = line.find_first_not_of(kBlanks);
  if (begin == line.npos) return "";
  return line.substr(begin, line.find_last_not_of(kBlanks) + 1 - begin);
}

std::vector<std::string> SplitLines(std::string_view text) {
  std::vector<std::string> lines;
  for (const auto part : std::views::split(text, '\n'))
    lines.push_back(profile::CleanText(Trimmed({part.begin(), part.end()})));
  return lines;
}

std::optional<std::string> ReadFile(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) > kLargestFile || error)
    return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Returns the class path and the jar of a command that runs java.
std::vector<std::string> ClassPath(const std::vector<std::string>& command) {
  constexpr std::array<std::string_view, 4> kBefore = {"-cp", "-classpath", "--class-path", "-jar"};
  std::vector<std::string> path;
  for (size_t i = 0; i + 1 < command.size(); ++i) {
    if (std::ranges::find(kBefore, command[i]) == kBefore.end()) continue;
    for (const auto part : std::views::split(command[i + 1], ':'))
      path.emplace_back(part.begin(), part.end());
  }
  return path;
}

}  // namespace

std::vector<std::string> UsualSourcePath(const profile::Meta& meta) {
  std::vector<std::string> path;
  for (const std::string_view folder : kSourceFolders)
    path.push_back((fs::path(meta.cwd) / folder).string());
  for (const std::string& part : ClassPath(meta.command)) {
    const fs::path at = fs::path(meta.cwd) / part;
    path.push_back(at.string());
    if (at.extension() == ".jar")
      path.push_back((at.parent_path() / (at.stem().string() + "-sources.jar")).string());
  }
  if (!meta.jvm.home.empty()) path.push_back((fs::path(meta.jvm.home) / "lib/src.zip").string());
  return path;
}

Result<std::vector<std::string>> ParseSourcePath(std::string_view path) {
  std::vector<std::string> parts;
  for (const auto range : std::views::split(path, ':')) {
    const std::string part(range.begin(), range.end());
    if (part.empty()) continue;
    std::error_code error;
    if (!fs::exists(part, error))
      return WrongUse("--source-path: there is no directory or archive {}",
                      profile::CleanText(part));
    parts.push_back(part);
  }
  if (parts.empty()) return WrongUse("--source-path names no directory");
  return parts;
}

// An archive of source files, by their names without the folder of a module.
class SourceFiles::Archive {
 public:
  explicit Archive(const std::string& path) : zip_(unzOpen64(path.c_str()), &unzClose) {
    if (zip_ == nullptr) return;
    char name[4096];
    for (int found = unzGoToFirstFile(zip_.get()); found == UNZ_OK;
         found = unzGoToNextFile(zip_.get())) {
      unz_file_info64 info;
      unz_file_pos place;
      if (unzGetCurrentFileInfo64(zip_.get(), &info, name, sizeof name, nullptr, 0, nullptr, 0) !=
              UNZ_OK ||
          info.size_filename >= sizeof name || info.uncompressed_size > kLargestFile ||
          unzGetFilePos(zip_.get(), &place) != UNZ_OK)
        continue;
      const std::string_view whole(name, info.size_filename);
      entries_.try_emplace(std::string(whole), place);
      const size_t slash = whole.find('/');  // src.zip: java.base/java/lang/String.java
      if (slash != whole.npos) entries_.try_emplace(std::string(whole.substr(slash + 1)), place);
    }
  }

  std::optional<std::string> Read(const std::string& name) {
    const auto found = entries_.find(name);
    if (found == entries_.end() || unzGoToFilePos(zip_.get(), &found->second) != UNZ_OK ||
        unzOpenCurrentFile(zip_.get()) != UNZ_OK)
      return std::nullopt;
    std::string text;
    char part[1 << 16];
    int got = 0;
    while (text.size() <= kLargestFile &&
           (got = unzReadCurrentFile(zip_.get(), part, sizeof part)) > 0)
      text.append(part, static_cast<size_t>(got));
    const bool is_whole = unzCloseCurrentFile(zip_.get()) == UNZ_OK && got == 0;
    return is_whole ? std::optional(std::move(text)) : std::nullopt;
  }

 private:
  std::unique_ptr<void, decltype(&unzClose)> zip_;
  std::unordered_map<std::string, unz_file_pos> entries_;
};

SourceFiles::SourceFiles(std::vector<std::string> path) {
  for (std::string& part : path) {
    std::error_code error;
    if (fs::is_directory(part, error)) {
      directories_.push_back(std::move(part));
    } else if (fs::is_regular_file(part, error)) {
      directories_.emplace_back();
      archives_.push_back(std::make_unique<Archive>(part));
    }
  }
}

SourceFiles::~SourceFiles() = default;

const SourceFiles::Lines& SourceFiles::LinesOf(const std::string& name) {
  const auto [known, is_new] = files_.try_emplace(name);
  if (!is_new) return known->second;
  size_t archive = 0;
  for (const std::string& directory : directories_) {
    const auto text =
        directory.empty() ? archives_[archive++]->Read(name) : ReadFile(fs::path(directory) / name);
    if (!text) continue;
    known->second = SplitLines(*text);
    break;
  }
  return known->second;
}

std::string_view SourceFiles::Line(std::string_view class_name, std::string_view file,
                                   uint32_t line) {
  // A name from a damaged profile must not lead out of the path.
  const auto escapes = [](std::string_view name) {
    return name.starts_with('/') || name.contains("..") || name.contains('\0');
  };
  if (line == 0 || file.empty() || file.contains('/') || escapes(file) || escapes(class_name))
    return "";
  const size_t slash = class_name.rfind('/');
  const std::string package(slash == class_name.npos ? "" : class_name.substr(0, slash + 1));
  const Lines& lines = LinesOf(package + std::string(file));
  return line <= lines.size() ? std::string_view(lines[line - 1]) : "";
}

std::string_view SourceFiles::Line(const model::MethodLines& method, uint32_t line) {
  const std::string_view class_name = model::PartsOfMethod(method.name).class_name;
  return Line(class_name, method.file.empty() ? model::UsualSourceFile(class_name) : method.file,
              line);
}

}  // namespace jprof::reports
