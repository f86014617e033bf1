#include "reports/itrace/memory.h"

#include <algorithm>

#include "common/shell_word.h"
#include "cpo/model/references.h"
#include "model/itrace/memory_use.h"
#include "model/values/statistics.h"
#include "reports/print/screen.h"
#include "reports/print/units.h"
#include "reports/quality/head.h"
#include "reports/quality/quality_of.h"
#include "reports/tree/outline.h"

namespace jprof::reports {
namespace {

// Has what the getters of the columns need for a row. `text` lives until the row is written.
struct MemoryLine {
  const model::ArcRecording& arcs;
  const model::MemoryUse& use;
  const model::FunctionMemory& row;
  const Options& options;
  std::string& text;

  const model::ArcFunction& function() const { return arcs.code->functions()[row.function]; }
};
using MemoryColumns = Columns<MemoryLine>;

MemoryColumns FunctionColumnsOf(View view) {
  MemoryColumns columns(view);
  const auto number = [&](const char* heading, int width, const char* key,
                          uint64_t model::MemorySums::*member) {
    const auto get = [member](const MemoryLine& line) {
      return Value::Integer(line.row.sums.*member);
    };
    columns.Add(kPeople, {heading, width}, get);
    columns.Add(kCsv | kJson, {key}, get);
  };
  number("REFS", 13, "references", &model::MemorySums::references);
  columns.Add(kPeople, {"%", 6}, [](const MemoryLine& line) {
    return Value::Fixed(model::PercentOf(line.row.sums.references, line.use.all.references), 2);
  });
  number("LOADS", 13, "loads", &model::MemorySums::loads);
  number("STORES", 12, "stores", &model::MemorySums::stores);
  number("LINES", 10, "lines", &model::MemorySums::lines);
  number("PAGES", 9, "pages", &model::MemorySums::pages);
  columns.Add(kCsv | kJson, {"first_misses"},
              [](const MemoryLine& line) { return Value::Integer(line.row.sums.first_misses); });
  number("WALKS", 11, "walks", &model::MemorySums::walks);
  columns.Add(kPeople, {"FUNCTION"}, [](const MemoryLine& line) {
    line.text = line.function().Marked(line.options.names);
    return Value::Text(line.text);
  });
  columns.Add(kCsv | kJson, {"type"}, [](const MemoryLine& line) {
    return Value::Text({&line.function().letter, 1});
  });
  columns.Add(kCsv | kJson, {"function"},
              [](const MemoryLine& line) { return Value::Text(line.function().name); });
  columns.Add(kCsv | kJson, {"module"},
              [](const MemoryLine& line) { return Value::Text(line.function().module); });
  return columns;
}

// Returns "1.5 MiB", or "2 MiB" without a fraction.
std::string SizeText(uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  return fmt::format("{} {}", Tenths(value).text(), kUnits[unit]);
}

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

// Prints the curves side by side: what misses in a cache of so many bytes.
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

void PrintMemoryHead(const model::ArcRecording& arcs, const model::MemoryUse& use,
                     const Options& options, const Quality& quality, Output& out) {
  const profile::RecordingMeta& meta = arcs.recording.meta;
  const model::MemorySums& all = use.all;
  const Head head = {
      .report = "memory",
      .of = arcs.directory,
      .directory = arcs.directory,
      .lines = {{"command", meta.command},
                {"run",
                 Joined({Duration(1e9 * model::ArcSeconds(arcs)), meta.sampling, meta.platform},
                        ", ")},
                {"referred", fmt::format("{} references: {} loads, {} stores; {} of cache lines, "
                                         "{} of pages",
                                         all.references, all.loads, all.stores,
                                         SizeText(all.lines << model::kLineShift),
                                         SizeText(all.pages << cpo::kSmallShift))},
                {"TLB", fmt::format("{}: {} misses of the first level, {} walks of page tables",
                                    cpo::TextOf(use.tlb), all.first_misses, all.walks)}},
      .width = options.width};
  PrintHead(head, quality, out);
  out.Text("\n");
}

void JsonMemoryHead(const model::ArcRecording& arcs, const model::MemoryUse& use,
                    const Quality& quality, JsonWriter& json) {
  const profile::RecordingMeta& meta = arcs.recording.meta;
  json.Member("report", "memory");
  json.Member("recording", arcs.directory);
  json.Member("command", meta.command);
  json.Member("platform", meta.platform);
  json.Member("references", use.all.references);
  json.Member("loads", use.all.loads);
  json.Member("stores", use.all.stores);
  json.Member("lines", use.all.lines);
  json.Member("pages", use.all.pages);
  json.Member("tlb", cpo::TextOf(use.tlb));
  json.Member("first_misses", use.all.first_misses);
  json.Member("walks", use.all.walks);
  json.StringsMember("losses", use.losses);
  JsonQuality(quality, json);
}

Result<void> CheckMemoryOptions(const model::ArcRecording& arcs, const model::MemoryUse& use,
                                const Options& options) {
  if (options.tid && use.all.references == 0)
    return WrongUse("{} has no references of a thread {}", arcs.directory, *options.tid);
  if (!options.function.empty() && use.functions.empty()) {
    return WrongUse(
        "no function whose name contains '{}' refers to memory; jprof report memory {} lists them",
        options.function, ShellWord(arcs.directory));
  }
  return {};
}

}  // namespace

Result<void> PrintMemory(model::ArcRecording& arcs, const Options& options, Output& out) {
  auto loaded = model::LoadMemoryUse(arcs, options.tid);
  if (!loaded) return std::unexpected(loaded.error());
  model::MemoryUse& use = *loaded;
  std::erase_if(use.functions, [&](const model::FunctionMemory& row) {
    const bool wanted = arcs.code->functions()[row.function].name.contains(options.function);
    return !wanted || model::PercentOf(row.sums.references, use.all.references) < options.percent();
  });
  if (auto checked = CheckMemoryOptions(arcs, use, options); !checked) return checked;
  const size_t most = options.top != 0        ? options.top
                      : options.fits_screen() ? kScreenRows
                                              : SIZE_MAX;
  const size_t more = use.functions.size() - std::min(use.functions.size(), most);
  use.functions.resize(use.functions.size() - more);
  Quality quality = QualityOf(arcs, model::ArcTrace());
  for (const std::string& loss : use.losses) {
    quality.Add({{.name = "damaged_references",
                  .value = 1,
                  .severity = Severity::kSevere,
                  .text = loss,
                  .means = "references are missing from all numbers"}});
  }
  const FormatEntry& format = EntryOf(options.format);
  const Layout layout = {
      .head = {.text = [&](Output& text) { PrintMemoryHead(arcs, use, options, quality, text); },
               .json = [&](JsonWriter& json) { JsonMemoryHead(arcs, use, quality, json); }},
      .tail = {.text =
                   [&](Output& text) {
                     text.Text(MoreText(more, "function"));
                     PrintCurves(use, text);
                   },
               .json = [&](JsonWriter& json) { JsonCurves(use, json); }},
      .rows = "functions",
      .width = options.width,
      .legend = options.legend};
  const auto writer = format.make(layout, out);
  MemoryColumns columns = FunctionColumnsOf(format.view);
  writer->Begin(columns.columns());
  std::string text;
  for (const model::FunctionMemory& row : use.functions)
    writer->Row(columns.Of({arcs, use, row, options, text}));
  writer->End();
  if (!format.head) {
    for (const std::string& loss : use.losses) out.Remark("lost: " + loss);
  }
  return {};
}

}  // namespace jprof::reports
