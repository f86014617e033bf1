#include "reports/ticks/tprof.h"

#include <algorithm>
#include <array>
#include <span>
#include <unordered_map>

#include "common/wrapped_text.h"
#include "model/values/statistics.h"
#include "profile/files/printable_text.h"
#include "reports/print/fit.h"
#include "reports/print/formats.h"
#include "reports/print/screen.h"
#include "reports/print/units.h"
#include "reports/quality/head.h"
#include "reports/quality/quality_of.h"

namespace jprof::reports {
namespace {

// The parts by which a stanza groups ticks.
enum Part { kProcess, kThread, kModule, kSymbol };
constexpr const char* kLabels[] = {"PID", "TID", "MOD", "SYM"};

struct Stanza {
  const char* name;
  std::vector<Part> parts;
};

const std::array<Stanza, 8>& Stanzas() {
  static const std::array<Stanza, 8> stanzas = {{
      {"Process", {kProcess}},
      {"Process_Module", {kProcess, kModule}},
      {"Process_Module_Symbol", {kProcess, kModule, kSymbol}},
      {"Process_Thread", {kProcess, kThread}},
      {"Process_Thread_Module", {kProcess, kThread, kModule}},
      {"Process_Thread_Module_Symbol", {kProcess, kThread, kModule, kSymbol}},
      {"Module", {kModule}},
      {"Module_Symbol", {kModule, kSymbol}},
  }};
  return stanzas;
}

uint32_t NameOf(const model::Tick& tick, Part part) {
  const uint32_t names[] = {tick.process, tick.thread, tick.module, tick.symbol};
  return names[part];
}

// Ticks that agree in one part.
struct Group {
  uint32_t name = 0;
  std::vector<const model::Tick*> ticks;
};

// Groups ticks by this part, the most ticks first. Equal groups are in the order of their names, so
// that output repeats.
std::vector<Group> GroupBy(std::span<const model::Tick* const> ticks, Part part,
                           const model::TickTable& table) {
  std::unordered_map<uint32_t, size_t> places;
  std::vector<Group> groups;
  for (const model::Tick* tick : ticks) {
    const uint32_t name = NameOf(*tick, part);
    const auto [place, is_new] = places.try_emplace(name, groups.size());
    if (is_new) groups.push_back({name, {}});
    groups[place->second].ticks.push_back(tick);
  }
  std::ranges::sort(groups, [&table](const Group& a, const Group& b) {
    if (a.ticks.size() != b.ticks.size()) return a.ticks.size() > b.ticks.size();
    return table.names[a.name] < table.names[b.name];
  });
  return groups;
}

class Printer {
 public:
  Printer(model::Recording& recording, const model::TickTable& table, const TprofOptions& options,
          double clip, Output& out)
      : recording_(recording), table_(table), options_(options), clip_(clip), out_(out) {
    for (const model::Tick& tick : table.ticks) all_.push_back(&tick);
  }

  void Print(const Stanza& stanza) {
    constexpr std::string_view kRule = "================================";
    out_.Print("{}\n", kRule);
    out_.Bold(fmt::format("    )) {}\n", stanza.name));
    out_.Print("{}\n\n    LAB        TKS    %%%    NAMES\n\n", kRule);
    Level(all_, stanza.parts, 0);
    out_.Text(stanza.parts.size() > 1 ? "\n" : "\n\n");
  }

 private:
  double Share(size_t ticks) const { return model::PercentOf(ticks, all_.size()); }

  void Row(const char* label, size_t depth, size_t ticks, std::string_view name) {
    const std::string indent(depth, ' ');
    out_.Text(FittedLine(fmt::format("    {}{}{:{}} {:>6} {:>6.2f}    {}", indent, label, "",
                                     4 - depth, ticks, Share(ticks), indent),
                         Shortened(name), options_.width));
  }

  void Level(std::span<const model::Tick* const> ticks, std::span<const Part> parts, size_t depth) {
    size_t clipped = 0, clipped_ticks = 0;
    for (const Group& group : GroupBy(ticks, parts[0], table_)) {
      if (Share(group.ticks.size()) < clip_) {
        ++clipped;
        clipped_ticks += group.ticks.size();
        continue;
      }
      Row(kLabels[parts[0]], depth, group.ticks.size(), NameOfGroup(group, parts[0]));
      if (parts.size() > 1)
        Level(group.ticks, parts.subspan(1), depth + 1);
      else if (options_.by_line && parts[0] == kSymbol && depth == 1)
        Lines(group.ticks, depth + 1);
      if (depth == 0 && parts.size() > 1) out_.Text("\n");
    }
    if (clipped > 0 && (options_.clip || Share(clipped_ticks) >= clip_))
      Row("...", depth, clipped_ticks, fmt::format("({} below {} %)", clipped, clip_));
  }

