// Exports of profiles without a JVM, in memory.
#pragma once

#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <string>

#include "reports/export/export_list.h"
#include "tests/unit/reports/demo_profile.h"

namespace jprof::reports {

inline model::Source Opened(const std::filesystem::path& directory,
                            std::optional<calibrate::Table> table = {}) {
  return {.reader = *profile::Reader::Open(directory),
          .table = std::move(table),
          .table_from = "table",
          .uncalibrated = "no table: run jprof calibrate",
          .refitted = ""};
}

// A directory that is removed with this object.
class ExportFolder {
 public:
  ExportFolder() {
    std::string name = std::filesystem::temp_directory_path() / "jprof-export-XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~ExportFolder() { std::filesystem::remove_all(path_); }
  ExportFolder(const ExportFolder&) = delete;
  ExportFolder& operator=(const ExportFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

  std::filesystem::path Write(profile::SyntheticProfile made) const {
    const std::filesystem::path directory = path_ / "app.jprof";
    std::filesystem::remove_all(directory);
    made.Write(directory);
    return directory;
  }

 private:
  std::filesystem::path path_;
};

template <typename Write>
std::string Written(const Write& write) {
  char* text = nullptr;
  size_t size = 0;
  std::FILE* file = open_memstream(&text, &size);
  Output out(file);
  const Result<void> written = write(out);
  const Result<void> finished = out.Finish();
  std::fclose(file);
  const std::string bytes = written && finished ? std::string(text, size) : "";
  std::free(text);
  return bytes;
}

// Returns what a format makes of a source, or an empty text after an error.
inline std::string ExportAs(std::string_view format, model::Source& source,
                            const Options& options = {}) {
  ExportInput input = {.name = "app", .input = std::move(source), .options = options};
  std::string written;
  for (const ExportFormat& one : ExportFormats()) {
    if (one.name == format && one.write != nullptr)
      written = Written([&](Output& out) { return one.write(input, out); });
  }
  source = std::move(std::get<model::Source>(input.input));
  return written;
}

inline std::string Unzipped(const std::string& compressed) {
  z_stream stream = {};
  inflateInit2(&stream, 15 + 16);
  std::string bytes;
  char buffer[4096];
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
  stream.avail_in = static_cast<uInt>(compressed.size());
  int result = Z_OK;
  while (result == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(buffer);
    stream.avail_out = sizeof(buffer);
    result = inflate(&stream, Z_NO_FLUSH);
    bytes.append(buffer, sizeof(buffer) - stream.avail_out);
  }
  inflateEnd(&stream);
  return result == Z_STREAM_END ? bytes : "";
}

}  // namespace jprof::reports
