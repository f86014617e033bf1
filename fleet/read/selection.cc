#include "fleet/read/selection.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <ctime>
#include <iterator>
#include <map>
#include <set>

#include "common/nearest.h"
#include "fleet/push/run_row.h"
#include "fleet/server/row_binary.h"
#include "profile/files/printable_text.h"

namespace jprof::fleet {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kDay = 86400 * kSecond;
constexpr size_t kLongestList = 2000;  // bytes in a condition, which is part of a URL
constexpr std::string_view kNames[] = {"service", "version", "host", "mode",
                                       "metrics", "from",    "to",   "min_share"};
constexpr std::string_view kLabel = "label.";

// Returns the moment in ns. A date as an end is the end of that day.
Result<uint64_t> MomentOf(std::string_view name, const std::string& text, bool is_end,
                          uint64_t now_ns) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, text.data() + text.size());
  for (const auto& [letter, length] :
       {std::pair{"d", kDay}, {"h", 3600 * kSecond}, {"m", 60 * kSecond}}) {
    if (error == std::errc() && unit == letter && number < 100'000)
      return now_ns - std::min(now_ns, number * length);
  }
  for (const char* format :
       {"%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d"}) {
    std::tm time = {};
    const char* rest = strptime(text.c_str(), format, &time);
    if (rest == nullptr || *rest != '\0' || time.tm_year < 70) continue;
    const auto seconds = static_cast<uint64_t>(timegm(&time));
    if (seconds > kLastDay * 86400) return UINT64_MAX;
    const bool is_day = std::string_view(format).ends_with("%d");
    return seconds * kSecond + (is_end && is_day ? kDay - 1 : 0);
  }
  return WrongUse(
      "{}={}: write a date ({}=2026-11-29), a moment in UTC (2026-11-29T10:00), or how "
      "long ago (7d, 12h, 30m)",
      name, profile::CleanText(text), name);
}

Result<void> TakeParameter(const std::string& name, const std::string& value, uint64_t now_ns,
                           Selection& to) {
  std::string* const texts[] = {&to.service, &to.version, &to.host, &to.mode, &to.metrics};
  const auto known = std::ranges::find(kNames, name);
  const auto place = static_cast<size_t>(known - std::begin(kNames));
  if (place < std::size(texts)) {
    *texts[place] = value;
    return {};
  }
  if (name.starts_with(kLabel) && name.size() > kLabel.size()) {
    to.labels.emplace_back(name.substr(kLabel.size()), value);
    return {};
  }
  if (name == "min_share") {
    const char* end = value.data() + value.size();
    const auto [at, error] = std::from_chars(value.data(), end, to.min_share);
    if (error == std::errc() && at == end && to.min_share >= 0 && to.min_share < 1) return {};
    return WrongUse(
        "min_share={}: write a part of the whole, from 0 (all contexts) to below 1: "
        "min_share=0.001",
        profile::CleanText(value));
  }
  if (name == "from" || name == "to") {
    const auto moment = MomentOf(name, value, name == "to", now_ns);
    if (!moment) return std::unexpected(moment.error());
    (name == "from" ? to.from_ns : to.to_ns) = *moment;
    return {};
  }
  const auto nearest = Nearest(name, kNames);
  return WrongUse(
      "the URL has an unknown parameter {}{}; there are: {}, label.NAME", profile::CleanText(name),
      nearest ? fmt::format("; did you mean '{}'?", *nearest) : "", fmt::join(kNames, ", "));
}

// Returns the condition on a row of `runs`.
std::string Condition(const Selection& of) {
  std::string condition = fmt::format("start >= {} AND start <= {}", of.from_ns, of.to_ns);
  for (const auto& [column, value] : {std::pair{"service", &of.service},
                                      {"version", &of.version},
                                      {"host", &of.host},
                                      {"mode", &of.mode},
                                      {"metrics", &of.metrics}}) {
    if (!value->empty()) condition += fmt::format(" AND {} = {}", column, Quoted(*value));
  }
  for (const auto& [name, value] : of.labels) {
    condition +=
        fmt::format(" AND arrayExists((n, v) -> n = {} AND v = {}, label_names, label_values)",
                    Quoted(name), Quoted(value));
  }
  return condition;
}

// Describes the database for somebody whose selection has no runs.
std::string WhatThereIs(Server& server) {
  const auto found = server.Query(
      "SELECT service, uniq(run), toString(min(day)), toString(max(day)) FROM runs GROUP BY "
      "service ORDER BY service LIMIT 20");
  if (!found || found->empty()) return "it has no runs at all; jprof push sends them";
  std::string text = "it has";
  for (RowReader rows(*found); !rows.AtEnd();) {
    const std::string service(rows.Text());
    const auto runs = rows.Get<uint64_t>();
    const std::string first(rows.Text()), last(rows.Text());
    text += fmt::format("{} {} ({} runs, {} to {})", text.size() > 6 ? "," : "",
                        profile::CleanText(service), runs, first, last);
  }
  return text;
}

}  // namespace

