#include "model/itrace/memory_use.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <utility>

#include "common/flat_map.h"
#include "cpo/model/tlb.h"
#include "model/itrace/memory_places.h"
#include "profile/files/printable_text.h"
#include "profile/log/memory_log.h"

namespace jprof::model {
namespace {

namespace fs = std::filesystem;

constexpr int kRowShift = 42;  // a line's number has so many bits
constexpr int kReuseShifts[] = {kLineShift, cpo::kSmallShift, cpo::kLargeShift};
constexpr size_t kReuseUnits = size_t{1} << 16;  // measured exactly up to so many pieces

fs::path MemoryPath(const ArcRecording& arcs) {
  return fs::path(arcs.directory) / profile::kMemoryFile;
}

// Knows which pieces of memory each row has referred to.
class Touched {
 public:
  // Returns whether the row refers to the piece for the first time.
  bool Add(uint32_t row, uint64_t piece) {
    uint32_t& value = seen_[piece ^ uint64_t{row} << kRowShift];
    const bool is_new = value == FlatMap::kNone;
    if (is_new) value = 1;
    return is_new;
  }

 private:
  FlatMap seen_;
};

class RowList {
 public:
  void Count(uint32_t row, const profile::MemoryReference& reference) {
    if (row >= sums_.size()) sums_.resize(row + 1);
    MemorySums& sums = sums_[row];
    ++sums.references;
    if (reference.access != profile::MemoryAccess::kStore) ++sums.loads;
    if (reference.access != profile::MemoryAccess::kLoad) ++sums.stores;
  }
  void Touch(uint32_t row, uint64_t line, cpo::TlbHit hit) {
    MemorySums& sums = sums_[row];
    sums.lines += lines_.Add(row, line) ? 1 : 0;
    sums.pages += pages_.Add(row, PageOf(line)) ? 1 : 0;
    sums.first_misses += hit != cpo::TlbHit::kFirst ? 1 : 0;
    sums.walks += hit == cpo::TlbHit::kNone ? 1 : 0;
  }
  static uint64_t PageOf(uint64_t line) { return line >> (cpo::kSmallShift - kLineShift); }

  // Returns the rows from `first` on that have references, as Row{number - first, sums}, those with
  // the most first.
  template <typename Row>
  std::vector<Row> From(uint32_t first) const {
    std::vector<Row> rows;
    for (uint32_t i = first; i < sums_.size(); ++i) {
      if (sums_[i].references != 0) rows.push_back({i - first, sums_[i]});
    }
    std::ranges::stable_sort(rows, std::greater(),
                             [](const Row& row) { return row.sums.references; });
    return rows;
  }
  MemorySums Of(uint32_t row) const { return row < sums_.size() ? sums_[row] : MemorySums(); }

 private:
  std::vector<MemorySums> sums_;
  Touched lines_, pages_;
};

class Summing {
 public:
  Summing(ArcCode& code, const MemoryPlaces& places)
      : code_(code), places_(places), use_{.tlb = cpo::ThisTlb()}, tlb_(use_.tlb) {
    for (const int shift : kReuseShifts)
      use_.reuse.push_back({shift, cpo::SampledReuse(cpo::Sampling::FixedSize(kReuseUnits))});
  }

  void Add(const profile::MemoryReference& reference) {
    const uint32_t function =
        code_.At(reference.pid, reference.code, reference.time_ns).function + 1;
    functions_.Count(0, reference);
    functions_.Count(function, reference);
    const bool has_places = !places_.empty();
    uint32_t group = 0;
    if (has_places) {
      const auto place = places_.Find(reference.pid, reference.address, reference.time_ns);
      group = place.group;
      groups_.Count(group, reference);
      use_.doubtful += place.is_doubtful ? 1 : 0;
    }
    const uint64_t end = reference.address + std::max<uint64_t>(reference.bytes, 1);
    for (uint64_t line = reference.address >> kLineShift; line <= (end - 1) >> kLineShift; ++line) {
      const cpo::TlbHit hit = tlb_.Touch(RowList::PageOf(line), false);
      functions_.Touch(0, line, hit);
      functions_.Touch(function, line, hit);
      if (has_places) groups_.Touch(group, line, hit);
      for (ReuseOfUnits& reuse : use_.reuse)
        reuse.distances.Touch(line >> (reuse.shift - kLineShift));
    }
  }

  MemoryUse Take() {
    use_.all = functions_.Of(0);
    use_.functions = functions_.From<FunctionMemory>(1);
    use_.sites = groups_.From<GroupMemory>(0);
    use_.groups = places_.groups();
    use_.knows_sites = !places_.empty();
    return std::move(use_);
  }

 private:
  ArcCode& code_;
  const MemoryPlaces& places_;
  MemoryUse use_;
  cpo::DataTlb tlb_;
  RowList functions_;  // the first is all of them
  RowList groups_;     // of places_
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
  std::vector<std::string> losses;
  const MemoryPlaces places(arcs.directory, losses);
  Summing summing(*arcs.code, places);
  log->ForEach([&](const profile::MemoryReference& reference) {
    if (!tid || reference.tid == *tid) summing.Add(reference);
  });
  MemoryUse use = summing.Take();
  use.site_losses = std::move(losses);
  for (const std::string& damage : log->damages())
    use.losses.push_back("damaged: " + profile::CleanText(damage));
  return use;
}

}  // namespace jprof::model
