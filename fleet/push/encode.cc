#include "fleet/push/encode.h"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "fleet/push/run_row.h"
#include "fleet/server/row_binary.h"
#include "profile/merge/merge_inputs.h"
#include "profile/merge/merged_control.h"
#include "profile/merge/merged_tree.h"

namespace jprof::fleet {

const char kFrameColumns[] = "frame, kind, flags, class, name, signature";
const char kContextColumns[] = "context, parent, folded, frame, type, depth";

std::string CountColumns() {
  std::string columns =
      "day, service, folded, context, frame, push, type, live, entries_0, entries_1, exits_0, "
      "exits_1, dispatches";
  for (size_t m = 1; m <= profile::kMaxMetrics; ++m) columns += fmt::format(", value_{}", m);
  return columns;
}

namespace {

using profile::ControlHeader;
using profile::MergedControl;
using profile::MergedTree;
using profile::MergeThreads;
using profile::Reader;

// Returns the rate of the clock that times are converted to: to three digits, so that times of
// processes on processors of one kind, which measure slightly different rates, can be added.
double CommonRate(double ticks_per_second) {
  if (!(ticks_per_second > 0)) return 0;
  const double unit = std::pow(10, std::floor(std::log10(ticks_per_second)) - 2);
  return std::round(ticks_per_second / unit) * unit;
}

// Converts the scales of times, and what is known of the clock, to the common rate.
void Convert(profile::Meta& meta, double factor, double rate) {
  for (profile::Metric& metric : meta.metrics)
    if (metric.is_time() && factor != 1) metric.scale /= factor;
  if (meta.clock.ticks_per_second > 0) meta.clock.ticks_per_second = rate;
  for (double* ticks :
       {&meta.clock.granularity_ticks, &meta.clock.read_ticks, &meta.clock.bracket_ticks})
    *ticks *= factor;
}

std::string StemOf(const std::string& directory) {
  std::filesystem::path path = std::filesystem::path(directory).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return path.extension() == ".jprof" ? path.stem() : path.filename();
}

}  // namespace

void EncodedRun::TakeTree(const MergedTree& tree, const std::vector<std::string>& threads) {
  std::map<uint32_t, std::string_view> names;  // by the context of the thread
  for (uint32_t i = 0, thread = 0; i < tree.contexts(); ++i)
    if (tree.parent(i) == profile::kNoRecord) names[i] = threads[thread++];
  contexts_ = Identify(tree, sampled_, [&](uint32_t root) { return names[root]; });
  std::unordered_set<uint64_t> seen;
  for (uint32_t i = 0; i < tree.contexts(); ++i) {
    const FrameKind live = TypeOf(tree.ref(i));
    types_.push_back(sampled_ ? static_cast<uint8_t>(live) : 0);
    if (seen.insert(contexts_.frames[i]).second) {
      const Frame frame = FrameOf(tree, i, names.contains(i) ? names[i] : std::string_view());
      frames_.push_back({contexts_.frames[i], static_cast<uint8_t>(frame.kind), frame.name.flags,
                         std::string(frame.name.class_name), std::string(frame.name.name),
                         std::string(frame.name.signature)});
    }
    tree.ForEachPart(i, [&](FrameKind type, const uint64_t(&counts)[5], const int64_t* values) {
      Count count = {.context = i,
                     .type = static_cast<uint8_t>(type),
                     .live = type == live,
                     .values = values_.size()};
      std::ranges::copy(counts, count.counts);
      counts_.push_back(count);
      values_.insert(values_.end(), values, values + metric_count_);
    });
  }
  rows_ = counts_.size();
}

Result<EncodedRun> EncodedRun::Read(const std::string& directory, const RunNames& names) {
  auto reader = Reader::Open(directory);
  if (!reader) return std::unexpected(reader.error());
  if (auto fits = profile::CheckMode(*reader); !fits) return std::unexpected(fits.error());
  const auto tree = reader->ReadTree(profile::ReadingMemory(), profile::Sites::kNodes);
  if (!tree) return std::unexpected(tree.error());
  const profile::Methods methods = reader->ReadMethods();

  EncodedRun run;
  run.names_ = names;
  if (run.names_.service.empty()) run.names_.service = StemOf(directory);
  profile::Meta meta = reader->meta();
  run.sampled_ = meta.is(Mode::kScs);
  run.metric_count_ = meta.metrics.size();
  if (run.metric_count_ > profile::kMaxMetrics)
    return Fail("{}: has more than {} metrics", directory, profile::kMaxMetrics);

  ControlHeader first = reader->header();
  const double rate = CommonRate(static_cast<double>(first.ticks_per_second));
  const double factor =
      first.ticks_per_second == 0 ? 1 : rate / static_cast<double>(first.ticks_per_second);
  first.ticks_per_second = static_cast<uint64_t>(rate);
  first.start_ticks = 1;
  std::vector<double> factors;
  for (const profile::Metric& metric : meta.metrics)
    factors.push_back(metric.is_time() ? factor : 1);

  const bool one_thread = names.merge_threads || names.redact;
  MergedControl control(one_thread ? MergeThreads::kMerge : MergeThreads::kByName, first,
                        run.metric_count_);
  MergedTree merged(run.metric_count_, run.sampled_, meta.options.sites);
  const std::vector<uint32_t> roots = control.Add(1, *reader, merged);
  profile::SpreadRun unused;
  if (auto added = merged.Add(*tree, methods, roots, factors, unused); !added)
    return std::unexpected(added.error());

  run.input_ = DescribeInput(*reader, *tree);
  run.run_ = RunOf(*reader, names.host);
  Convert(meta, factor, rate);
  std::vector<std::string> threads;
  for (const profile::ThreadRecord& record : control.records()) {
    threads.emplace_back(record.name);
    run.thread_rows_.push_back(ThreadRow(record));
  }
  run.TakeTree(merged, threads);
  if (names.redact) Redact(meta, run.input_);
  const RunFacts facts = {.meta = meta,
                          .input = run.input_,
                          .header = control.header(),
                          .names = run.names_,
                          .calibration = reader->ReadCalibration(),
                          .rows = run.rows_,
                          .contexts = run.contexts_.fingerprints.size()};
  run.day_ = DayOf(facts);
  run.run_row_ = RunRow(facts);
  run.content_ = Below(run.run_, run.run_row_);
  for (const std::string& thread : run.thread_rows_) run.content_ = Below(run.content_, thread);
  Rows rows;
  run.AppendCounts(0, rows);
  run.content_ = Below(run.content_, rows.counts);
  RowWriter(run.run_row_).Text(Packed(control.header()));
  return run;
}

void EncodedRun::AppendCounts(uint64_t push, Rows& rows) const {
  RowWriter out(rows.counts);
  for (const Count& count : counts_) {
    out.Put(day_);
    out.Text(names_.service);
    out.Bytes(contexts_.folded[count.context].text());
    out.Bytes(contexts_.fingerprints[count.context].text());
    out.Put(contexts_.methods[count.context]);
    out.Put(push);
    out.Put(count.type);
    out.Put(count.live);
    for (const uint64_t number : count.counts) out.Put(number);
    for (size_t m = 0; m < profile::kMaxMetrics; ++m)
      out.Put(m < metric_count_ ? values_[count.values + m] : int64_t{0});
  }
  rows.count_rows += counts_.size();
}

void EncodedRun::AppendTo(uint64_t push, uint64_t pushed_ns, const KnownRows& known,
                          Rows& rows) const {
  RowWriter frames(rows.frames);
  for (const FrameRow& frame : frames_) {
    const std::pair key = {frame.number, frame.flags};
    if (known.frames.contains(key) || !rows.sent.frames.insert(key).second) continue;
    frames.Put(frame.number);
    frames.Put(frame.kind);
    frames.Put(frame.flags);
    for (const std::string& text : {frame.class_name, frame.name, frame.signature})
      frames.Text(text);
  }
  RowWriter contexts(rows.contexts);
  for (size_t i = 0; i < contexts_.fingerprints.size(); ++i) {
    const std::string text(contexts_.fingerprints[i].text());
    if (known.contexts.contains(text) || !rows.sent.contexts.insert(text).second) continue;
    const uint32_t parent = contexts_.parents[i];
    contexts.Bytes(text);
    contexts.Bytes(
        (parent == profile::kNoRecord ? Fingerprint() : contexts_.fingerprints[parent]).text());
    contexts.Bytes(contexts_.folded[i].text());
    contexts.Put(contexts_.frames[i]);
    contexts.Put(types_[i]);
    contexts.Put(contexts_.depths[i]);
  }
  AppendCounts(push, rows);
  RowWriter threads(rows.threads);
  for (const std::string& thread : thread_rows_) {
    threads.Put(day_);
    threads.Put(push);
    threads.Bytes(thread);
  }
  RowWriter runs(rows.runs);
  runs.Put(day_);
  runs.Bytes(run_.text());
  runs.Bytes(content_.text());
  runs.Put(push);
  runs.Put(pushed_ns);
  runs.Bytes(run_row_);
  rows.days.insert(day_);
  ++rows.run_count;
}

}  // namespace jprof::fleet
