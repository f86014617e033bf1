#include "record/agent/run_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>

#include "record/run/print_error.h"

namespace jprof::record {

std::string RoughDuration(double seconds) {
  constexpr long kMinute = 60, kHour = 60 * kMinute;
  const long all = std::lround(seconds);
  if (all < kMinute) return fmt::format("{} s", all);
  if (all < kHour) return fmt::format("{} min {} s", all / kMinute, all % kMinute);
  return fmt::format("{} h {} min", all / kHour, all % kHour / kMinute);
}

void RunProgress::Begin(const std::string& how) {
  ++number_;
  how_ = how;
  begin_ = std::chrono::steady_clock::now();
  rewrites_ = StatusLine::IsShown() && isatty(STDOUT_FILENO) == 0;
  if (!rewrites_) PrintError(Text(0));
  Look();
}

void RunProgress::Look() {
  if (rewrites_) line_.Show("jprof: " + Text(std::floor(Elapsed())));
}

void RunProgress::End() {
  past_ += Elapsed();
  line_.End();
}

std::string RunProgress::Text(double seconds) const {
  const std::string text = fmt::format("{}{}run {} of {}{}: {}", label_, label_.empty() ? "" : ": ",
                                       number_, at_most_ ? "at most " : "", runs_, how_);
  const size_t past_runs = number_ - 1;
  const double usual = past_runs == 0 ? 0 : past_ / static_cast<double>(past_runs);
  if (past_runs != 0 && seconds <= usual) {
    const double left = usual * static_cast<double>(runs_ - past_runs) - seconds;
    return fmt::format("{}, {}{} left", text, at_most_ ? "at most " : "about ",
                       RoughDuration(left));
  }
  return seconds < 1 ? text : fmt::format("{}, {} so far", text, RoughDuration(seconds));
}

double RunProgress::Elapsed() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

}  // namespace jprof::record
