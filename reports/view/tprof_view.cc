// Writes the view of a recording of tprof: process, thread, module, symbol, line.
#include <cctype>
#include <map>
#include <ranges>
#include <tuple>

#include "profile/files/printable_text.h"
#include "reports/quality/quality_of.h"
#include "reports/ticks/annotate.h"
#include "reports/view/head.h"
#include "reports/view/views.h"

namespace jprof::reports {
namespace {

using nlohmann::json;

constexpr size_t kAnnotated = 40;         // the hottest symbols
constexpr size_t kLongestText = 1 << 20;  // bytes of one

class TickTree {
 public:
  TickTree(model::Recording& recording, const model::TickTable& table)
      : recording_(recording), table_(table) {}

  void Add(const model::Tick& tick) {
    uint32_t row = Child(model::kNoNode, names.Of(table_.names[tick.process]), 'P');
    row = Child(row, names.Of(table_.names[tick.thread]), 'T');
    row = Child(row, names.Of(table_.names[tick.module]), 'M');
    const size_t before = tree.parent.size();
    row = Child(row, names.Of(table_.names[tick.symbol]), 'S');
    if (tree.parent.size() > before) symbols_[{tick.pid, tick.module, tick.symbol}].push_back(row);
    if (const std::string line = LineOf(tick); !line.empty()) row = Child(row, names.Of(line), 'L');
    ++tree.self[0][row];
  }

  // Returns the rows of a symbol, or null if it has none.
  const std::vector<uint32_t>* RowsOf(const AnnotatedSymbol& symbol) const {
    const auto found = symbols_.find({symbol.pid, symbol.module, symbol.name});
    return found == symbols_.end() ? nullptr : &found->second;
  }

  ViewNames names;
  ViewTree tree{1};

 private:
  uint32_t Child(uint32_t parent, uint32_t name, char type) {
    const auto [place, is_new] = children_.try_emplace({parent, name, type}, 0);
    if (is_new) {
      place->second = tree.AddRow(parent, name, type);
      tree.self[0].push_back(0);
    }
    return place->second;
  }

  std::string LineOf(const model::Tick& tick) {
    const auto frames = recording_.resolver->Frames(tick.pid, tick.address, tick.time);
    if (frames.empty() || frames[0].line == 0) return {};
    return fmt::format("{}:{}", frames[0].file.empty() ? "line" : frames[0].file, frames[0].line);
  }

  model::Recording& recording_;
  const model::TickTable& table_;
  std::map<std::tuple<uint32_t, uint32_t, char>, uint32_t> children_;
  // By process, module and name.
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::vector<uint32_t>> symbols_;
};

// Returns JSON: the instructions of the hottest symbols, each text once, and the number of the text
// by row. The texts of a symbol that was compiled several times are joined.
std::string AnnotationsOf(model::Recording& recording, const model::TickTable& table,
                          const TickTree& ticks, ViewData& data) {
  json rows = json::object();
  std::vector<std::string> texts;
  const auto annotated =
      AnnotateHottest(recording, table, kAnnotated, [&](const AnnotatedSymbol& symbol) {
        const std::vector<uint32_t>* places = ticks.RowsOf(symbol);
        if (places == nullptr) return;
        const std::string text = symbol.text.size() <= kLongestText
                                     ? symbol.text
                                     : symbol.text.substr(0, kLongestText) + "\n(cut off)\n";
        const json known = rows.value(std::to_string(places->front()), json());
        if (known.is_number()) {
          texts[known.get<size_t>()] += text;
          return;
        }
        for (const uint32_t row : *places) rows[std::to_string(row)] = texts.size();
        texts.push_back(text);
      });
  if (!annotated) data.Note("no instructions: " + annotated.error().message);
  return json({{"rows", rows}, {"texts", texts}})
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

void DescribeRecording(const model::Recording& recording, const model::TickTable& table,
                       ViewData& data) {
  for (const auto line : std::views::split(std::string_view(recording.title), '\n')) {
    const std::string_view text(line.begin(), line.end());  // "Platform: Linux ..."
    const size_t colon = text.find(": ");
    if (colon == std::string_view::npos) continue;
    std::string label(text.substr(0, colon));
    label[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(label[0])));
    data.Fact(label, text.substr(colon + 2));
  }
  data.Fact("recorded", fmt::format("{:.2f} s on {} processors", model::RecordedSeconds(recording),
                                    recording.log.header().cpus));
  if (recording.jitted > 0)
    data.Fact("jitted code", fmt::format("{} methods and stubs", recording.jitted));
  if (recording.log.lost() > 0) data.Loss(fmt::format("{} samples lost", recording.log.lost()));
  for (const std::string& damage : recording.log.damages()) data.Loss("damaged: " + damage);
  for (const std::string& note : recording.notes)
    note.starts_with("damaged") ? data.Loss(note) : data.Note(note);
  for (const std::string& complaint : table.complaints) data.Note(complaint);
  if (table.unresolved > 0) {
    data.Note(fmt::format("{} of {} samples are in no known symbol", table.unresolved,
                          table.ticks.size()));
  }
}

}  // namespace

Result<ViewData> ViewOf(model::Recording& recording) {
  const model::TickTable table = model::NameTicks(recording);
  if (table.ticks.empty())
    return WrongUse("{}: no samples were taken: nothing to show", recording.directory);
  ViewData data("tprof", recording.directory);
  DescribeRecording(recording, table, data);
  DescribeQuality(QualityOf(recording, table), data);
  TickTree ticks(recording, table);
  for (const model::Tick& tick : table.ticks) ticks.Add(tick);
  const std::string annotations = AnnotationsOf(recording, table, ticks, data);
  data["metrics"].push_back({{"name", "samples"}, {"unit", "samples"}, {"kind", "samples"}});
  data["trees"].push_back(Describe(ticks.tree, "", data));
  data["methods"] = data.AddNames(ticks.names.all());
  data["annotations"] = data.AddText(annotations);
  return data;
}

}  // namespace jprof::reports
