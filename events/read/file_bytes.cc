#include "events/read/file_bytes.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace jprof::events {

std::string ReadBytes(const std::string& path, uint64_t most) {
  std::ifstream file(path, std::ios::binary);
  std::error_code error;
  const uint64_t size = std::min<uint64_t>(std::filesystem::file_size(path, error), most);
  std::string bytes(error ? 0 : size, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return bytes;
}

}  // namespace jprof::events
