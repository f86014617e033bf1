#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <string>

#include "cli/commands/info_output.h"
#include "profile/files/printable_text.h"

namespace jprof::cli {
namespace {

class InfoText {
 public:
  explicit InfoText(reports::Output& out) : out_(out) {}

  void Print(const ProfileInfo& info) {
    const profile::Meta& meta = info.meta;
    Line("profile", fmt::format("{} ({}, {:.1f} MiB)", profile::ShownName(info.directory),
                                meta.mode, static_cast<double>(info.bytes) / (1 << 20)));
    Line("command", fmt::format("{}", fmt::join(meta.command, " ")));
    Line("run",
         fmt::format("{}{}, {}", meta.pid == 0 ? "" : fmt::format("pid {}, ", meta.pid), meta.start,
                     info.finished ? fmt::format("{:.3f} s", info.seconds)
                                   : "it is still running or ended abnormally"));
    if (meta.piece.number != 0) Line("piece", meta.piece.Text());
    for (const std::string& what : meta.piece.left_out) Line("", "without " + what);
    if (info.imported) Imported(*info.imported);
    if (info.merged) Merged(*info.merged);
    Line("jvm", meta.jvm.Title());
    for (const auto& [name, value] : info.attributes)
      Line(&value == &info.attributes.front().second ? "published" : "", name + " " + value);
    if (info.calls)
      Line("probe", meta.probe.kind + (meta.probe.note.empty() ? "" : ": " + meta.probe.note));
    Line("options", meta.options.text);
    if (info.calls) Calls(meta, *info.calls);
    if (info.jitted) Jitted(*info.jitted);
    if (info.events)
      Line("timeline", fmt::format("{} events of the kernel, {} lost: jprof report timeline",
                                   info.events->records, info.events->lost));
    if (info.series) Series(*info.series);
    Pieces(info.pieces);
    if (info.calls) Losses(*info.calls);
    for (const std::string& damage : info.damages) Line("damage", damage);
    if (info.calls) Threads(info.calls->threads);
  }

 private:
  void Line(std::string_view name, std::string_view value) {
    if (!value.empty())
      out_.Print("{:<12} {}\n", profile::CleanText(name), profile::CleanText(value));
  }

  void Merged(const profile::MergedMeta& merged) {
    constexpr size_t kShown = 12;
    Line("merged", fmt::format("{} profiles; threads: {}", merged.inputs.size(), merged.threads));
    for (size_t i = 0; i < std::min(merged.inputs.size(), kShown); ++i) {
      const profile::MergedInput& input = merged.inputs[i];
      Line(fmt::format("  {:>3}", i + 1),
           fmt::format("{}: {} calls, {:.3f} s CPU{}{}", input.path, input.calls, input.cpu_seconds,
                       input.finished ? "" : ", not finished",
                       input.damages.empty() ? "" : ", damaged"));
    }
    if (merged.inputs.size() > kShown)
      out_.Print("             and {} more (--format json has all)\n",
                 merged.inputs.size() - kShown);
    for (const std::string& notice : merged.notices) Line("notice", notice);
  }

  void Imported(const profile::Imported& imported) {
    Line("imported", "from " + imported.Text());
    for (const std::string& note : imported.notes) Line("", note);
  }

  void Calls(const profile::Meta& meta, const CallInfo& calls) {
    Metrics(meta.metrics);
    Line("calibrated", calls.calibrated ? "yes: the profile has its table" : "no");
    for (const auto& [part, value] : meta.fingerprint) Line("  " + part, value);
    Line("methods", fmt::format("{}", calls.methods));
    Focus(calls.focus);
    Line("limited", calls.limits_text);
    Line("contexts", fmt::format("{}", calls.contexts));
    Line("detail", calls.folded_text);
    Line("calls", fmt::format("{} ({} exits)", calls.calls, calls.exits));
    if (meta.is(Mode::kTrace)) Line("events", fmt::format("{}", calls.trace_events));
    Line("slow", calls.slow_text);
  }

  void Metrics(const std::vector<profile::Metric>& metrics) {
    std::string text;
    for (const profile::Metric& metric : metrics)
      text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", metric.name, metric.unit);
    Line("metrics", text.empty() ? "none: counts only" : text);
  }

  void Focus(const FocusInfo& focus) {
    if (focus.probed + focus.unprobed + focus.undecided != 0) {
      const std::string undecided =
          focus.undecided == 0
              ? ""
              : fmt::format(", {} with probes because they could not be read", focus.undecided);
      Line("focus", fmt::format("{} methods were compiled with probes, {} without{}", focus.probed,
                                focus.unprobed, undecided));
    }
    constexpr size_t kShown = 12;
    const size_t count = focus.intrinsics.size();
    if (count > 0)
      Line("partial",
           fmt::format("calls of methods that have intrinsics may be missing ({}):", count));
    for (size_t i = 0; i < std::min(count, kShown); ++i)
      out_.Print("             {}\n", profile::CleanText(focus.intrinsics[i]));
    if (count > kShown)
      out_.Print("             and {} more (--format json has all)\n", count - kShown);
  }

  void Jitted(const JittedInfo& jitted) {
    Line("jitted code:", fmt::format("{} methods loaded, {} unloaded, {} stubs", jitted.methods,
                                     jitted.unloaded, jitted.stubs));
  }

  void Series(const SeriesInfo& series) {
    Line("series",
         fmt::format(
             "{} snapshots{}, one every {:.3g} s{}; the longest interval has {:.3f} s; {:.1f} "
             "kB, {:.3f} s CPU: jprof report series",
             series.snapshots, series.ended ? "" : " (the recorder did not end in order)",
             series.interval_s,
             series.missed == 0 ? "" : fmt::format(", {} left out to save time", series.missed),
             series.longest_s, static_cast<double>(series.bytes) / 1e3, series.cost_s));
  }

  void Pieces(const std::vector<PieceInfo>& pieces) {
    constexpr size_t kShown = 12;
    if (pieces.empty()) return;
    Line("pieces", fmt::format("{} of a part of the recording{}",
                               pieces.size() == 1 ? "1 profile"
                                                  : fmt::format("{} profiles, each", pieces.size()),
                               pieces.size() > kShown ? "; the last ones:" : ":"));
    for (const PieceInfo& piece : std::span(pieces).last(std::min(pieces.size(), kShown)))
      Line("", fmt::format("{}: {:.3f} s to {:.3f} s", piece.directory, piece.piece.begin_s,
                           piece.piece.end_s));
  }

  void Losses(const CallInfo& calls) {
    bool lost = false;
    for (const profile::Loss& loss : calls.losses) {
      if (loss.count == 0) continue;
      Line(lost ? "" : "lost", fmt::format("{} {}", loss.count, loss.description));
      lost = true;
    }
    if (!lost) Line("lost", "nothing");
  }

  void Threads(const std::vector<ThreadInfo>& threads) {
    constexpr size_t kShown = 12;
    out_.Print("threads      {}\n", threads.size());
    for (size_t i = 0; i < std::min(threads.size(), kShown); ++i) {
      const ThreadInfo& thread = threads[i];
      out_.Print("  {:>8}   {}{} ({:.3f} s CPU)\n", thread.tid, thread.name,
                 thread.ended ? "" : " (not ended)", static_cast<double>(thread.cpu_ns) / 1e9);
    }
    if (threads.size() > kShown)
      out_.Print("             and {} more (--format json has all)\n", threads.size() - kShown);
  }

  reports::Output& out_;
};

}  // namespace

void PrintInfoText(const ProfileInfo& info, reports::Output& out) { InfoText(out).Print(info); }

}  // namespace jprof::cli
