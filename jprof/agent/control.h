// The agent's side of `jprof ctl` (common/control_protocol.h): a thread that listens on a Unix
// socket and executes the commands for the recording. Uses POSIX only, no JVM.
//
// - Only the user of the process and root are served: the folder has mode 0700 and the socket 0600,
//   and the kernel reports the client's user.
// - A client that has not sent a line after 2 s is disconnected. No client waits for another one's
//   line.
// - No function throws. An error of a client ends its connection.
// - A child created by fork() must call LeaveToParent.
#pragma once

#include <poll.h>
#include <pthread.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "common/control_protocol.h"
#include "common/kept_fd.h"
#include "common/result.h"

namespace jprof::agent {

class Control {
 public:
  // The commands. Each returns a line for the user or an error. A command without a function is
  // reported as not possible. They run on the control thread, which is not a Java thread, one at a
  // time and with all signals blocked.
  struct Handlers {
    std::function<Result<std::string>()> start, stop, reset;
    // Returns the descriptor of the profile's folder, whose files are then complete. The handler
    // keeps owning it. The client gets a copy and writes the files to the disk: if the control
    // thread did so, the program could not end before the disk is done.
    std::function<Result<int>()> flush;
    std::function<std::vector<control::Field>()> status;
  };

  Control() = default;
  Control(const Control&) = delete;
  ~Control() { End(); }

  // Listens at FOLDER/PID.sock and removes sockets of ended processes from that folder. Must not be
  // called while it is listening. After an error nothing listens, and nothing has been changed.
  Result<void> Begin(Handlers handlers, const std::string& folder = control::OwnFolder(),
                     int64_t patience_ms = 2'000);

  // Ends the thread after a running handler has returned, and removes the socket. No handler
  // runs afterwards. Must not be called from a handler. Does nothing if it was not started, or
  // in a forked child.
  void End();

  // Closes the copies of the descriptors in a child created by fork(), which does not have the
  // thread. The parent keeps the socket. The owner calls this from a pthread_atfork handler.
  void LeaveToParent();

  // Returns the path of the socket, which is empty before Begin.
  const std::string& path() const { return path_; }

 private:
  struct Client {
    KeptFd fd;
    uint64_t number = 0;  // order of connection, from 1
    int64_t until = 0;    // time at which it is disconnected
    size_t size = 0;
    std::array<char, control::kMaxRequest> text;
  };
  struct Reply {
    std::string text;
    int descriptor = -1;  // sent along; negative if there is none
  };
  static constexpr size_t kMostClients = 32;
  using Polled = std::array<pollfd, kMostClients + 1>;

  Result<void> Listen();
  void ListenAgain();
  Result<void> StartThread();
  void Serve();
  Polled PollSet() const;
  int PollTimeout() const;
  void Accept();
  bool Allowed(int fd) const;
  Client& FreeClient();
  void Read(Client& client);
  static void Send(int fd, Reply reply);
  Reply Answer(std::string_view line) const;
  Reply Run(control::Command command) const;
  void DropSilentClients();
  void CloseAll();

  Handlers handlers_;
  std::string path_;
  uid_t user_ = 0;
  int64_t patience_ms_ = 0;
  std::mutex listener_lock_;  // guards listener_ while the thread runs
  KeptFd listener_;
  std::array<Client, kMostClients> clients_;
  uint64_t clients_seen_ = 0;
  int64_t retry_accept_ms_ = 0;  // when to retry accept, which failed for lack of descriptors
  pthread_t thread_ = {};
  std::atomic<bool> running_ = false;
};

}  // namespace jprof::agent
