#include "reports/itrace/memory.h"

#include <algorithm>

#include "common/shell_word.h"
#include "cpo/model/references.h"
#include "model/itrace/memory_use.h"
#include "model/values/statistics.h"
#include "reports/itrace/memory_curves.h"
#include "reports/print/screen.h"
#include "reports/print/units.h"
#include "reports/quality/head.h"
#include "reports/quality/quality_of.h"
#include "reports/tree/outline.h"

namespace jprof::reports {
namespace {

constexpr char kBySite[] = "site";
constexpr char kSites[] = "sites";  // in JSON
constexpr char kHowToGetSites[] = "jprof itrace --memory --sites -- CMD...";

// Has what the getters of the columns need for a row. `text` lives until the row is written.
struct MemoryLine {
  const model::MemoryUse& use;
  const model::MemorySums& sums;
  const model::ArcFunction* function;  // null in a row of memory
  const model::MemoryGroup* group;     // null in a row of a function
  const Options& options;
  std::string& text;
};
using MemoryColumns = Columns<MemoryLine>;

struct SumColumn {
  const char* heading;  // of text, which has no column without one
  int width;
  const char* key;
  uint64_t model::MemorySums::*member;
};
constexpr SumColumn kSums[] = {
    {"REFS", 13, "references", &model::MemorySums::references},
    {"LOADS", 13, "loads", &model::MemorySums::loads},
    {"STORES", 12, "stores", &model::MemorySums::stores},
    {"LINES", 10, "lines", &model::MemorySums::lines},
    {"PAGES", 9, "pages", &model::MemorySums::pages},
    {nullptr, 0, "first_misses", &model::MemorySums::first_misses},
    {"WALKS", 11, "walks", &model::MemorySums::walks},
};

void AddSums(MemoryColumns& columns) {
  for (const SumColumn& sum : kSums) {
    const auto get = [member = sum.member](const MemoryLine& line) {
      return Value::Integer(line.sums.*member);
    };
    if (sum.heading != nullptr) columns.Add(kPeople, {sum.heading, sum.width}, get);
    columns.Add(kCsv | kJson, {sum.key}, get);
    if (&sum != kSums) continue;
    columns.Add(kPeople, {"%", 6}, [](const MemoryLine& line) {
      return Value::Fixed(model::PercentOf(line.sums.references, line.use.all.references), 2);
    });
  }
}

MemoryColumns FunctionColumnsOf(View view) {
  MemoryColumns columns(view);
  AddSums(columns);
  columns.Add(kPeople, {"FUNCTION"}, [](const MemoryLine& line) {
    line.text = line.function->Marked(line.options.names);
    return Value::Text(line.text);
  });
  columns.Add(kCsv | kJson, {"type"}, [](const MemoryLine& line) {
    return Value::Text({&line.function->letter, 1});
  });
  columns.Add(kCsv | kJson, {"function"},
              [](const MemoryLine& line) { return Value::Text(line.function->name); });
  columns.Add(kCsv | kJson, {"module"},
              [](const MemoryLine& line) { return Value::Text(line.function->module); });
  return columns;
}

MemoryColumns SiteColumnsOf(View view) {
  MemoryColumns columns(view);
  AddSums(columns);
  columns.Add(kPeople, {"MEMORY"},
              [](const MemoryLine& line) { return Value::Text(line.group->name); });
  columns.Add(kCsv | kJson, {"kind"},
              [](const MemoryLine& line) { return Value::Text(line.group->kind); });
  columns.Add(kCsv | kJson, {"name"},
              [](const MemoryLine& line) { return Value::Text(line.group->name); });
  columns.Add(kCsv | kJson, {"key"},
              [](const MemoryLine& line) { return Value::Text(line.group->key); });
  return columns;
}

// Returns how to get a table of sites; nothing if they were recorded.
std::string SitesText(const model::MemoryUse& use) {
  if (use.knows_sites || !use.site_losses.empty()) return {};
  return std::string("not recorded; record where memory is allocated with: ") + kHowToGetSites;
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
                                    cpo::TextOf(use.tlb), all.first_misses, all.walks)},
                {"sites", SitesText(use)}},
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
  json.StringsMember("site_losses", use.site_losses);
  json.Member("doubtful", use.doubtful);
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
  if (options.by == kBySite && !use.knows_sites && !use.site_losses.empty())
    return Fail("{} does not know where memory was allocated: {}", arcs.directory,
                use.site_losses.front());
  if (options.by == kBySite && !use.knows_sites) {
    return WrongUse("{} does not know where memory was allocated; record that with: {}",
                    arcs.directory, kHowToGetSites);
  }
  return {};
}