uint64_t NowNanos() {
  return static_cast<uint64_t>(
      std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count());
}

Result<Selection> SelectionOf(const Url& url, uint64_t now_ns) {
  Selection selection;
  for (const auto& [name, value] : url.parameters) {
    if (auto taken = TakeParameter(name, value, now_ns, selection); !taken)
      return std::unexpected(taken.error());
  }
  return selection;
}

std::vector<std::string> SelectedRun::MetricNames() const {
  std::vector<std::string> names;
  for (size_t at = 0; at < metrics.size();) {
    const size_t end = std::min(metrics.find(',', at), metrics.size());
    names.push_back(metrics.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

Result<std::vector<SelectedRun>> SelectRuns(Server& server, const Selection& selection) {
  constexpr char kColumns[] =
      "push, start, duration, calls, service, version, host, mode, shape, metrics, sites, "
      "ticks_per_second, cpu_seconds";
  const auto day = [](uint64_t ns) { return std::min(ns / kDay, kLastDay); };
  const auto found = server.Query(fmt::format(
      "SELECT {0} FROM (SELECT run, pushed, label_names, label_values, {0} FROM runs WHERE day >= "
      "toDate({1}) AND day <= toDate({2}) ORDER BY pushed DESC, push LIMIT 1 BY run) WHERE {3} "
      "ORDER BY start, push",
      kColumns, day(selection.from_ns), day(selection.to_ns), Condition(selection)));
  if (!found) return std::unexpected(found.error());
  std::vector<SelectedRun> runs;
  RowReader rows(*found);
  while (!rows.AtEnd()) {
    SelectedRun run;
    for (uint64_t* number : {&run.push, &run.start, &run.duration, &run.calls})
      *number = rows.Get<uint64_t>();
    for (std::string* text :
         {&run.service, &run.version, &run.host, &run.mode, &run.shape, &run.metrics})
      *text = rows.Text();
    run.sites = rows.Get<uint8_t>() != 0;
    run.ticks_per_second = rows.Get<double>();
    run.cpu_seconds = rows.Get<double>();
    runs.push_back(std::move(run));
  }
  if (!rows.ok()) return Fail("{}: the answer of the server is cut off", server.url().Text());
  if (!runs.empty()) return runs;
  return WrongUse("{}: no run of the database is selected; {}", server.url().Text(),
                  WhatThereIs(server));
}

Result<void> CheckOneShape(const std::vector<SelectedRun>& runs) {
  std::map<std::string, std::pair<size_t, const SelectedRun*>> shapes;
  for (const SelectedRun& run : runs) {
    auto& [count, first] = shapes[run.shape];
    ++count;
    first = &run;
  }
  if (shapes.size() == 1) return {};
  std::string list;
  for (const auto& [shape, of] : shapes) {
    list += fmt::format("{}{} runs of mode={}", list.empty() ? "" : ", ", of.first,
                        profile::CleanText(of.second->mode));
    if (!of.second->metrics.empty()) list += "&metrics=" + profile::CleanText(of.second->metrics);
  }
  return WrongUse(
      "the selected runs recorded different things, which cannot be added: {}; select one by these "
      "parameters of the URL, or by service, label, from and to",
      list);
}

SentTable PushesOf(const std::vector<SelectedRun>& runs, const char* name) {
  SentTable table = {.name = name, .structure = "push UInt64", .rows = {}};
  RowWriter rows(table.rows);
  for (const SelectedRun& run : runs) rows.Put(run.push);
  return table;
}

std::string DaysOf(const std::vector<SelectedRun>& runs) {
  uint64_t first = UINT64_MAX, last = 0;
  for (const SelectedRun& run : runs) {
    first = std::min(first, run.start / kDay);
    last = std::max(last, run.start / kDay);
  }
  return fmt::format("day >= toDate({}) AND day <= toDate({})", std::min(first, kLastDay),
                     std::min(last, kLastDay));
}

std::string PlacesOf(const std::vector<SelectedRun>& runs) {
  std::string condition = DaysOf(runs);
  std::set<std::string> services;
  for (const SelectedRun& run : runs) services.insert(Quoted(run.service));
  const std::string list = fmt::format("{}", fmt::join(services, ", "));
  if (list.size() <= kLongestList) condition += fmt::format(" AND service IN ({})", list);
  return condition;
}

}  // namespace jprof::fleet
