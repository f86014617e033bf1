// The agent's side of `jprof ctl` (common/control_protocol.h): a thread that listens on a Unix
// socket and has the recording started, stopped and asked. Plain POSIX: no JVM in it.
//
// Only the process' own user and root are answered: the socket's folder is 0700, the socket 0600,
// and the kernel is asked who calls. Whoever has not said a line after 2 s is dropped; one client
// never waits for another's line. Nothing is thrown; what goes wrong with a client ends that
// client. A child by fork() must call LeaveToParent.
#pragma once

#include <poll.h>
#include <pthread.h>
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/control_protocol.h"
#include "common/fd.h"
#include "common/result.h"

namespace jprof::agent {

class Control {
 public:
  // What the commands do: a line of what was done, or an error. An empty one is refused as not
  // possible. All run on the control thread, one at a time: no Java thread, all signals blocked.
  struct Handlers {
    std::function<Result<std::string>()> start, stop, flush, reset;
    std::function<std::vector<control::Fact>()> status;
  };

  Control() = default;
  Control(const Control&) = delete;
  ~Control() { Stop(); }

  // Listens at FOLDER/PID.sock; removes what dead processes left in that folder. Once at a time.
  // Error: nothing listens, and nothing has been changed.
  Result<void> Start(Handlers handlers, const std::string& folder = control::OwnFolder(),
                     int64_t patience_ms = 2'000);

  // Ends the thread, after the handler that runs if one does, and removes the socket. After it no
  // handler runs. Not from a handler. Nothing to do if nothing was started, or in a forked child.
  void Stop();

  // In a child by fork(), which does not have the thread: closes the copies of the descriptors. The
  // socket remains the parent's. The owner calls it from a handler of pthread_atfork.
  void LeaveToParent();

  // Of the socket; empty before Start.
  const std::string& path() const { return path_; }

 private:
  struct Client {
    Fd fd;
    uint64_t number = 0;  // they are numbered as they come, from 1
    int64_t until = 0;    // when it is dropped
    size_t size = 0;
    std::array<char, control::kMaxRequest> text;
  };
  static constexpr size_t kMostClients = 32;
  using Polled = std::array<pollfd, kMostClients + 2>;

  Result<void> Listen();
  Result<void> StartThread();
  void Serve();
  Polled WhatToPoll() const;
  int PollTimeout() const;
  void Accept();
  bool Allowed(int fd) const;
  Client& FreeClient();
  void Read(Client& client);
  std::string Answer(std::string_view line) const;
  std::string Run(control::Command command) const;
  void DropSilentClients();
  void CloseAll();

  Handlers handlers_;
  std::string path_;
  uid_t user_ = 0;
  int64_t patience_ms_ = 0;
  Fd listener_, wake_;
  std::array<Client, kMostClients> clients_;
  uint64_t clients_seen_ = 0;
  int64_t retry_accept_ms_ = 0;  // no descriptor was left for one more client: try again then
  pthread_t thread_ = {};
  bool running_ = false;
};

}  // namespace jprof::agent
