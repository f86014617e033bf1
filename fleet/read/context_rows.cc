#include "fleet/read/context_rows.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "fleet/push/identity.h"
#include "fleet/server/row_binary.h"

namespace jprof::fleet {
namespace {

constexpr size_t kAtOnce = 200'000;  // contexts that are asked for in one query

int64_t Converted(int64_t value, double factor) {
  if (factor == 1) return value;
  return std::llround(static_cast<long double>(value) * factor);
}

using Places = std::unordered_map<ContextId, uint32_t>;

// What sums may be at most, so that those of rows with all their callees fit into 64 bits.
constexpr double kMostOfASum = 9e18;

std::unexpected<Error> TooMuch(const Server& server) {
  return Fail(
      "{}: the values of the selected runs add up to more than 64 bits can hold: select fewer runs "
      "(service=, from=, to=); jprof fleet top, history and outliers have no such limit",
      server.url().Text());
}

// Adds the sums of runs with one clock. Fails if one does not fit into 64 bits.
Result<void> AddSums(Server& server, const ClockGroup& group, const std::vector<bool>& is_time,
                     ContextRows& out, Places& places) {
  std::string sql = "SELECT context, type, max(live)";
  for (const char* column : {"entries_0", "entries_1", "exits_0", "exits_1", "dispatches"})
    sql += fmt::format(", sum({})", column);
  for (size_t m = 1; m <= is_time.size(); ++m) sql += fmt::format(", sum(value_{})", m);
  // The server does not report that a sum of integers overflows.
  std::string overflow = "0";
  for (size_t m = 1; m <= is_time.size(); ++m)
    overflow += fmt::format(" OR abs(sum(toFloat64(value_{}))) > {}", m, kMostOfASum);
  sql += fmt::format(", toUInt8({})", overflow);
  sql += fmt::format(" FROM counts WHERE {} AND push GLOBAL IN selected GROUP BY context, type",
                     PlacesOf(group.runs));
  bool overflows = false;
  TypeSums row = {.values = std::vector<int64_t>(is_time.size())};
  const auto take = [&](RowReader& rows) {
    const std::string_view bytes = rows.Bytes(16);
    row.type = static_cast<FrameKind>(rows.Get<uint8_t>() & 15);
    row.live = rows.Get<uint8_t>() != 0;
    for (uint64_t& count : row.counts) count = rows.Get<uint64_t>();
    for (int64_t& value : row.values) value = rows.Get<int64_t>();
    const bool is_too_much = rows.Get<uint8_t>() != 0;
    if (!rows.ok()) return;
    ContextId id(bytes);
    const auto [at, is_new] = places.try_emplace(id, static_cast<uint32_t>(out.rows.size()));
    if (is_new) out.rows.push_back({.id = std::move(id), .parent = {}, .folded = {}, .sums = {}});
    std::vector<TypeSums>& sums = out.rows[at->second].sums;
    auto known = std::ranges::find(sums, row.type, &TypeSums::type);
    if (known == sums.end()) {
      sums.push_back({.type = row.type, .values = std::vector<int64_t>(is_time.size())});
      known = sums.end() - 1;
    }
    known->live |= row.live;
    for (size_t i = 0; i < std::size(row.counts); ++i) known->counts[i] += row.counts[i];
    for (size_t m = 0; m < is_time.size(); ++m)
      known->values[m] += Converted(row.values[m], is_time[m] ? group.factor : 1);
    overflows |= is_too_much;
  };
  auto done = server.ForEachRow(sql, {PushesOf(group.runs)}, take);
  if (done && overflows) return TooMuch(server);
  return done;
}

// Returns whether the sum of all rows fits into 64 bits, for each metric.
bool Fits(const std::vector<ContextRow>& rows, size_t metrics) {
  for (size_t m = 0; m < metrics; ++m) {
    double total = 0;
    for (const ContextRow& row : rows)
      for (const TypeSums& sums : row.sums) total += std::abs(static_cast<double>(sums.values[m]));
    if (total > kMostOfASum) return false;
  }
  return true;
}

// Adds where the contexts are in the tree.
Result<void> AddPlaces(Server& server, ContextRows& out, const Places& places) {
  for (size_t first = 0; first < out.rows.size(); first += kAtOnce) {
    SentTable asked = {.name = "asked", .structure = "context FixedString(16)", .rows = {}};
    for (size_t i = first; i < std::min(first + kAtOnce, out.rows.size()); ++i)
      asked.rows += out.rows[i].id;
    const auto take = [&](RowReader& rows) {
      const auto at = places.find(ContextId(rows.Bytes(16)));
      const std::string_view parent = rows.Bytes(16), folded = rows.Bytes(16);
      const auto frame = rows.Get<uint64_t>();
      const auto depth = rows.Get<uint32_t>();
      if (!rows.ok() || at == places.end()) return;
      ContextRow& row = out.rows[at->second];
      row.parent = parent;
      row.folded = folded;
      row.frame = frame;
      row.depth = depth;
    };
    const auto done = server.ForEachRow(
        "SELECT context, parent, folded, frame, depth FROM contexts WHERE context GLOBAL IN asked",
        {asked}, take);
    if (!done) return done;
  }
  return {};
}

// Sorts parents to the front, and finds them.
Result<void> Arrange(const Server& server, std::vector<ContextRow>& rows) {
  std::ranges::sort(rows, [](const ContextRow& a, const ContextRow& b) {
    return std::tie(a.depth, a.parent, a.id) < std::tie(b.depth, b.parent, b.id);
  });
  Places places;
  for (uint32_t i = 0; i < rows.size(); ++i) {
    ContextRow& row = rows[i];
    const auto above = places.find(row.parent);
    if (row.parent.empty() || (row.depth > 0 && above == places.end())) {
      return Fail(
          "{}: the tables contexts and counts do not belong together: a context or its caller is "
          "missing; push the runs again",
          server.url().Text());
    }
    if (row.depth > 0) row.above = above->second;
    places.emplace(row.id, i);
  }
  return {};
}

// Returns calls and the amounts of all metrics of one context.
std::vector<double> AmountsOf(const ContextRow& row) {
  std::vector<double> amounts;
  for (const TypeSums& sums : row.sums) {
    amounts.resize(1 + sums.values.size());
    amounts[0] += static_cast<double>(sums.counts[0]) + static_cast<double>(sums.counts[1]);
    for (size_t m = 0; m < sums.values.size(); ++m)
      amounts[1 + m] += std::abs(static_cast<double>(sums.values[m]));
  }
  return amounts;
}

}  // namespace

std::vector<ClockGroup> ByClock(const std::vector<SelectedRun>& runs) {
  std::vector<ClockGroup> groups;
  std::map<double, size_t> by_rate;
  const double first = runs.front().ticks_per_second;
  for (const SelectedRun& run : runs) {
    const auto [at, is_new] = by_rate.try_emplace(run.ticks_per_second, groups.size());
    if (is_new) {
      const bool known = first > 0 && run.ticks_per_second > 0;
      groups.push_back({known ? first / run.ticks_per_second : 1, {}});
    }
    groups[at->second].runs.push_back(run);
  }
  return groups;
}

Result<std::unordered_map<uint64_t, FrameName>> FrameNames(Server& server,
                                                           const std::vector<uint64_t>& frames) {
  SentTable asked = {.name = "asked", .structure = "frame UInt64", .rows = {}};
  RowWriter writer(asked.rows);
  for (const uint64_t frame : frames) writer.Put(frame);
  std::unordered_map<uint64_t, FrameName> names;
  const auto take = [&](RowReader& rows) {
    const auto frame = rows.Get<uint64_t>();
    FrameName row;
    row.kind = rows.Get<uint8_t>();
    row.flags = rows.Get<uint16_t>();
    for (std::string* text : {&row.class_name, &row.name, &row.signature}) *text = rows.Text();
    if (!rows.ok()) return;
    FrameName& name = names[frame];
    row.flags |= name.flags;
    name = std::move(row);
  };
  const auto done = server.ForEachRow(
      "SELECT frame, kind, flags, class, name, signature FROM frames WHERE frame GLOBAL IN asked",
      {asked}, take);
  if (!done) return std::unexpected(done.error());
  return names;
}

Result<ContextRows> SumContexts(Server& server, const std::vector<SelectedRun>& runs) {
  ContextRows out;
  Places places;
  std::vector<bool> is_time;
  for (const std::string& metric : runs.front().MetricNames()) {
    // The shape states the kind of each metric; 0 is time.
    is_time.push_back(runs.front().shape.find(fmt::format("; {} in ns, kind 0", metric)) !=
                      std::string::npos);
  }
  for (const ClockGroup& group : ByClock(runs)) {
    if (auto added = AddSums(server, group, is_time, out, places); !added)
      return std::unexpected(added.error());
    if (!Fits(out.rows, is_time.size())) return TooMuch(server);
  }
  if (auto added = AddPlaces(server, out, places); !added) return std::unexpected(added.error());
  if (auto arranged = Arrange(server, out.rows); !arranged)
    return std::unexpected(arranged.error());
  std::vector<uint64_t> frames;
  for (const ContextRow& row : out.rows) frames.push_back(row.frame);
  std::ranges::sort(frames);
  frames.erase(std::ranges::unique(frames).begin(), frames.end());
  auto names = FrameNames(server, frames);
  if (!names) return std::unexpected(names.error());
  out.frames = *std::move(names);
  return out;
}

size_t HideSmall(ContextRows& contexts, double share) {
  std::vector<ContextRow>& rows = contexts.rows;
  std::vector<std::vector<double>> inclusive;
  for (const ContextRow& row : rows) inclusive.push_back(AmountsOf(row));
  std::vector<double> total;
  for (size_t i = rows.size(); i-- > 0;) {
    std::vector<double>& to =
        rows[i].above == profile::kNoRecord ? total : inclusive[rows[i].above];
    to.resize(std::max(to.size(), inclusive[i].size()));
    for (size_t m = 0; m < inclusive[i].size(); ++m) to[m] += inclusive[i][m];
  }
  size_t hidden = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    ContextRow& row = rows[i];
    if (row.above == profile::kNoRecord || share <= 0) continue;
    row.hidden = true;
    for (size_t m = 0; m < inclusive[i].size(); ++m) {
      if (total[m] > 0 && inclusive[i][m] >= share * total[m]) row.hidden = false;
    }
    row.hidden |= rows[row.above].hidden;
    hidden += row.hidden;
  }
  return hidden;
}

}  // namespace jprof::fleet
