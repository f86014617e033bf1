#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "fleet/push/identity.h"
#include "fleet/read/load_spread.h"
#include "fleet/read/questions.h"
#include "fleet/schema/schema.h"
#include "fleet/server/row_binary.h"

namespace jprof::fleet {
namespace {

// The key of a row: the frame's number, or the fingerprint of a context without sites.
using Key = std::string;

struct Amounts {
  double total = 0;
  double sum = 0, squares = 0;  // of the drawn runs
  uint64_t runs = 0;
};

Key TakeKey(RowReader& rows, bool contexts) {
  return Key(rows.Bytes(contexts ? 16 : sizeof(uint64_t)));
}

Result<void> AddTotals(Server& server, const std::vector<SelectedRun>& runs, const Top& top,
                       const TopQuestion& question, std::map<Key, Amounts>& amounts) {
  for (const ClockGroup& group : ByClock(runs)) {
    const auto found = server.Query(
        fmt::format("SELECT {0}, toFloat64({1}) FROM counts WHERE {2} AND push GLOBAL IN selected "
                    "GROUP BY {0}",
                    question.contexts ? "folded" : "frame", top.measure.column,
                    PlacesOf(group.runs)),
        {PushesOf(group.runs)});
    if (!found) return std::unexpected(found.error());
    const double scale = top.measure.scale * (top.measure.is_time ? group.factor : 1);
    for (RowReader rows(*found); !rows.AtEnd();) {
      Amounts& of = amounts[TakeKey(rows, question.contexts)];
      of.total += rows.Get<double>() * scale;
    }
  }
  return {};
}

// Adds how the drawn runs differ in the rows `asked`.
Result<void> AddDifferences(Server& server, const std::vector<SelectedRun>& drawn, const Top& top,
                            bool contexts, const std::vector<Key>& asked,
                            std::map<Key, Amounts>& amounts) {
  SentTable keys = {
      .name = "asked", .structure = contexts ? "k FixedString(16)" : "k UInt64", .rows = {}};
  for (const Key& key : asked) keys.rows += key;
  for (const ClockGroup& group : ByClock(drawn)) {
    const auto found = server.Query(
        fmt::format("SELECT k, count(), sum(v), sum(v * v) FROM (SELECT {0} AS k, push, "
                    "toFloat64({1}) AS v FROM counts WHERE {2} AND push GLOBAL IN selected AND {0} "
                    "GLOBAL IN asked GROUP BY k, push) GROUP BY k",
                    contexts ? "folded" : "frame", top.measure.column, PlacesOf(group.runs)),
        {PushesOf(group.runs), keys});
    if (!found) return std::unexpected(found.error());
    const double scale = top.measure.scale * (top.measure.is_time ? group.factor : 1);
    for (RowReader rows(*found); !rows.AtEnd();) {
      Amounts& of = amounts[TakeKey(rows, contexts)];
      of.runs += rows.Get<uint64_t>();
      of.sum += rows.Get<double>() * scale;
      of.squares += rows.Get<double>() * scale * scale;
    }
  }
  return {};
}

// The place of a context in the tree.
struct Place {
  Key parent;
  uint64_t frame = 0;
};

// Returns the contexts with all their callers.
Result<std::map<Key, Place>> PlacesOf(Server& server, std::set<Key> asked) {
  std::map<Key, Place> places;
  while (!asked.empty()) {
    SentTable table = {.name = "asked", .structure = "context FixedString(16)", .rows = {}};
    for (const Key& key : asked) table.rows += key;
    asked.clear();
    const auto found = server.Query(
        "SELECT context, parent, frame FROM contexts WHERE context GLOBAL IN asked", {table});
    if (!found) return std::unexpected(found.error());
    for (RowReader rows(*found); !rows.AtEnd();) {
      Place& place = places[Key(rows.Bytes(16))];
      place.parent = rows.Bytes(16);
      place.frame = rows.Get<uint64_t>();
      if (!places.contains(place.parent) && place.parent != Key(16, '\0'))
        asked.insert(place.parent);
    }
    if (places.size() > 1'000'000) break;
  }
  return places;
}

std::string Hexadecimal(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

// Names the rows of contexts, and adds their callers.
Result<void> NameContexts(Server& server, const std::vector<Key>& keys, Top& top) {
  const auto places = PlacesOf(server, {keys.begin(), keys.end()});
  if (!places) return std::unexpected(places.error());
  std::vector<uint64_t> frames;
  for (const auto& [key, place] : *places) frames.push_back(place.frame);
  const auto names = FrameNames(server, frames);
  if (!names) return std::unexpected(names.error());
  const auto name_of = [&](const Place& place) {
    const auto at = names->find(place.frame);
    return at == names->end() ? std::string("(unknown)") : TextOf(at->second);
  };
  for (size_t i = 0; i < keys.size(); ++i) {
    TopRow& row = top.rows[i];
    row.context = Hexadecimal(keys[i]);
    auto at = places->find(keys[i]);
    if (at == places->end()) continue;
    row.name = name_of(at->second);
    for (at = places->find(at->second.parent); at != places->end();
         at = places->find(at->second.parent))
      row.path += (row.path.empty() ? "" : " < ") + name_of(at->second);
  }
  return {};
}

Result<void> NameMethods(Server& server, const std::vector<Key>& keys, Top& top) {
  std::vector<uint64_t> frames;
  for (const Key& key : keys) frames.push_back(RowReader(key).Get<uint64_t>());
  auto names = FrameNames(server, frames);
  if (!names) return std::unexpected(names.error());
  for (size_t i = 0; i < frames.size(); ++i) top.rows[i].name = TextOf((*names)[frames[i]]);
  return {};
}

}  // namespace

Result<Top> AskTop(Server& server, const Selection& selection, const TopQuestion& question) {
  if (auto checked = CheckSchema(server); !checked) return std::unexpected(checked.error());
  const auto runs = SelectRuns(server, selection);
  if (!runs) return std::unexpected(runs.error());
  if (auto one = CheckOneShape(*runs); !one) return std::unexpected(one.error());
  auto measure = MeasureOf(server, *runs, question.by);
  if (!measure) return std::unexpected(measure.error());
  Top top = {.measure = *measure, .rows = {}, .runs = runs->size()};
  std::set<std::string> hosts;
  for (const SelectedRun& run : *runs) hosts.insert(run.host);
  top.hosts = hosts.size();

  std::map<Key, Amounts> amounts;
  if (auto added = AddTotals(server, *runs, top, question, amounts); !added)
    return std::unexpected(added.error());
  std::vector<Key> keys;
  for (const auto& [key, of] : amounts) {
    keys.push_back(key);
    top.total += of.total;
  }
  const size_t shown = std::min(question.most, keys.size());
  std::ranges::partial_sort(
      keys, keys.begin() + static_cast<ptrdiff_t>(shown), [&](const Key& a, const Key& b) {
        return std::pair(-amounts[a].total, a) < std::pair(-amounts[b].total, b);
      });
  keys.resize(shown);
  const std::vector<SelectedRun> drawn = Drawn(*runs);
  top.drawn = drawn.size();
  if (auto added = AddDifferences(server, drawn, top, question.contexts, keys, amounts); !added)
    return std::unexpected(added.error());
  for (const Key& key : keys) {
    const Amounts& of = amounts[key];
    const auto count = static_cast<double>(drawn.size());
    top.rows.push_back({.name = {},
                        .frame = question.contexts ? 0 : RowReader(key).Get<uint64_t>(),
                        .context = {},
                        .path = {},
                        .total = of.total,
                        .share = top.total > 0 ? of.total / top.total : 0,
                        .mean = of.total / static_cast<double>(runs->size()),
                        .arm = ArmOfMean(of.sum, of.squares, count),
                        .runs = of.runs});
  }
  auto named = question.contexts ? NameContexts(server, keys, top) : NameMethods(server, keys, top);
  if (!named) return std::unexpected(named.error());
  return top;
}

}  // namespace jprof::fleet