  // Returns the name of a group. Symbols of jitted code are Java methods, in the options' form.
  std::string NameOfGroup(const Group& group, Part part) const {
    const std::string& name = table_.names[group.name];
    const bool is_jitted = table_.names[group.ticks.front()->module] == "JITCODE";
    return part == kSymbol && is_jitted ? model::MethodIn(options_.names, name) : name;
  }

  // Prints the source lines of one symbol's ticks.
  void Lines(std::span<const model::Tick* const> ticks, size_t depth) {
    std::map<std::pair<std::string, uint32_t>, size_t> lines;
    for (const model::Tick* tick : ticks) {
      const auto frames = recording_.resolver->Frames(tick->pid, tick->address, tick->time);
      if (frames.empty() || (frames[0].file.empty() && frames[0].line == 0)) continue;
      ++lines[{frames[0].file, frames[0].line}];
    }
    for (const auto& [line, count] : lines) {
      Row("LIN", depth, count,
          fmt::format("{}:{}", line.first.empty() ? "line" : profile::CleanText(line.first),
                      line.second));
    }
  }

  model::Recording& recording_;
  const model::TickTable& table_;
  const TprofOptions& options_;
  double clip_;
  Output& out_;
  std::vector<const model::Tick*> all_;
};

// All four names and how many ticks have them.
struct FlatRow {
  model::Tick tick;
  size_t ticks = 0;
};

std::vector<FlatRow> FlatRows(const model::TickTable& table) {
  std::map<std::array<uint32_t, 4>, FlatRow> rows;
  for (const model::Tick& tick : table.ticks) {
    FlatRow& row = rows[{tick.process, tick.thread, tick.module, tick.symbol}];
    row.tick = tick;
    ++row.ticks;
  }
  std::vector<FlatRow> flat;
  for (auto& [names, row] : rows) flat.push_back(row);
  std::ranges::stable_sort(flat,
                           [](const FlatRow& a, const FlatRow& b) { return a.ticks > b.ticks; });
  return flat;
}

struct NamedRow {
  const model::TickTable& table;
  const FlatRow& row;

  Value Name(uint32_t model::Tick::*part) const { return Value::Text(table.names[row.tick.*part]); }
};

Columns<NamedRow> FlatColumns(View view) {
  constexpr unsigned kBoth = kCsv | kJson;
  Columns<NamedRow> columns(view);
  columns.Add(kBoth, {"process"},
              [](const NamedRow& row) { return row.Name(&model::Tick::process); });
  columns.Add(kJson, {"pid"}, [](const NamedRow& row) { return Value::Integer(row.row.tick.pid); });
  columns.Add(kBoth, {"thread"},
              [](const NamedRow& row) { return row.Name(&model::Tick::thread); });
  columns.Add(kBoth, {"module"},
              [](const NamedRow& row) { return row.Name(&model::Tick::module); });
  columns.Add(kBoth, {"symbol"},
              [](const NamedRow& row) { return row.Name(&model::Tick::symbol); });
  columns.Add(kBoth, {"ticks"}, [](const NamedRow& row) { return Value::Integer(row.row.ticks); });
  return columns;
}

// What is missing or could not be read.
struct Shortcomings {
  std::vector<std::string> notes, damages, complaints;

