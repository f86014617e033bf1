// libFuzzer: any bytes as two profiles, which are merged, or as a profile with any bytes as the
// files that only a merged profile has. There must be no crash, no sanitizer report and no endless
// loop; a merged profile must be readable, undamaged, and have all calls of both.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "profile/merge/merge.h"
#include "reports/report_list.h"
#include "tests/fuzz/packed_profile.h"

namespace {

using namespace jprof;
namespace fs = std::filesystem;

fs::path Directory(const char* name) {
  static const fs::path root =
      fs::temp_directory_path() / ("merge-fuzz-" + std::to_string(getpid()));
  static const bool registered = std::atexit([] { fs::remove_all(root); }) == 0;
  if (!registered) std::abort();
  fs::create_directories(root / name);
  return root / name;
}

void Fail(const char* says) {
  std::fprintf(stderr, "%s\n", says);
  std::abort();
}

uint64_t CallsIn(const std::string& directory) {
  auto reader = profile::Reader::Open(directory);
  if (!reader) Fail("the merged profile cannot be opened");
  const auto tree = reader->ReadTree();
  if (!tree) Fail("the merged profile has no tree");
  if (!reader->damages().Lines().empty()) Fail("the merged profile is damaged");
  uint64_t calls = 0;
  for (const profile::Counts& counts : tree->counts)
    calls += uint64_t{counts.entries[0]} + counts.entries[1];
  return calls;
}

void MergeTwo(std::string_view first, std::string_view second, profile::MergeThreads threads) {
  const fs::path a = Directory("a"), b = Directory("b"), out = a.parent_path() / "merged";
  fuzz::Unpack(first, a);
  fuzz::Unpack(second, b);
  fs::remove_all(out);
  const auto merged = profile::Merge({.inputs = {a, b}, .output = out, .threads = threads});
  if (!merged) {
    if (fs::exists(out)) Fail("a failed merge left its output");
    return;
  }
  uint64_t calls = 0;
  for (const profile::MergedInput& input : merged->inputs) calls += input.calls;
  if (CallsIn(out) != calls) Fail("calls were lost or gained");
}

void PrintMerged(std::string_view packed, const char* file, std::string_view bytes) {
  const fs::path directory = Directory("one");
  fuzz::Unpack(packed, directory);
  for (const char* name : {profile::kSpreadFile, profile::kMergedFile})
    fs::remove(directory / name);
  std::ofstream(directory / file, std::ios::binary) << bytes;
  auto reader = profile::Reader::Open(directory);
  if (!reader) return;
  model::Source source{std::move(*reader), {}, "its own", "none"};
  source.merged = profile::ReadMerged(source.reader);
  std::FILE* null = std::fopen("/dev/null", "w");
  reports::Output out(null);
  for (const auto format : {reports::Format::kText, reports::Format::kCsv, reports::Format::kJson})
    static_cast<void>(reports::PrintLogRt(source, {.format = format}, out));
  model::Input input = std::move(source);
  static_cast<void>(reports::PrintView(input, out));
  std::fclose(null);
}

}  // namespace

// The first byte selects what the rest is.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const auto [first, second] =
      fuzz::UnpackMerge({reinterpret_cast<const char*>(data) + 1, size - 1});
  const int choice = data[0] % 5;
  if (choice < 3) {
    MergeTwo(first, second, static_cast<profile::MergeThreads>(choice));
  } else {
    PrintMerged(first, choice == 3 ? profile::kSpreadFile : profile::kMergedFile, second);
  }
  return 0;
}
