#include "profile/merge/merged_control.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "profile/files/out_file.h"
#include "profile/files/printable_text.h"

namespace jprof::profile {
namespace {

// Copies text to a zero terminated field, but never cuts a character in the middle.
template <size_t n>
void SetName(std::string_view name, char (&field)[n]) {
  const std::string_view kept = BeginningOf(name, n - 1);
  std::memset(field, 0, n);
  std::memcpy(field, kept.data(), kept.size());
}

// Limits the result, because damaged profiles may contain any number.
uint64_t Scaled(uint64_t ticks, double factor) {
  constexpr double kMost = 1ull << 62;
  if (factor == 1) return ticks;
  return static_cast<uint64_t>(std::min(kMost, std::round(static_cast<double>(ticks) * factor)));
}

// Counts a thread whose flag the merged thread has already.
void CountFlags(uint32_t flags, uint32_t shown, ControlHeader& header) {
  const uint32_t more = flags & shown;
  header.more_disarmed += (more & kThreadDisarmed) != 0;
  header.more_no_clock += (more & kThreadNoClock) != 0;
  header.more_no_counters += (more & kThreadNoCounters) != 0;
  header.more_not_sampled += (more & kThreadNotSampled) != 0;
  header.more_blocks_signal += (more & kThreadBlocksSignal) != 0;
  header.more_other_timer += (more & kThreadOtherTimer) != 0;
}

// Returns the flags of both, with the error of the first thread that has one.
uint32_t BothFlags(uint32_t a, uint32_t b) {
  constexpr uint32_t kWithError = kThreadNotSampled | kThreadOtherTimer;
  const uint32_t error = (a & kWithError) != 0 ? ErrorOfFlags(a) : ErrorOfFlags(b);
  return ((a | b) & 0x00ffffffu) | FlagsOfError(static_cast<int>(error));
}

}  // namespace

MergedControl::MergedControl(MergeThreads threads, const ControlHeader& from, size_t metric_count)
    : threads_(threads) {
  std::memcpy(header_.magic, kMagic, sizeof kMagic);
  header_.version = kFormatVersion;
  header_.metric_count = std::max<uint32_t>(1, static_cast<uint32_t>(metric_count));
  header_.finished = 1;
  header_.start_unix_ns = from.start_unix_ns;
  header_.start_ticks = std::max<uint64_t>(from.start_ticks, 1);  // 0 means "never" for moments
  header_.end_ticks = header_.start_ticks;
  header_.ticks_per_second = from.ticks_per_second;
}

double MergedControl::TicksFactor(const ControlHeader& header) const {
  const uint64_t here = header_.ticks_per_second;
  const uint64_t there = header.ticks_per_second;
  if (here == there || here == 0 || there == 0) return 1;
  return static_cast<double>(here) / static_cast<double>(there);
}

uint64_t MergedControl::Moment(uint64_t ticks, const ControlHeader& header, double factor) const {
  return header_.start_ticks + Scaled(ticks - std::min(header.start_ticks, ticks), factor);
}

std::string MergedControl::NameOf(size_t number, const Thread& thread) const {
  switch (threads_) {
    case MergeThreads::kByName:
      return thread.name;
    case MergeThreads::kKeep:
      return fmt::format("{}: {}", number, thread.name);
    case MergeThreads::kMerge:
      break;
  }
  return "(all threads)";
}

void MergedControl::AddHeader(const ControlHeader& from, double factor) {
  header_.finished &= from.finished != 0;
  if (from.start_unix_ns != 0)
    header_.start_unix_ns = std::min(header_.start_unix_ns, from.start_unix_ns);
  header_.end_ticks = std::max(header_.end_ticks, Moment(from.end_ticks, from, factor));
  header_.node_limit = std::max(header_.node_limit, from.node_limit);
  header_.lost_threads += from.lost_threads;
  header_.lost_events += from.lost_events;
  header_.disk_full += from.disk_full;
  if (header_.growth_error == 0) header_.growth_error = from.growth_error;
  if (header_.file_size_limit == 0) header_.file_size_limit = from.file_size_limit;
  header_.name_failures += from.name_failures;
  header_.memory_failures += from.memory_failures;
  header_.tree_full |= from.tree_full;
  for (size_t m = 0; m < std::size(header_.least_running_permille); ++m) {
    header_.least_running_permille[m] =
        std::min(header_.least_running_permille[m], from.least_running_permille[m]);
  }
  // The inputs have methods in common, so there are at least as many as in the largest input.
  header_.focus_probed = std::max(header_.focus_probed, from.focus_probed);
  header_.focus_unprobed = std::max(header_.focus_unprobed, from.focus_unprobed);
  header_.focus_undecided = std::max(header_.focus_undecided, from.focus_undecided);
  header_.labels_full |= from.labels_full;
  for (size_t i = 0; i < std::size(header_.label_methods); ++i)
    header_.label_methods[i] = std::max(header_.label_methods[i], from.label_methods[i]);
  for (const auto record : {&ControlHeader::unwoven_methods, &ControlHeader::unwoven_classes,
                            &ControlHeader::unprobed_methods, &ControlHeader::unpatched_modules}) {
    if ((from.*record).count > (header_.*record).count) header_.*record = from.*record;
  }
  header_.more_disarmed += from.more_disarmed;
  header_.more_no_clock += from.more_no_clock;
  header_.more_no_counters += from.more_no_counters;
  header_.more_not_sampled += from.more_not_sampled;
  header_.more_blocks_signal += from.more_blocks_signal;
  header_.more_other_timer += from.more_other_timer;
  header_.samples_in_heap += from.samples_in_heap;
  header_.lost_durations += from.lost_durations;
  header_.timed_intervals += from.timed_intervals;
  header_.sampled_intervals += from.sampled_intervals;
  header_.sampled_ticks += Scaled(from.sampled_ticks, factor);
  header_.sampled_squares += Scaled(from.sampled_squares, factor * factor);
  header_.untimed_ticks += Scaled(from.untimed_ticks, factor);
  header_.gate_patterns |= from.gate_patterns;
  header_.gate_calls += from.gate_calls;
  header_.starts += from.starts;
  header_.stops += from.stops;
  header_.paused |= from.paused;
  header_.live_snapshots = std::max(header_.live_snapshots, from.live_snapshots);
  header_.sampled_cpu_ns += from.sampled_cpu_ns;
  header_.signalled_cpu_ns += from.signalled_cpu_ns;
  if (from.signal_taken_ticks != 0 && header_.signal_taken_ticks == 0) {
    header_.signal_taken_ticks = Moment(from.signal_taken_ticks, from, factor);
    header_.signal_taken = from.signal_taken;
    std::memcpy(header_.signal_taken_by, from.signal_taken_by, sizeof header_.signal_taken_by);
  }
  if (from.folded_ticks != 0) {
    const uint64_t folded = Moment(from.folded_ticks, from, factor);
    header_.folded_ticks =
        header_.folded_ticks == 0 ? folded : std::min(header_.folded_ticks, folded);
  }
}

void MergedControl::AddRecord(const ThreadRecord& from, ThreadRecord& to,
                              const ControlHeader& header, double factor) {
  CountFlags(from.flags, to.flags, header_);
  to.flags = BothFlags(to.flags, from.flags);
  to.state = std::max<uint32_t>(kThreadLive, std::min(to.state, from.state));
  to.start_ticks = std::min(to.start_ticks, Moment(from.start_ticks, header, factor));
  to.end_ticks = std::max(to.end_ticks, Moment(from.end_ticks, header, factor));
  to.cpu_ns_end += std::max(from.cpu_ns_end, from.cpu_ns_start) - from.cpu_ns_start;
  const auto own = static_cast<uint64_t>(from.own_ticks);
  const uint64_t scaled_own = from.own_ticks < 0 ? -Scaled(-own, factor) : Scaled(own, factor);
  to.own_ticks = static_cast<int64_t>(static_cast<uint64_t>(to.own_ticks) + scaled_own);
  to.sampling_ticks += Scaled(from.sampling_ticks, factor);
  for (uint64_t ThreadRecord::*field :
       {&ThreadRecord::dispatches, &ThreadRecord::healed, &ThreadRecord::unmatched,
        &ThreadRecord::overflow, &ThreadRecord::dropped, &ThreadRecord::samples,
        &ThreadRecord::samples_unknown, &ThreadRecord::samples_truncated,
        &ThreadRecord::samples_own, &ThreadRecord::samples_lost}) {
    to.*field += from.*field;
  }
}

uint32_t MergedControl::AddThread(const std::string& name, const ThreadRecord& from,
                                  const ControlHeader& header, double factor, MergedTree& tree) {
  const auto place = static_cast<uint32_t>(records_.size());
  uint32_t at = place;
  if (threads_ != MergeThreads::kKeep) at = by_name_.try_emplace(name, place).first->second;
  if (at == place) {
    ThreadRecord record = {
        .state = kThreadEnded, .root = tree.AddThread(), .start_ticks = ~uint64_t{0}};
    if (threads_ == MergeThreads::kKeep) record.tid = from.tid;
    SetName(name, record.name);
    records_.push_back(record);
  }
  AddRecord(from, records_[at], header, factor);
  return records_[at].root;
}

std::vector<uint32_t> MergedControl::Add(size_t number, const Reader& reader, MergedTree& tree) {
  const double factor = TicksFactor(reader.header());
  AddHeader(reader.header(), factor);
  std::vector<uint32_t> roots;
  for (const Thread& thread : reader.threads()) {
    const bool filtered = (thread.record.flags & kThreadFiltered) != 0;
    roots.push_back(
        filtered ? kNoRecord
                 : AddThread(NameOf(number, thread), thread.record, reader.header(), factor, tree));
  }
  return roots;
}

Result<void> MergedControl::Write(const std::string& directory, const MergedTree::Written& written,
                                  const MergedDistributions& distributions) {
  header_.thread_count = static_cast<uint32_t>(records_.size());
  header_.node_count = written.node_count;
  header_.node_limit = std::max(header_.node_limit, written.node_count);
  header_.methods_bytes = written.methods_bytes;
  header_.method_count = written.method_count;
  header_.sites = written.sites;
  header_.distributions = distributions.size();
  header_.watched_patterns = distributions.matched();
  header_.labels = written.labels;
  OutFile out(directory + "/" + kControlFile);
  char page[kControlHeaderBytes] = {};
  std::memcpy(page, &header_, sizeof header_);
  out.Write(page);
  for (ThreadRecord record : records_) {
    ++record.root;  // a context's node is the next one
    out.Write(record);
  }
  return out.Close();
}

}  // namespace jprof::profile
