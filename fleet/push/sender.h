// Sends runs to a fleet, so that each counts once: whatever is pushed again, interrupted or
// repeated after an error.
//
// The rows of a run have the number of a push, which is chosen anew for each attempt. The row in
// the table `runs` is sent last and makes them count; of two pushes of one run the later one
// counts.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/result.h"
#include "fleet/push/encode.h"
#include "fleet/server/server.h"

namespace jprof::fleet {

struct Sent {
  uint64_t runs = 0, rows = 0, known_runs = 0;  // known: were there already, and were left out
  uint64_t calls = 0;
  uint64_t bytes = 0;  // of RowBinary
};

class Sender {
 public:
  // A batch that could not be sent is tried again, until so many seconds have passed. Then the
  // server is given up.
  explicit Sender(Server server, long seconds = kPushSeconds)
      : server_(std::move(server)), seconds_(seconds) {}

  // Called with the directories of a batch when the server has them, or when it could not be sent,
  // with the reason. A failure of this function ends the push.
  using Done = std::function<Result<void>(const std::vector<std::string>& directories,
                                          const Result<void>& sent)>;
  void OnBatch(Done done) { done_ = std::move(done); }

  // Adds a profile, and sends the batch if it is large. Fails if the profile cannot be read, or as
  // Flush does. It uses the memory of the profile and of one batch.
  Result<void> Add(const std::string& directory, const RunNames& names);

  // Sends what was added. Fails if that was not possible and OnBatch's function does not accept it.
  Result<void> Flush();

  // Does not ask the server any more: every batch fails at once, for this reason.
  void GiveUp(const Error& why) { given_up_ = std::unexpected(why); }
  // Returns the error for which the server was given up, if it was.
  const Result<void>& given_up() const { return given_up_; }

  const Sent& sent() const { return sent_; }

 private:
  Result<void> TrySending();
  Result<void> SendBatch();
  Result<void> LeaveOutKnown();
  Result<KnownRows> AskKnown(const KnownRows& asked);
  Result<void> Insert(const Rows& rows);

  Server server_;
  long seconds_;
  Result<void> given_up_;
  Done done_;
  bool checked_ = false;  // the schema
  std::vector<EncodedRun> batch_;
  std::vector<std::string> directories_;
  uint64_t batch_rows_ = 0;
  KnownRows known_;  // by the server
  Sent sent_;
};

}  // namespace jprof::fleet
