#include "reports/itrace/memory_curves.h"

#include <fmt/format.h>

#include <iterator>
#include <vector>

#include "model/values/statistics.h"
#include "reports/print/units.h"

namespace jprof::reports {
namespace {

// Describes a least recently used cache of so many pieces, and what would miss in it.
struct MissRow {
  uint64_t pieces = 0, misses = 0;
};

// Returns the misses of caches of 1, 4, 16, ... pieces, up to the first one that holds all.
std::vector<MissRow> MissesOf(const model::ReuseOfUnits& reuse) {
  std::vector<MissRow> rows;
  const uint64_t first = reuse.distances.histogram().first_references();
  for (uint64_t pieces = 1; pieces < uint64_t{1} << 40; pieces *= 4) {
    rows.push_back({pieces, reuse.distances.Misses(pieces)});
    if (rows.back().misses <= first * reuse.distances.weight()) break;
  }
  return rows;
}

std::string ReuseText(const model::ReuseOfUnits& reuse) {
  return reuse.shift == model::kLineShift ? "lines of 64 B"
                                          : "pages of " + SizeText(uint64_t{1} << reuse.shift);
}

}  // namespace

std::string SizeText(uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  return fmt::format("{} {}", Tenths(value).text(), kUnits[unit]);
}

void PrintCurves(const model::MemoryUse& use, Output& out) {
  for (const model::ReuseOfUnits& reuse : use.reuse) {
    if (reuse.distances.references() == 0) continue;
    out.Print("\nmisses of a least recently used cache of {}{}\n", ReuseText(reuse),
              reuse.distances.weight() > 1
                  ? fmt::format(", estimated from one in {}", reuse.distances.weight())
                  : "");
    for (const MissRow& row : MissesOf(reuse)) {
      out.Print("{:>12} {:>12} {:>13} {:6.2f} %\n", row.pieces, SizeText(row.pieces << reuse.shift),
                row.misses, model::PercentOf(row.misses, reuse.distances.references()));
    }
  }
}

void JsonCurves(const model::MemoryUse& use, JsonWriter& json) {
  json.Key("reuse");
  json.StartArray();
  for (const model::ReuseOfUnits& reuse : use.reuse) {
    json.StartRow();
    json.Member("bytes", uint64_t{1} << reuse.shift);
    json.Member("references", reuse.distances.references());
    json.Member("weight", uint64_t{reuse.distances.weight()});
    json.Key("misses");
    json.StartArray();
    for (const MissRow& row : MissesOf(reuse)) {
      json.StartRow();
      json.Member("pieces", row.pieces);
      json.Member("misses", row.misses);
      json.EndObject();
    }
    json.EndArray();
    json.Key("distances");
    json.StartArray();
    reuse.distances.histogram().ForEach([&](uint64_t least, uint64_t references) {
      json.StartRow();
      json.Member("least", least);
      json.Member("references", references);
      json.EndObject();
    });
    json.EndArray();
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace jprof::reports
