#include "model/itrace/memory_use.h"

#include <algorithm>
#include <filesystem>

#include "common/flat_map.h"
#include "cpo/model/tlb.h"
#include "profile/files/printable_text.h"
#include "profile/log/memory_log.h"

namespace jprof::model {
namespace {

namespace fs = std::filesystem;

constexpr int kFunctionShift = 42;  // a line's number has so many bits
constexpr int kReuseShifts[] = {kLineShift, cpo::kSmallShift, cpo::kLargeShift};
constexpr size_t kReuseUnits = size_t{1} << 16;  // measured exactly up to so many pieces

fs::path MemoryPath(const ArcRecording& arcs) {
  return fs::path(arcs.directory) / profile::kMemoryFile;
}

// Counts how many different pieces each function refers to.
class Touched {
 public:
  // Returns whether the function refers to the piece for the first time; 0 stands for all.
  bool Add(uint32_t function, uint64_t piece) {
    const uint64_t key = piece ^ uint64_t { function } << kFunctionShift;
    uint32_t& value = seen_[key];
    const bool is_new = value == FlatMap::kNone;
    if (is_new) value = 1;
    return is_new;
  }

 private:
  FlatMap seen_;
};

class Summing {
 public:
  explicit Summing(ArcCode& code) : code_(code), use_{.tlb = cpo::ThisTlb()}, tlb_(use_.tlb) {
    for (const int shift : kReuseShifts)
      use_.reuse.push_back({shift, cpo::SampledReuse(cpo::Sampling::FixedSize(kReuseUnits))});
  }

  void Add(const profile::MemoryReference& reference) {
    const uint32_t function =
        code_.At(reference.pid, reference.code, reference.time_ns).function + 1;
    if (function >= sums_.size()) sums_.resize(function + 1);
    Count(sums_[0], reference);
    Count(sums_[function], reference);
    const uint64_t end = reference.address + std::max<uint64_t>(reference.bytes, 1);
    for (uint64_t line = reference.address >> kLineShift; line <= (end - 1) >> kLineShift; ++line)
      Touch(function, line);
  }

  MemoryUse Take() {
    use_.all = sums_[0];
    for (uint32_t i = 1; i < sums_.size(); ++i) {
      if (sums_[i].references != 0) use_.functions.push_back({i - 1, sums_[i]});
    }
    std::ranges::stable_sort(use_.functions, std::greater(),
                             [](const FunctionMemory& one) { return one.sums.references; });
    return std::move(use_);
  }

 private:
  static void Count(MemorySums& sums, const profile::MemoryReference& reference) {
    ++sums.references;
    if (reference.access != profile::MemoryAccess::kStore) ++sums.loads;
    if (reference.access != profile::MemoryAccess::kLoad) ++sums.stores;
  }

  void Touch(uint32_t function, uint64_t line) {
    const uint64_t page = line >> (cpo::kSmallShift - kLineShift);
    for (const uint32_t of : {uint32_t{0}, function}) {
      sums_[of].lines += lines_.Add(of, line) ? 1 : 0;
      sums_[of].pages += pages_.Add(of, page) ? 1 : 0;
    }
    const cpo::TlbHit hit = tlb_.Touch(page, false);
    for (const uint32_t of : {uint32_t{0}, function}) {
      sums_[of].first_misses += hit != cpo::TlbHit::kFirst ? 1 : 0;
      sums_[of].walks += hit == cpo::TlbHit::kNone ? 1 : 0;
    }
    for (ReuseOfUnits& reuse : use_.reuse)
      reuse.distances.Touch(line >> (reuse.shift - kLineShift));
  }

  ArcCode& code_;
  MemoryUse use_;
  cpo::DataTlb tlb_;
  std::vector<MemorySums> sums_ = std::vector<MemorySums>(1);  // of all, then by function
  Touched lines_, pages_;
};

}  // namespace

bool HasReferences(const ArcRecording& arcs) {
  std::error_code error;
  return fs::exists(MemoryPath(arcs), error);
}

Result<MemoryUse> LoadMemoryUse(ArcRecording& arcs, std::optional<uint32_t> tid) {
  if (!HasReferences(arcs)) {
    return WrongUse(
        "{} has no references to memory; record them with: jprof itrace --memory -- CMD...",
        arcs.directory);
  }
  const auto log = profile::MemoryLog::Read(MemoryPath(arcs).string());
  if (!log) return std::unexpected(log.error());
  Summing summing(*arcs.code);
  log->ForEach([&](const profile::MemoryReference& reference) {
    if (!tid || reference.tid == *tid) summing.Add(reference);
  });
  MemoryUse use = summing.Take();
  for (const std::string& damage : log->damages())
    use.losses.push_back("damaged: " + profile::CleanText(damage));
  return use;
}

}  // namespace jprof::model
