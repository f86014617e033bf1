#include "fleet/read/load.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>

#include "fleet/push/identity.h"
#include "fleet/push/run_row.h"
#include "fleet/read/context_rows.h"
#include "fleet/read/load_spread.h"
#include "fleet/schema/schema.h"
#include "fleet/server/row_binary.h"
#include "profile/merge/merged_control.h"
#include "profile/merge/merged_distributions.h"
#include "profile/merge/merged_texts.h"
#include "profile/merge/spread.h"

namespace jprof::fleet {
namespace {

using profile::ControlHeader;
using profile::MergedControl;
using profile::MergedTexts;
using profile::MergedTree;
using profile::MergeThreads;
using profile::ThreadRecord;

constexpr size_t kPage = 2000;  // runs whose metadata is in memory at once

// What `runs` has of a run beyond what selects it.
struct RunDetails {
  profile::MergedInput input;
  profile::Meta meta;
  std::string calibration;
  ControlHeader header;
};

std::vector<std::string> TakeTexts(RowReader& rows) {
  std::vector<std::string> texts;
  for (uint64_t left = std::min<uint64_t>(rows.Length(), rows.left()); left > 0; --left)
    texts.emplace_back(rows.Text());
  return texts;
}

// Reads the details of these runs, by their pushes.
Result<std::map<uint64_t, RunDetails>> DetailsOf(Server& server,
                                                 const std::vector<SelectedRun>& page) {
  std::map<uint64_t, RunDetails> all;
  Result<void> readable;
  const auto take = [&](RowReader& rows) {
    const auto push = rows.Get<uint64_t>();
    RunDetails details;
    profile::MergedInput& input = details.input;
    input.calls = rows.Get<uint64_t>();
    input.cpu_seconds = rows.Get<double>();
    input.finished = rows.Get<uint8_t>() != 0;
    input.pid = rows.Get<uint64_t>();
    const std::string path(rows.Text()), host(rows.Text());
    input.path = fmt::format("{}:{}", host, path);
    input.command = TakeTexts(rows);
    input.damages = TakeTexts(rows);
    const std::string_view meta = rows.Text();
    details.calibration = rows.Text();
    const std::string_view header = rows.Text();
    if (!rows.ok()) return;
    profile::Damages unused;
    details.meta = profile::ParseMeta(meta, unused);
    input.start = details.meta.start;
    const auto unpacked = Unpacked(header);
    if (!unpacked) readable = std::unexpected(unpacked.error());
    if (unpacked) details.header = *unpacked;
    all[push] = std::move(details);
  };
  const auto done = server.ForEachRow(
      fmt::format("SELECT push, calls, cpu_seconds, finished, pid, path, host, command, damages, "
                  "meta, calibration, control FROM runs WHERE {} AND push GLOBAL IN selected",
                  PlacesOf(page)),
      {PushesOf(page)}, take);
  if (!done) return std::unexpected(done.error());
  if (!readable) return std::unexpected(readable.error());
  if (all.size() != page.size())
    return Fail("{}: runs changed while they were read; try again", server.url().Text());
  return all;
}

// A profile while it is made.
struct Making {
  MergedTexts texts{"by-name"};
  std::optional<MergedControl> control;
  std::optional<MergedTree> tree;
  std::map<std::string, uint32_t> roots;  // of threads
  size_t metric_count = 0;
};

Result<void> AddRuns(Server& server, const std::vector<SelectedRun>& runs, Making& making) {
  for (size_t first = 0; first < runs.size(); first += kPage) {
    const std::vector<SelectedRun> page(
        runs.begin() + static_cast<ptrdiff_t>(first),
        runs.begin() + static_cast<ptrdiff_t>(std::min(first + kPage, runs.size())));
    auto details = DetailsOf(server, page);
    if (!details) return std::unexpected(details.error());
    for (const SelectedRun& run : page) {
      RunDetails& of = (*details)[run.push];
      if (!making.control) {
        making.metric_count = of.meta.metrics.size();
        making.control.emplace(MergeThreads::kByName, of.header, making.metric_count);
        making.tree.emplace(making.metric_count, of.meta.is(Mode::kScs),
                            std::ranges::any_of(runs, &SelectedRun::sites));
      }
      if (of.meta.metrics.size() != making.metric_count)
        return Fail("{}: runs of one shape have different metrics", server.url().Text());
      const double factor = making.control->TicksFactor(of.header);
      making.control->AddHeader(of.header, factor);
      making.texts.Add(of.meta, of.calibration, factor, std::move(of.input));
    }
  }
  return {};
}

// Adds the threads of runs with one clock, summed by name.
Result<void> AddThreads(Server& server, const ClockGroup& group, Making& making) {
  std::string sql =
      "SELECT name, count(), min(state), groupBitOr(bitAnd(flags, 16777215)), "
      "max(bitShiftRight(flags, 24)), min(start_ticks), max(end_ticks), sum(own_ticks)";
  for (const char* column :
       {"cpu_ns", "dispatches", "healed", "unmatched", "overflow", "dropped", "samples",
        "samples_unknown", "samples_truncated", "samples_own", "samples_lost", "sampling_ticks"})
    sql += fmt::format(", sum({})", column);
  constexpr uint32_t kFlags[] = {profile::kThreadDisarmed,     profile::kThreadNoClock,
                                 profile::kThreadNoCounters,   profile::kThreadNotSampled,
                                 profile::kThreadBlocksSignal, profile::kThreadOtherTimer};
  for (const uint32_t flag : kFlags) sql += fmt::format(", countIf(bitAnd(flags, {}) != 0)", flag);
  sql += fmt::format(
      " FROM threads WHERE {} AND push GLOBAL IN selected GROUP BY name ORDER BY "
      "min(start_ticks), name",
      DaysOf(group.runs));
  const auto found = server.Query(sql, {PushesOf(group.runs)});
  if (!found) return std::unexpected(found.error());
  ControlHeader clock;
  clock.start_ticks = 1;
  RowReader rows(*found);
  while (!rows.AtEnd()) {
    const std::string name(rows.Text());
    rows.Get<uint64_t>();
    ThreadRecord record;
    record.state = rows.Get<uint32_t>();
    record.flags = rows.Get<uint32_t>();
    record.flags |= profile::FlagsOfError(static_cast<int>(rows.Get<uint32_t>()));
    record.start_ticks = rows.Get<uint64_t>();
    record.end_ticks = rows.Get<uint64_t>();
    record.own_ticks = rows.Get<int64_t>();
    for (uint64_t* sum : {&record.cpu_ns_end, &record.dispatches, &record.healed, &record.unmatched,
                          &record.overflow, &record.dropped, &record.samples,
                          &record.samples_unknown, &record.samples_truncated, &record.samples_own,
                          &record.samples_lost, &record.sampling_ticks})
      *sum = rows.Get<uint64_t>();
    ControlHeader& header = making.control->header();
    for (uint64_t* more :
         {&header.more_disarmed, &header.more_no_clock, &header.more_no_counters,
          &header.more_not_sampled, &header.more_blocks_signal, &header.more_other_timer}) {
      const auto flagged = rows.Get<uint64_t>();
      *more += flagged > 0 ? flagged - 1 : 0;
    }
    making.roots[name] = making.control->AddThread(name, record, clock, group.factor, *making.tree);
  }
  if (rows.ok()) return {};
  return Fail("{}: the answer of the server is cut off", server.url().Text());
}

void AddRowSums(const ContextRow& row, uint32_t context, FrameKind as, MergedTree& tree) {
  for (const TypeSums& sums : row.sums)
    tree.AddCounts(context, as == FrameKind::kNone ? sums.type : as, sums.counts,
                   sums.values.data());
}

// Returns the type that a context is shown as.
FrameKind ShownType(const ContextRow& row) {
  FrameKind shown = FrameKind::kNone;
  for (const TypeSums& sums : row.sums)
    if (sums.live) shown = std::max(shown, sums.type);
  return shown == FrameKind::kNone && !row.sums.empty() ? row.sums.front().type : shown;
}

// Adds the contexts to the tree. Returns the context of each row.
Result<std::vector<uint32_t>> AddContexts(const ContextRows& contexts, double share,
                                          Making& making) {
  MergedTree& tree = *making.tree;
  const std::string hidden_name = fmt::format("(contexts below {} % of the whole)", share * 100);
  std::vector<uint32_t> context_of;
  std::map<uint64_t, profile::MethodId> methods;
  std::optional<profile::MethodId> hidden;
  for (const ContextRow& row : contexts.rows) {
    const auto frame = contexts.frames.find(row.frame);
    if (frame == contexts.frames.end())
      return Fail("the database lacks the name of a method; push the runs again");
    const FrameName& name = frame->second;
    const FrameKind type = ShownType(row);
    if (row.above == profile::kNoRecord) {
      const auto root = making.roots.find(name.name);
      if (root == making.roots.end())
        return Fail("the database lacks the thread of a run; push the runs again");
      context_of.push_back(root->second);
      AddRowSums(row, root->second, FrameKind::kThread, tree);
      continue;
    }
    const uint32_t parent = context_of[row.above];
    if (row.hidden && contexts.rows[row.above].hidden) {
      context_of.push_back(parent);
      AddRowSums(row, parent, TypeOf(tree.ref(parent)), tree);
      continue;
    }
    if (row.hidden && type == FrameKind::kSite) {  // its values are those of its method
      context_of.push_back(parent);
      AddRowSums(row, parent, TypeOf(tree.ref(parent)), tree);
      continue;
    }
    profile::MethodRef ref = PackMethod(type, profile::kOverflowMethod);
    if (row.hidden) {
      if (!hidden) {
        const auto added = tree.AddMethod({"", hidden_name, "", profile::kMethodStub});
        if (!added) return std::unexpected(added.error());
        hidden = *added;
      }
      ref = PackMethod(FrameKind::kOther, *hidden);
    } else if (name.kind == static_cast<uint8_t>(FrameClass::kMethod)) {
      const auto [known, is_new] = methods.try_emplace(row.frame);
      if (is_new) {
        const auto added = tree.AddMethod({name.class_name, name.name, name.signature, name.flags});
        if (!added) return std::unexpected(added.error());
        known->second = *added;
      }
      ref = PackMethod(type, known->second);
    }
    const uint32_t context = tree.AddContext(parent, ref);
    context_of.push_back(context);
    AddRowSums(row, context, row.hidden ? FrameKind::kOther : FrameKind::kNone, tree);
  }
  return context_of;
}

Result<void> WriteFiles(const std::string& directory, Making& making) {
  const auto written = making.tree->Write(directory);
  if (!written) return std::unexpected(written.error());
  const profile::MergedDistributions none;  // the database has no times of single calls
  auto done = making.control->Write(directory, *written, none);
  if (done) done = making.texts.Write(directory, none.patterns());
  return done;
}

}  // namespace

Result<Loaded> Load(Server& server, const Selection& selection, const std::string& directory) {
  if (auto checked = CheckSchema(server); !checked) return std::unexpected(checked.error());
  const auto runs = SelectRuns(server, selection);
  if (!runs) return std::unexpected(runs.error());
  if (auto one = CheckOneShape(*runs); !one) return std::unexpected(one.error());
  Making making;
  if (auto added = AddRuns(server, *runs, making); !added) return std::unexpected(added.error());
  for (const ClockGroup& group : ByClock(*runs)) {
    if (auto added = AddThreads(server, group, making); !added)
      return std::unexpected(added.error());
  }
  auto contexts = SumContexts(server, *runs);
  if (!contexts) return std::unexpected(contexts.error());
  Loaded loaded = {.runs = runs->size(), .contexts = contexts->rows.size()};
  loaded.hidden = HideSmall(*contexts, selection.min_share);
  const auto context_of = AddContexts(*contexts, selection.min_share, making);
  if (!context_of) return std::unexpected(context_of.error());
  if (loaded.hidden > 0) {
    making.texts.AddNotice(fmt::format(
        "{} of {} contexts have less than {} % of all calls and of each metric: they are summed "
        "into rows of their callers; min_share=0 in the URL loads them",
        loaded.hidden, loaded.contexts, selection.min_share * 100));
  }
  auto spread = LoadSpread(server, *runs);
  if (!spread) return std::unexpected(spread.error());
  if (spread->sampled) {
    making.texts.AddNotice(fmt::format(
        "minimum, median and maximum are those of {} runs, drawn at random", spread->drawn));
  }
  if (auto written = WriteFiles(directory, making); !written)
    return std::unexpected(written.error());
  std::vector<profile::Range> ranges;
  const profile::Spread file =
      SpreadOf(*spread, runs->size(), *contexts, *context_of, *making.tree, making.metric_count);
  if (auto written = WriteSpread(directory + "/" + profile::kSpreadFile, file); !written)
    return std::unexpected(written.error());
  return loaded;
}

}  // namespace jprof::fleet
