// Prints what the model of pages costs, in CPU milliseconds per million references, and how near
// its samples are to all references.
//
//   cpo_model [MILLIONS]    of references of each stream, 2 by default
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/random.h"
#include "cpo/model/page_model.h"
#include "cpo/model/reuse_distance.h"
#include "cpo/model/shards.h"

namespace jprof::cpo {
namespace {

constexpr uint64_t kMemory = uint64_t{4} << 30;  // 4 GiB: a million small pages

double Uniform(uint64_t& state) { return static_cast<double>(NextRandom(state) >> 11) * 0x1p-53; }

using Addresses = std::vector<uint64_t>;

Addresses Random(size_t references) {
  Addresses addresses;
  uint64_t state = 1;
  while (addresses.size() < references) addresses.push_back(NextRandom(state) % kMemory);
  return addresses;
}

// Ranks of a density proportional to 1 / rank, so that each octave of ranks is as likely.
Addresses Skewed(size_t references) {
  constexpr uint64_t kPages = kMemory / kSmallPage;
  Addresses addresses;
  uint64_t state = 2;
  while (addresses.size() < references) {
    const auto rank = static_cast<uint64_t>(std::pow(static_cast<double>(kPages), Uniform(state)));
    addresses.push_back(rank * 0x9e3779b1u % kPages * kSmallPage);  // hot pages are no neighbours
  }
  return addresses;
}

// Words one after the other.
Addresses Sequential(size_t references) {
  Addresses addresses;
  for (uint64_t at = 0; addresses.size() < references; at += 8) addresses.push_back(at % kMemory);
  return addresses;
}

class Bench {
 public:
  Bench(std::string stream, Addresses addresses)
      : stream_(std::move(stream)), addresses_(std::move(addresses)) {}

  void Run() {
    DistanceHistogram exact;
    Measure("distances, exact", [&] {
      ReuseDistances distances;
      for (const uint64_t address : addresses_) exact.Add(distances.Touch(address >> kSmallShift));
    });
    WeightedReuse weighted;
    Measure("distances, sampled", [&] {
      for (const uint64_t address : addresses_) weighted.Count(address >> kSmallShift);
      for (const uint64_t address : addresses_) weighted.Touch(address >> kSmallShift);
    });
    SampledReuse shards(Sampling::FixedRate(kOnePercent));
    Measure("distances, SHARDS", [&] {
      for (const uint64_t address : addresses_) shards.Touch(address >> kSmallShift);
    });
    Measure("distances, 3 sizes", [&] {
      PageReuse reuse;
      for (const uint64_t address : addresses_) reuse.Touch(address);
    });
    Model("exact", 1);
    Model("sampled", kOnePercent);
    Compare(exact);
  }

 private:
  void Measure(const std::string& what, const std::function<void()>& run) {
    const std::clock_t start = std::clock();
    run();
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    fmt::print("{:<12}{:<20}{:>8.1f}\n", stream_, what,
               seconds * 1e9 / static_cast<double>(addresses_.size()));
  }

  // A group of half of the memory, alone.
  void Model(const std::string& how, uint32_t weight) {
    std::vector<Reference> burst;
    for (const uint64_t address : addresses_) burst.push_back({address, burst.size(), false});
    StoredReferences references({std::move(burst)}), faults({});
    ModelOptions options;
    options.tlb = ThisTlb();
    options.sampling_weight = weight;
    std::optional<Result<PageModel>> model;
    Measure("load, 2 sets, " + how, [&] {
      model = PageModel::Load({{"half"}}, {{0, kMemory / 2}}, references, faults, options);
    });
    const uint32_t group = 0;
    Measure("a set, " + how, [&] { (void)(*model)->Predict({&group, 1}); });
  }

  // Prints the largest errors of several samples, in percent of the references and, in brackets, of
  // the misses.
  void Compare(const DistanceHistogram& exact) const {
    std::vector<WeightedReuse> weighted;
    std::vector<SampledReuse> shards;
    for (uint64_t sample = 1; sample <= 8; ++sample) {
      const auto unit_of = [&](uint64_t address) { return address >> kSmallShift | sample << 48; };
      WeightedReuse& reuse = weighted.emplace_back();
      SampledReuse& other = shards.emplace_back(Sampling::FixedRate(kOnePercent));
      for (const uint64_t address : addresses_) reuse.Count(unit_of(address));
      for (const uint64_t address : addresses_) reuse.Touch(unit_of(address));
      for (const uint64_t address : addresses_) other.Touch(unit_of(address));
    }
    fmt::print("{:<12}{} pages, of which {} and {} are in the first samples\n", stream_,
               weighted[0].units(), weighted[0].sampled_units(), shards[0].sampled_units());
    for (const uint64_t size : {64u, 2048u, 65536u}) {
      fmt::print("{:<12}{:>6} entries: {:.1f} % miss; errors: sampled {}, SHARDS {}\n", stream_,
                 size, Percent(exact.Misses(size), exact), Largest(weighted, exact, size),
                 Largest(shards, exact, size));
    }
  }

  static double Percent(uint64_t misses, const DistanceHistogram& exact) {
    return 100 * static_cast<double>(misses) / static_cast<double>(exact.references());
  }

  template <typename Reuse>
  static std::string Largest(const std::vector<Reuse>& samples, const DistanceHistogram& exact,
                             uint64_t size) {
    const double expected = Percent(exact.Misses(size), exact);
    double largest = 0;
    for (const Reuse& sample : samples) {
      largest = std::max(largest, std::abs(Percent(sample.Misses(size), exact) - expected));
    }
    return fmt::format("{:.2f} % ({:.1f} %)", largest, 100 * largest / expected);
  }

  std::string stream_;
  Addresses addresses_;
};

}  // namespace
}  // namespace jprof::cpo

int main(int argc, char** argv) {
  using namespace jprof::cpo;
  const size_t references = (argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 2) * 1'000'000;
  fmt::print("TLB: {}; milliseconds of CPU time per million references\n", TextOf(ThisTlb()));
  Bench("random", Random(references)).Run();
  Bench("skewed", Skewed(references)).Run();
  Bench("sequential", Sequential(references)).Run();
  return 0;
}
