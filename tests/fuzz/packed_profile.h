// A profile directory as one string, for the fuzzer. For each existing file: its index in kFiles (4
// bits of a byte; the other 4 bits are n: if n is not 0, 2^(2n + 10) bytes of a hole follow the
// contents), its length (4 bytes, little endian), its bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "profile/files/distribution.h"
#include "profile/files/layout.h"
#include "profile/files/slow_call.h"

namespace jprof::fuzz {

inline constexpr const char* kFiles[] = {
    profile::kControlFile, profile::kNodesFile,         profile::kExtraFile,
    profile::kMethodsFile, profile::kTraceFile,         profile::kCompressedTraceFile,
    profile::kMetaFile,    profile::kCalibrationFile,   profile::kLocksFile,
    profile::kLiveFile,    profile::kDistributionsFile, profile::kSlowCallsFile};

// `sparse`: the index of a file to extend by 1 TB.
inline std::string Pack(const std::filesystem::path& directory, size_t sparse = std::size(kFiles)) {
  std::string packed;
  for (size_t i = 0; i < std::size(kFiles); ++i) {
    std::ifstream file(directory / kFiles[i], std::ios::binary);
    if (!file) continue;
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    packed += static_cast<char>(i == sparse ? i | 15 << 4 : i);
    for (int shift = 0; shift < 32; shift += 8) packed += static_cast<char>(bytes.size() >> shift);
    packed += bytes;
  }
  return packed;
}

inline void Unpack(std::string_view packed, const std::filesystem::path& directory) {
  for (const char* name : kFiles) std::filesystem::remove(directory / name);
  while (packed.size() > 5) {
    const size_t file = (static_cast<uint8_t>(packed[0]) & 15) % std::size(kFiles);
    const unsigned longer = static_cast<uint8_t>(packed[0]) >> 4;
    uint32_t length = 0;
    for (size_t i = 0; i < 4; ++i)
      length |= uint32_t{static_cast<uint8_t>(packed[1 + i])} << (8 * i);
    packed.remove_prefix(5);
    const std::string_view bytes = packed.substr(0, length);
    packed.remove_prefix(bytes.size());
    std::ofstream(directory / kFiles[file], std::ios::binary) << bytes;
    if (longer > 0)
      std::filesystem::resize_file(directory / kFiles[file],
                                   bytes.size() + (uint64_t{1} << (2 * longer + 10)));
  }
}

// Two texts as one: the length of the first (4 bytes, little endian), both.
inline std::string PackMerge(std::string_view first, std::string_view second) {
  std::string packed;
  for (int shift = 0; shift < 32; shift += 8) packed += static_cast<char>(first.size() >> shift);
  return packed.append(first).append(second);
}

inline std::pair<std::string_view, std::string_view> UnpackMerge(std::string_view packed) {
  uint32_t length = 0;
  for (size_t i = 0; i < 4 && i < packed.size(); ++i)
    length |= uint32_t{static_cast<uint8_t>(packed[i])} << (8 * i);
  packed.remove_prefix(std::min<size_t>(4, packed.size()));
  const std::string_view first = packed.substr(0, length);
  return {first, packed.substr(first.size())};
}

}  // namespace jprof::fuzz