// Removes the rows that the options hide. Returns how many text has no room for.
template <typename Row>
size_t Shorten(std::vector<Row>& rows, const model::MemoryUse& use, const Options& options) {
  std::erase_if(rows, [&](const Row& row) {
    return model::PercentOf(row.sums.references, use.all.references) < options.percent();
  });
  const size_t most = options.top != 0        ? options.top
                      : options.fits_screen() ? kScreenRows
                                              : SIZE_MAX;
  const size_t more = rows.size() - std::min(rows.size(), most);
  rows.resize(rows.size() - more);
  return more;
}

struct MemoryTables {
  const model::ArcRecording& arcs;
  const model::MemoryUse& use;
  const Options& options;
  const Quality& quality;
  size_t more_functions = 0, more_sites = 0;  // that are not shown

  bool has_functions() const { return options.by != kBySite; }
  // CSV has one table.
  bool has_sites() const {
    if (!options.by.empty()) return options.by == kBySite;
    return use.knows_sites && EntryOf(options.format).view != kCsv;
  }
  bool has_both() const { return has_functions() && has_sites(); }
};

// Writes a table. `line_of(row, text)` returns what its columns read.
template <typename Row, typename LineOf>
void WriteTable(const MemoryTables& tables, const std::vector<Row>& rows, const Layout& layout,
                MemoryColumns columns, LineOf line_of, Output& out) {
  const auto writer = EntryOf(tables.options.format).make(layout, out);
  writer->Begin(columns.columns());
  std::string text;
  for (const Row& row : rows) writer->Row(columns.Of(line_of(row, text)));
  writer->End();
}

void WriteFunctions(const MemoryTables& tables, const Layout& layout, Output& out) {
  const auto line_of = [&](const model::FunctionMemory& row, std::string& text) {
    return MemoryLine{tables.use, row.sums,       &tables.arcs.code->functions()[row.function],
                      nullptr,    tables.options, text};
  };
  WriteTable(tables, tables.use.functions, layout,
             FunctionColumnsOf(EntryOf(tables.options.format).view), line_of, out);
}

void WriteSites(const MemoryTables& tables, const Layout& layout, Output& out) {
  const auto line_of = [&](const model::GroupMemory& row, std::string& text) {
    return MemoryLine{tables.use,     row.sums, nullptr, &tables.use.groups[row.group],
                      tables.options, text};
  };
  WriteTable(tables, tables.use.sites, layout, SiteColumnsOf(EntryOf(tables.options.format).view),
             line_of, out);
}

// Writes the sites as a member of a document whose rows are functions.
void JsonSites(const model::MemoryUse& use, JsonWriter& json) {
  json.Key(kSites);
  json.StartArray();
  for (const model::GroupMemory& row : use.sites) {
    json.StartRow();
    for (const SumColumn& sum : kSums) json.Member(sum.key, row.sums.*sum.member);
    json.Member("kind", use.groups[row.group].kind);
    json.Member("name", use.groups[row.group].name);
    json.Member("key", use.groups[row.group].key);
    json.EndObject();
  }
  json.EndArray();
}