  template <typename Visit>
  void ForEach(const Visit& visit) const {
    std::ranges::for_each(notes, visit);
    for (const std::string& damage : damages) visit("damaged: " + damage);
    std::ranges::for_each(complaints, visit);
  }
};

Shortcomings ShortcomingsOf(const model::Recording& recording, const model::TickTable& table) {
  Shortcomings of = {.notes = recording.notes, .complaints = table.complaints};
  for (const std::string& damage : recording.log.damages())
    of.damages.push_back(profile::CleanText(damage));
  return of;
}

// Prints one row for all ticks that agree in all names.
void PrintFlat(const model::Recording& recording, const model::TickTable& table, Format format,
               Output& out) {
  const Layout layout = {.head = {.json = [&](JsonWriter& json) {
                           json.Member("report", "tprof");
                           json.Member("start_ns", recording.log.header().start_ns);
                           json.Member("end_ns", recording.log.end_ns());
                           json.Member("ticks", table.ticks.size());
                           json.Member("lost", recording.log.lost());
                           json.Member("unresolved", table.unresolved);
                           const Shortcomings of = ShortcomingsOf(recording, table);
                           json.StringsMember("notes", of.notes);
                           json.StringsMember("damages", of.damages);
                           json.StringsMember("complaints", of.complaints);
                           JsonQuality(QualityOf(recording, table), json);
                         }}};
  const auto writer = EntryOf(format).make(layout, out);
  Columns<NamedRow> columns = FlatColumns(EntryOf(format).view);
  writer->Begin(columns.columns());
  for (const FlatRow& row : FlatRows(table)) writer->Row(columns.Of({table, row}));
  writer->End();
}

void PrintTickHead(const model::Recording& recording, const model::TickTable& table, size_t width,
                   Output& out) {
  const profile::RecordingMeta& meta = recording.meta;
  const Head head = {
      .report = "tprof",
      .of = recording.directory,
      .directory = recording.directory,
      .lines = {{"command", meta.command},
                {"run", Joined({Duration(1e9 * model::RecordedSeconds(recording)) + " on " +
                                    Counted(recording.log.header().cpus, "processor", "processors"),
                                meta.sampling, meta.platform},
                               "; ")},
                {"ticks",
                 fmt::format("{} in all, {} lost", table.ticks.size(), recording.log.lost())}},
      .width = width};
  PrintHead(head, QualityOf(recording, table), out);
  out.Text("\n");
}

// Prints what fits a screen of the most useful stanza: processes, their modules and symbols.
Result<void> PrintScreen(model::Recording& recording, const model::TickTable& table,
                         const TprofOptions& options, Output& out) {
  const Stanza& stanza =
      *std::ranges::find(Stanzas(), std::string_view("Process_Module_Symbol"), &Stanza::name);
  constexpr std::ptrdiff_t kLines = 30;
  const auto at = [&](double clip) {
    return PrintedText([&](Output& to) -> Result<void> {
      Printer(recording, table, options, clip, to).Print(stanza);
      return {};
    });
  };
  const double clip = SmallestShare([&](double percent) {
    const Result<std::string> text = at(percent);
    return text && std::ranges::count(*text, '\n') <= kLines;
  });
  const Result<std::string> text = at(clip);
  if (!text) return std::unexpected(text.error());
  out.Text(*text);
  const std::string hidden = clip > 0 ? fmt::format("rows below {:g} % are not shown; ", clip) : "";
  const size_t columns = options.width == 0 ? SIZE_MAX : options.width;
  out.Text(WrappedText(hidden + "all eight tables: jprof report --all, or jprof tprof --clip 0\n",
                       0, columns));
  return {};
}

// Adds remarks about losses and damage, for which formats without a head have no place.
void RemarkShortcomings(const model::Recording& recording, const model::TickTable& table,
                        Output& out) {
  if (recording.log.lost() > 0) out.Remark(fmt::format("lost: {} samples", recording.log.lost()));
  ShortcomingsOf(recording, table).ForEach([&out](const std::string& line) { out.Remark(line); });
}

}  // namespace

Result<void> PrintTprof(model::Recording& recording, const TprofOptions& options, Output& out) {
  if (auto offered = CheckOffered("tprof", kStackFormats, options.format); !offered) return offered;
  const model::TickTable table = model::NameTicks(recording);
  const bool is_stanzas = options.annotate.empty() && options.callers.empty();
  if (!is_stanzas || !EntryOf(options.format).head) RemarkShortcomings(recording, table, out);
  if (!options.annotate.empty()) return PrintAnnotated(recording, table, options.annotate, out);
  if (!options.callers.empty()) return PrintCallers(recording, table, options.callers, out);
  if (options.format == Format::kCollapsed) {
    PrintCollapsed(recording, table, out);
  } else if (options.format != Format::kText) {
    PrintFlat(recording, table, options.format, out);
  } else {
    PrintTickHead(recording, table, options.width, out);
    if (!options.clip && !options.by_line) return PrintScreen(recording, table, options, out);
    Printer printer(recording, table, options, options.clip.value_or(0), out);
    for (const Stanza& stanza : Stanzas()) printer.Print(stanza);
  }
  return {};
}

}  // namespace jprof::reports
