// The view of a recording of tprof: process, thread, module, symbol, line.
#include <cctype>
#include <map>
#include <ranges>

#include "profile/reader_text.h"
#include "reports/annotate.h"
#include "reports/view/head.h"
#include "reports/view/view.h"

namespace jprof::reports {
namespace {

using nlohmann::json;

constexpr size_t kAnnotated = 40;  // of the hottest symbols

class TickTree {
 public:
  TickTree(Recording& recording, const TickTable& table) : recording_(recording), table_(table) {}

  void Add(const Tick& tick) {
    uint32_t row = Child(kNoRow, names.Of(table_.names[tick.process]), 'P');
    row = Child(row, names.Of(table_.names[tick.thread]), 'T');
    row = Child(row, names.Of(table_.names[tick.module]), 'M');
    row = Child(row, names.Of(table_.names[tick.symbol]), 'S');
    symbols_[{table_.names[tick.module], table_.names[tick.symbol]}].push_back(row);
    if (const std::string line = LineOf(tick); !line.empty()) row = Child(row, names.Of(line), 'L');
    ++tree.self[0][row];
  }

  // The rows of a symbol, each once, by module and symbol.
  std::map<std::pair<std::string, std::string>, std::vector<uint32_t>> SymbolRows() const {
    auto rows = symbols_;
    for (auto& [symbol, places] : rows) {
      std::ranges::sort(places);
      places.erase(std::ranges::unique(places).begin(), places.end());
    }
    return rows;
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

  std::string LineOf(const Tick& tick) {
    const auto frames = recording_.resolver->Frames(tick.pid, tick.address, tick.time);
    if (frames.empty() || frames[0].line == 0) return {};
    return fmt::format("{}:{}", frames[0].file.empty() ? "line" : frames[0].file, frames[0].line);
  }

  Recording& recording_;
  const TickTable& table_;
  std::map<std::tuple<uint32_t, uint32_t, char>, uint32_t> children_;
  std::map<std::pair<std::string, std::string>, std::vector<uint32_t>> symbols_;
};

// JSON: the instructions of a symbol by the rows of the symbol.
Result<std::string> AnnotationsOf(Recording& recording, const TickTable& table,
                                  const TickTree& ticks) {
  const auto rows = ticks.SymbolRows();
  json annotations = json::object();
  const auto annotated = AnnotateHottest(
      recording, table, kAnnotated,
      [&](const std::string& module, const std::string& symbol, const std::string& text) {
        const auto found = rows.find({module, symbol});
        if (found == rows.end()) return;
        for (const uint32_t row : found->second) {
          json& entry = annotations[std::to_string(row)];
          entry = (entry.is_string() ? entry.get<std::string>() : "") + text;
        }
      });
  if (!annotated) return std::unexpected(annotated.error());
  return annotations.dump(-1, ' ', false, json::error_handler_t::replace);
}

void DescribeRecording(const Recording& recording, const TickTable& table, ViewData& data) {
  for (const auto line : std::views::split(std::string_view(recording.title), '\n')) {
    const std::string_view text(line.begin(), line.end());  // "Platform: Linux ..."
    const size_t colon = text.find(": ");
    if (colon == std::string_view::npos) continue;
    std::string label(text.substr(0, colon));
    label[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(label[0])));
    data.Fact(label, text.substr(colon + 2));
  }
  data.Fact("jitted code", fmt::format("{} methods and stubs", recording.jitted));
  for (const std::string& note : recording.notes) data.Note(note);
  for (const std::string& complaint : table.complaints) data.Note(complaint);
  if (table.unresolved > 0) {
    data.Note(fmt::format("{} of {} samples are in no known symbol", table.unresolved,
                          table.ticks.size()));
  }
}

}  // namespace

Result<void> PrintView(Recording& recording, std::string_view title, Output& out) {
  const TickTable table = NameTicks(recording);
  ViewData data("tprof", title);
  DescribeRecording(recording, table, data);
  TickTree ticks(recording, table);
  for (const Tick& tick : table.ticks) ticks.Add(tick);
  const auto annotations = AnnotationsOf(recording, table, ticks);
  if (!annotations) return std::unexpected(annotations.error());
  data["metrics"].push_back({{"name", "samples"}, {"unit", "samples"}, {"kind", "samples"}});
  data["trees"].push_back(Describe(ticks.tree, "", data));
  data["methods"] = data.AddNames(ticks.names.all());
  data["annotations"] = data.AddText(*annotations);
  return data.Print(out);
}

}  // namespace jprof::reports