// Prints the table of functions, that of memory, or both.
void PrintTables(const MemoryTables& tables, Output& out) {
  const auto print_head = [&](Output& text) {
    PrintMemoryHead(tables.arcs, tables.use, tables.options, tables.quality, text);
  };
  const auto json_head = [&](JsonWriter& json) {
    JsonMemoryHead(tables.arcs, tables.use, tables.quality, json);
  };
  const auto end_functions = [&](Output& text) {
    text.Text(MoreText(tables.more_functions, "function"));
    if (!tables.has_sites()) PrintCurves(tables.use, text);
  };
  const auto end_sites = [&](Output& text) {
    text.Text(MoreText(tables.more_sites, "group"));
    PrintCurves(tables.use, text);
  };
  const auto json_end = [&](JsonWriter& json) {
    if (tables.has_both()) JsonSites(tables.use, json);
    JsonCurves(tables.use, json);
  };
  Layout layout = {.head = {.text = print_head, .json = json_head},
                   .tail = {.text = end_functions, .json = json_end},
                   .rows = "functions",
                   .width = tables.options.width,
                   .legend = tables.options.legend};
  if (tables.has_functions()) WriteFunctions(tables, layout, out);
  if (tables.has_both() && !tables.options.for_people()) return;
  if (tables.has_both()) {
    out.Text("\n");
    layout.head = {};
  }
  layout.tail.text = end_sites;
  layout.rows = kSites;
  if (tables.has_sites()) WriteSites(tables, layout, out);
}

// Returns how far the numbers can be trusted: what is lost is missing from them.
Quality MemoryQuality(const model::ArcRecording& arcs, const model::MemoryUse& use) {
  Quality quality = QualityOf(arcs, model::ArcTrace());
  for (const std::string& loss : use.losses) {
    quality.Add({{.name = "damaged_references",
                  .value = 1,
                  .severity = Severity::kSevere,
                  .text = loss,
                  .means = "references are missing from all numbers"}});
  }
  for (const std::string& loss : use.site_losses) {
    quality.Add({{.name = "damaged_sites",
                  .value = 1,
                  .severity = Severity::kMajor,
                  .text = loss,
                  .means = "references may be attributed to another group of memory, or to none"}});
  }
  if (use.doubtful != 0) {
    const double percent = model::PercentOf(use.doubtful, use.all.references);
    quality.Add({{.name = "doubtful_sites",
                  .value = static_cast<double>(use.doubtful),
                  .severity = percent < 1    ? Severity::kMinor
                              : percent < 10 ? Severity::kMajor
                                             : Severity::kSevere,
                  .text = fmt::format("sites of {:.2g} % of the references are uncertain", percent),
                  .detail = {},
                  .means = "their memory changed hands within 10 ms, and their times are not exact",
                  .advice = "trace one function (--function), or use --engine step"}});
  }
  return quality;
}

}  // namespace

Result<void> PrintMemory(model::ArcRecording& arcs, const Options& options, Output& out) {
  auto loaded = model::LoadMemoryUse(arcs, options.tid);
  if (!loaded) return std::unexpected(loaded.error());
  model::MemoryUse& use = *loaded;
  std::erase_if(use.functions, [&](const model::FunctionMemory& row) {
    return !arcs.code->functions()[row.function].name.contains(options.function);
  });
  if (auto checked = CheckMemoryOptions(arcs, use, options); !checked) return checked;
  const Quality quality = MemoryQuality(arcs, use);
  PrintTables({.arcs = arcs,
               .use = use,
               .options = options,
               .quality = quality,
               .more_functions = Shorten(use.functions, use, options),
               .more_sites = Shorten(use.sites, use, options)},
              out);
  if (!EntryOf(options.format).head) {
    for (const auto* losses : {&use.losses, &use.site_losses})
      for (const std::string& loss : *losses) out.Remark("lost: " + loss);
  }
  return {};
}

}  // namespace jprof::reports
