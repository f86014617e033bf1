// Replaces libFuzzer: runs each file of the given folders unchanged, truncated, and with a few
// bytes changed, deterministically.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

#ifdef JPROF_SANITIZED
constexpr int kDamaged = 30;
#else
constexpr int kDamaged = 50;
#endif

void Try(const std::string& bytes) {
  // Copies the data to memory of its exact size, so that AddressSanitizer detects reads past the
  // end.
  const std::vector<uint8_t> copy(bytes.begin(), bytes.end());
  LLVMFuzzerTestOneInput(copy.data(), copy.size());
}

void TryDamaged(const std::string& good, std::mt19937& random) {
  for (int i = 0; i < kDamaged && good.size() > 1; ++i) {
    std::string bytes = good;
    if (i % 4 == 0) bytes.resize(1 + random() % (bytes.size() - 1));
    for (unsigned changes = random() % 4; changes > 0; --changes) {
      bytes[random() % bytes.size()] = static_cast<char>(random() % 3 == 0 ? 0xff : random());
    }
    Try(bytes);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    std::error_code error;
    const size_t before = files.size();
    for (const auto& entry : std::filesystem::directory_iterator(argv[i], error))
      files.push_back(entry.path());
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(before), files.end());
  }
  std::mt19937 random(1);
  for (const std::filesystem::path& path : files) {
    std::printf("%s\n", path.c_str());
    std::fflush(stdout);
    std::ifstream file(path, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    Try(bytes);
    TryDamaged(bytes, random);
  }
  std::printf("%zu inputs\n", files.size());
  return files.empty() ? EXIT_FAILURE : EXIT_SUCCESS;
}
