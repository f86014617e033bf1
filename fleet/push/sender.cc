#include "fleet/push/sender.h"

#include <sys/random.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "fleet/schema/schema.h"
#include "fleet/server/row_binary.h"

namespace jprof::fleet {
namespace {

constexpr uint64_t kBatchRows = 200'000;  // one block of the server, which it takes whole or not
constexpr size_t kBatchRuns = 1000;
constexpr size_t kMostKnown = 2'000'000;  // fingerprints that are remembered
constexpr int kAttempts = 3;

uint64_t RandomNumber() {
  uint64_t number = 0;
  while (getrandom(&number, sizeof number, 0) != sizeof number) {
  }
  return number;
}

uint64_t PushMoment() {
  return static_cast<uint64_t>(
      std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count());
}

}  // namespace

Result<void> Sender::Add(const std::string& directory, const RunNames& names) {
  auto run = EncodedRun::Read(directory, names);
  if (!run) return std::unexpected(run.error());
  // A run that is in this batch already would be counted in the order of the rows: send that first.
  const bool again = std::ranges::any_of(
      batch_, [&](const EncodedRun& other) { return other.run() == run->run(); });
  if (again || (!batch_.empty() && batch_rows_ + run->rows() > kBatchRows)) {
    if (auto flushed = Flush(); !flushed) return flushed;
  }
  batch_rows_ += run->rows();
  batch_.push_back(*std::move(run));
  directories_.push_back(directory);
  return batch_.size() >= kBatchRuns ? Flush() : Result<void>();
}

// Tries several times, unless the server takes too long to fail.
Result<void> Sender::TrySending() {
  const auto begin = std::chrono::steady_clock::now();
  Result<void> sent = given_up_;
  for (int attempt = 0; given_up_ && attempt < kAttempts; ++attempt) {
    if (attempt > 0) std::this_thread::sleep_for(std::chrono::milliseconds(300 << attempt));
    sent = SendBatch();
    if (sent || sent.error().kind == Error::Kind::kWrongUse) break;
    if (std::chrono::steady_clock::now() - begin >= std::chrono::seconds(seconds_))
      GiveUp(sent.error());
  }
  return sent;
}

Result<void> Sender::Flush() {
  if (batch_.empty()) return {};
  const Result<void> sent = TrySending();
  const std::vector<std::string> directories = std::exchange(directories_, {});
  batch_.clear();
  batch_rows_ = 0;
  return done_ ? done_(directories, sent) : sent;
}

// Leaves out the runs that the server has completely, as they are here.
Result<void> Sender::LeaveOutKnown() {
  SentTable asked = {.name = "asked", .structure = "run FixedString(16)", .rows = {}};
  for (const EncodedRun& run : batch_) asked.rows += run.run().text();
  const auto found = server_.Query(
      "SELECT run, argMax(content, pushed) FROM runs WHERE run GLOBAL IN asked GROUP BY run",
      {asked});
  if (!found) return std::unexpected(found.error());
  std::map<std::string, std::string, std::less<>> contents;
  for (RowReader rows(*found); !rows.AtEnd();) {
    const std::string run(rows.Bytes(16));
    contents[run] = rows.Bytes(16);
  }
  const auto known = [&](const EncodedRun& run) {
    const auto at = contents.find(run.run().text());
    return at != contents.end() && at->second == run.content().text();
  };
  sent_.known_runs += std::erase_if(batch_, known);
  return {};
}

// Returns which of the frames and contexts the server has.
Result<KnownRows> Sender::AskKnown(const KnownRows& asked) {
  SentTable frames = {.name = "asked", .structure = "frame UInt64", .rows = {}};
  RowWriter writer(frames.rows);
  for (const auto& [frame, flags] : asked.frames) writer.Put(frame);
  SentTable contexts = {.name = "asked", .structure = "context FixedString(16)", .rows = {}};
  for (const std::string& context : asked.contexts) contexts.rows += context;
  KnownRows known;
  if (!frames.rows.empty()) {
    const auto done =
        server_.ForEachRow("SELECT DISTINCT frame, flags FROM frames WHERE frame GLOBAL IN asked",
                           {frames}, [&](RowReader& rows) {
                             const auto frame = rows.Get<uint64_t>();
                             const auto flags = rows.Get<uint16_t>();
                             if (rows.ok()) known.frames.emplace(frame, flags);
                           });
    if (!done) return std::unexpected(done.error());
  }
  if (!contexts.rows.empty()) {
    const auto done =
        server_.ForEachRow("SELECT DISTINCT context FROM contexts WHERE context GLOBAL IN asked",
                           {contexts}, [&](RowReader& rows) {
                             const std::string_view context = rows.Bytes(16);
                             if (rows.ok()) known.contexts.emplace(context);
                           });
    if (!done) return std::unexpected(done.error());
  }
  return known;
}

Result<void> Sender::Insert(const Rows& rows) {
  auto done = server_.Insert("frames", kFrameColumns, rows.frames);
  if (done) done = server_.Insert("contexts", kContextColumns, rows.contexts);
  if (done) done = server_.Insert("counts", CountColumns(), rows.counts);
  if (done) done = server_.Insert("threads", kThreadColumns, rows.threads);
  if (done) done = server_.Insert("runs", kRunColumns, rows.runs);
  return done;
}

Result<void> Sender::SendBatch() {
  if (!checked_) {
    if (auto checked = CheckSchema(server_); !checked) return checked;
    checked_ = true;
  }
  if (auto left = LeaveOutKnown(); !left) return left;
  if (batch_.empty()) return {};
  if (known_.contexts.size() + known_.frames.size() > kMostKnown) known_ = {};
  Rows rows;
  std::vector<std::pair<uint64_t, uint64_t>> pushes;  // and their moments
  for (const EncodedRun& run : batch_) {
    pushes.emplace_back(RandomNumber(), PushMoment());
    run.AppendTo(pushes.back().first, pushes.back().second, known_, rows);
  }
  auto known = AskKnown(rows.sent);
  if (!known) return std::unexpected(known.error());
  known_.frames.merge(known->frames);
  known_.contexts.merge(known->contexts);
  rows = {};
  for (size_t i = 0; i < batch_.size(); ++i)
    batch_[i].AppendTo(pushes[i].first, pushes[i].second, known_, rows);
  if (auto inserted = Insert(rows); !inserted) return inserted;
  known_.frames.merge(rows.sent.frames);
  known_.contexts.merge(rows.sent.contexts);
  sent_.runs += rows.run_count;
  sent_.rows += rows.count_rows;
  sent_.bytes += rows.Bytes();
  for (const EncodedRun& run : batch_) sent_.calls += run.input().calls;
  return {};
}

}  // namespace jprof::fleet
