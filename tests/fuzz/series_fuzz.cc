// libFuzzer: any bytes as a file of counts over time, and any frames in packets that are intact.
// There must be no crash, no sanitizer report and no endless loop. The first byte selects which: 0
// is a file; else the frames follow, after the length of the first (2 bytes, little endian).
#include <unistd.h>
#include <zstd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "profile/series/series.h"
#include "profile/series/series_format.h"
#include "tests/unit/profile/synthetic_profile.h"

namespace {

using namespace jprof;
using namespace jprof::profile;

// A profile with some nodes, of which the series is.
const std::string& Directory() {
  static const std::string directory = [] {
    const auto path = std::filesystem::temp_directory_path() /
                      ("series-fuzz-" + std::to_string(getpid()) + ".jprof");
    SyntheticProfile made;
    const MethodId method = made.AddMethod("pkg/A", "run", "()V");
    const size_t thread = made.AddThread("main", 7);
    constexpr FrameKind kKinds[] = {FrameKind::kInterpreted, FrameKind::kWoven, FrameKind::kClass,
                                    FrameKind::kSite};
    for (int i = 0; i < 40; ++i)
      made.AddNode(PackMethod(kKinds[i % 4], method), made.threads[thread].root);
    made.Write(path);
    return path.string();
  }();
  static const bool registered [[maybe_unused]] =
      std::atexit([] { std::filesystem::remove_all(Directory()); }) == 0;
  return directory;
}

std::string Packed(std::string_view frame) {
  std::string packed(ZSTD_compressBound(frame.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), frame.data(), frame.size(), 1));
  return packed;
}

void AppendPacket(std::string& file, std::string_view content, uint64_t number) {
  LogPacket packet = {.records = 1, .begin_ns = number, .end_ns = number + 1};
  const std::string_view padding = SealPacket(packet, {&content, 1});
  file.append(BytesOf(packet)).append(content).append(padding);
}

// Returns a file with two packets of these frames.
std::string FileOf(std::string_view control, std::string_view nodes) {
  const std::string first = Packed(control), second = Packed(nodes);
  const SeriesBlock block = {.control_bytes = static_cast<uint32_t>(control.size()),
                             .control_packed = static_cast<uint32_t>(first.size()),
                             .nodes_bytes = static_cast<uint32_t>(nodes.size()),
                             .nodes_packed = static_cast<uint32_t>(second.size())};
  std::string content(reinterpret_cast<const char*>(&block), sizeof(block));
  content += first + second;
  std::string file(BytesOf(HeaderOf(kSeriesFormat, {})));
  AppendPacket(file, content, 0);
  AppendPacket(file, content, 1);
  return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::string file(bytes.substr(1));
  if (data[0] != 0) {
    const size_t length = std::min<size_t>(data[1] | data[2] << 8, size - 3);
    file = FileOf(bytes.substr(3, length), bytes.substr(3 + length));
  }
  constexpr uint64_t kMemory = 64 << 20;
  auto reader = Reader::Open(Directory());
  if (!reader) std::abort();
  auto series = Series::Parse(*reader, {.bytes = std::move(file), .name = "series"});
  if (!series || series->intervals().empty()) return 0;
  (void)FindWindow(*series, "10%..60%");
  const size_t last = series->intervals().size();
  for (const size_t first : {size_t{0}, last - 1}) {
    auto window = series->Load(first, last, kMemory);
    if (!window) continue;
    Reader part = *reader;
    part.Restrict(*std::move(window));
    if (!part.ReadTree(kMemory)) std::abort();
  }
  return 0;
}
