#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <unordered_map>

#include "fleet/read/questions.h"
#include "fleet/schema/schema.h"
#include "fleet/server/row_binary.h"
#include "profile/files/printable_text.h"

namespace jprof::fleet {
namespace {

constexpr uint64_t kDayNanos = 86400ull * 1'000'000'000;
constexpr size_t kFewestHosts = 5;

// The amounts of each run.
using ByRun = std::unordered_map<uint64_t, double>;

struct Asked {
  std::vector<SelectedRun> runs;
  Measure measure;
  ByRun totals;
};

// Returns the sum of each run, of rows that fulfil `condition`.
Result<ByRun> SumsOf(Server& server, const std::vector<SelectedRun>& runs, const Measure& measure,
                     const std::string& condition) {
  const auto found = server.Query(
      fmt::format("SELECT push, toFloat64({}) FROM counts WHERE {} AND push GLOBAL IN selected{} "
                  "GROUP BY push",
                  measure.column, PlacesOf(runs), condition),
      {PushesOf(runs)});
  if (!found) return std::unexpected(found.error());
  ByRun sums;
  for (RowReader rows(*found); !rows.AtEnd();) {
    const auto push = rows.Get<uint64_t>();
    sums[push] = rows.Get<double>();
  }
  return sums;
}

Result<Asked> Ask(Server& server, const Selection& selection, const std::string& by) {
  if (auto checked = CheckSchema(server); !checked) return std::unexpected(checked.error());
  auto runs = SelectRuns(server, selection);
  if (!runs) return std::unexpected(runs.error());
  if (auto one = CheckOneShape(*runs); !one) return std::unexpected(one.error());
  auto measure = MeasureOf(server, *runs, by);
  if (!measure) return std::unexpected(measure.error());
  auto totals = SumsOf(server, *runs, *measure, "");
  if (!totals) return std::unexpected(totals.error());
  return Asked{*std::move(runs), *std::move(measure), *std::move(totals)};
}

// A method that was asked for: the condition on its rows, and its name.
struct Subject {
  std::string condition, name;
};

Result<Subject> ContextNamed(const std::string& text) {
  const bool good = text.size() == 32 && text.find_first_not_of("0123456789abcdef") == text.npos;
  if (good) return Subject{fmt::format(" AND folded = unhex('{}')", text), text};
  return WrongUse(
      "--context {}: write the 32 digits that jprof fleet top --contexts --format json "
      "shows",
      profile::CleanText(text));
}

// Finds the frames of a method: Class.method, pkg.Class.method, or a method alone.
Result<Subject> MethodNamed(Server& server, const std::string& text) {
  const size_t dot = text.rfind('.');
  const std::string method = dot == text.npos ? text : text.substr(dot + 1);
  std::string class_name = dot == text.npos ? "" : text.substr(0, dot);
  std::ranges::replace(class_name, '.', '/');
  std::string condition = fmt::format("kind = 0 AND name = {}", Quoted(method));
  if (!class_name.empty()) {
    condition += fmt::format(" AND (class = {} OR endsWith(class, {}))", Quoted(class_name),
                             Quoted("/" + class_name));
  }
  const auto found = server.Query(
      fmt::format("SELECT DISTINCT frame, class, name FROM frames WHERE {} LIMIT 1000", condition));
  if (!found) return std::unexpected(found.error());
  std::string frames, name;
  std::map<std::string, size_t> names;
  for (RowReader rows(*found); !rows.AtEnd();) {
    frames += fmt::format("{}{}", frames.empty() ? "" : ", ", rows.Get<uint64_t>());
    FrameName frame;
    frame.class_name = rows.Text();
    frame.name = rows.Text();
    ++names[TextOf(frame)];
  }
  if (names.empty()) {
    return WrongUse("--method {}: the database has no such method; jprof fleet top shows some",
                    profile::CleanText(text));
  }
  if (names.size() > 1) {
    std::string list;
    for (const auto& [one, count] : names)
      if (list.size() < 300) list += (list.empty() ? "" : ", ") + one;
    return WrongUse("--method {} is ambiguous: {}", profile::CleanText(text),
                    profile::CleanText(list));
  }
  return Subject{fmt::format(" AND frame IN ({})", frames), names.begin()->first};
}

// Returns the sums of the methods by host.
Result<std::map<uint64_t, std::map<std::string, double>>> SumsByHost(Server& server,
                                                                     const Asked& asked,
                                                                     const Top& top) {
  SentTable frames = {.name = "asked", .structure = "frame UInt64", .rows = {}};
  RowWriter writer(frames.rows);
  for (const TopRow& row : top.rows) writer.Put(row.frame);
  const auto found = server.Query(
      fmt::format("SELECT frame, push, toFloat64({}) FROM counts WHERE {} AND push GLOBAL IN "
                  "selected AND frame GLOBAL IN asked GROUP BY frame, push",
                  asked.measure.column, PlacesOf(asked.runs)),
      {PushesOf(asked.runs), frames});
  if (!found) return std::unexpected(found.error());
  std::unordered_map<uint64_t, const SelectedRun*> runs;
  for (const SelectedRun& run : asked.runs) runs[run.push] = &run;
  std::map<uint64_t, std::map<std::string, double>> sums;
  for (RowReader rows(*found); !rows.AtEnd();) {
    const auto frame = rows.Get<uint64_t>(), push = rows.Get<uint64_t>();
    const auto sum = rows.Get<double>();
    if (const auto run = runs.find(push); run != runs.end()) sums[frame][run->second->host] += sum;
  }
  return sums;
}

}  // namespace

Result<History> AskHistory(Server& server, const Selection& selection,
                           const HistoryQuestion& question) {
  auto asked = Ask(server, selection, question.by);
  if (!asked) return std::unexpected(asked.error());
  const auto subject = question.context.empty() ? MethodNamed(server, question.method)
                                                : ContextNamed(question.context);
  if (!subject) return std::unexpected(subject.error());
  const auto sums = SumsOf(server, asked->runs, asked->measure, subject->condition);
  if (!sums) return std::unexpected(sums.error());
  if (!question.context.empty() && sums->empty())
    return WrongUse("--context {}: no selected run has it; jprof fleet top --contexts shows some",
                    question.context);

  struct Group {
    std::vector<double> shares;
    double amount = 0;
    uint64_t first = UINT64_MAX;
  };
  std::map<std::pair<uint64_t, std::string>, Group> groups;
  const double first_rate = asked->runs.front().ticks_per_second;
  for (const SelectedRun& run : asked->runs) {
    Group& group = groups[{run.start / kDayNanos, run.version}];
    const auto at = sums->find(run.push);
    const double amount = at == sums->end() ? 0 : at->second;
    const double total = asked->totals[run.push];
    const bool converts = asked->measure.is_time && run.ticks_per_second > 0 && first_rate > 0;
    group.shares.push_back(total != 0 ? amount / total : 0);
    group.amount += amount * (converts ? first_rate / run.ticks_per_second : 1);
    group.first = std::min(group.first, run.start);
  }
  // Versions of one day are in the order in which they started.
  std::vector<std::pair<std::pair<uint64_t, std::string>, Group>> ordered(groups.begin(),
                                                                          groups.end());
  std::ranges::stable_sort(ordered, {}, [](const auto& one) { return one.second.first; });
  History history = {.measure = asked->measure, .name = subject->name, .rows = {}};
  std::vector<std::vector<double>> shares;
  for (const auto& [key, group] : ordered) {
    double sum = 0, squares = 0;
    for (const double share : group.shares) {
      sum += share;
      squares += share * share;
    }
    const auto count = static_cast<double>(group.shares.size());
    history.rows.push_back({.day = key.first,
                            .version = key.second,
                            .runs = group.shares.size(),
                            .share = sum / count,
                            .arm = ArmOfMean(sum, squares, count),
                            .mean = group.amount * asked->measure.scale / count});
    shares.push_back(group.shares);
  }
  MarkChanges(shares, history.rows);
  return history;
}

Result<Outliers> AskOutliers(Server& server, const Selection& selection,
                             const OutlierQuestion& question) {
  auto asked = Ask(server, selection, question.by);
  if (!asked) return std::unexpected(asked.error());
  const auto top = AskTop(server, selection, {.by = question.by, .most = question.methods});
  if (!top) return std::unexpected(top.error());

  std::map<std::string, std::pair<size_t, double>> hosts;  // runs and totals
  for (const SelectedRun& run : asked->runs) {
    auto& [count, total] = hosts[run.host];
    ++count;
    total += asked->totals[run.push];
  }
  Outliers outliers = {
      .measure = asked->measure, .rows = {}, .hosts = hosts.size(), .methods = top->rows.size()};
  if (hosts.size() < kFewestHosts) {
    return WrongUse("the selection has runs of {} hosts; deviations are found among {} or more",
                    hosts.size(), kFewestHosts);
  }
  auto sums = SumsByHost(server, *asked, *top);
  if (!sums) return std::unexpected(sums.error());
  for (const TopRow& row : top->rows) {
    std::map<std::string, double>& by_host = (*sums)[row.frame];
    std::vector<double> shares;
    for (const auto& [host, of] : hosts)
      shares.push_back(of.second != 0 ? by_host[host] / of.second : 0);
    // What chance alone does to samples: the square root of their number. Counts have none.
    double expected = 0;
    for (const auto& [host, of] : hosts) expected += of.second;
    const double typical = expected / static_cast<double>(hosts.size());
    const double least = asked->measure.is_samples && typical > 0
                             ? std::sqrt(std::max(row.share, 1 / typical) / typical)
                             : 1e-4;
    const std::vector<double> scores = RobustScores(shares, least);
    std::vector<double> sorted = shares;
    std::ranges::sort(sorted);
    const double median = (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;
    size_t i = 0;
    for (const auto& [host, of] : hosts) {
      if (std::abs(scores[i]) >= question.score) {
        outliers.rows.push_back({.host = host,
                                 .name = row.name,
                                 .runs = of.first,
                                 .share = shares[i],
                                 .median = median,
                                 .score = scores[i]});
      }
      ++i;
    }
  }
  std::ranges::stable_sort(outliers.rows, std::ranges::greater(),
                           [](const OutlierRow& row) { return std::abs(row.score); });
  return outliers;
}

}  // namespace jprof::fleet
