#include "jprof/agent/control.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <thread>

#include "common/fd.h"
#include "common/kept_fd.h"

namespace jprof::agent {
namespace {

namespace fs = std::filesystem;

constexpr int kLong = 30'000;  // ms: the limit of every wait
constexpr uid_t kNobody = 65534;

// A client that may be slow or send invalid requests.
class Caller {
 public:
  explicit Caller(const std::string& path) : fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address = {.sun_family = AF_UNIX};
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    connected_ = connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    error_ = connected_ ? 0 : errno;
  }
  bool connected() const { return connected_; }
  int error() const { return error_; }

  void Send(std::string_view text) {
    (void)!send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL);
  }
  void EndSending() { shutdown(fd_.get(), SHUT_WR); }

  // Reads until the other side closes; "(silence)" if it does not.
  std::string Receive() {
    std::string text;
    for (;;) {
      pollfd polled = {fd_.get(), POLLIN, 0};
      if (poll(&polled, 1, kLong) == 0) return "(silence)";
      char part[512];
      const ssize_t got = recv(fd_.get(), part, sizeof part, 0);
      if (got <= 0) return text;
      text.append(part, static_cast<size_t>(got));
    }
  }
  // Returns the descriptor that comes with the reply.
  Fd ReceiveDescriptor() {
    char part[512];
    iovec text = {part, sizeof part};
    alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))];
    msghdr message = {};
    message.msg_iov = &text;
    message.msg_iovlen = 1;
    message.msg_control = space;
    message.msg_controllen = sizeof space;
    int received = -1;
    if (recvmsg(fd_.get(), &message, MSG_CMSG_CLOEXEC) > 0 && CMSG_FIRSTHDR(&message) != nullptr)
      memcpy(&received, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof received);
    return Fd(received);
  }
  bool StillOpen() {
    char c;
    return recv(fd_.get(), &c, 1, MSG_DONTWAIT | MSG_PEEK) < 0 && errno == EAGAIN;
  }

 private:
  Fd fd_;
  bool connected_ = false;
  int error_ = 0;
};

std::string Ask(const std::string& path, std::string_view line) {
  Caller caller(path);
  if (!caller.connected()) return "(not listening)";
  caller.Send(line);
  return caller.Receive();
}

class ControlTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/jprof-control-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    base_ = name;
    folder_ = base_ + "/jprof-0";
  }
  void TearDown() override { fs::remove_all(base_); }

  Control::Handlers Handlers() {
    const auto reply = [this](const char* what) {
      return [this, what]() -> Result<std::string> { return ++done_, what; };
    };
    return {.start = reply("started"),
            .stop = reply("stopped"),
            .reset = nullptr,
            .flush = [this]() -> Result<int> { return ++done_, Fail("the folder\nis gone"); },
            .status =
                [] {
                  return std::vector<control::Field>{{"mode", "scs"}, {"out", "/a b"}};
                }};
  }
  void Start(int64_t patience_ms = kLong) {
    const auto started = control_.Begin(Handlers(), folder_, patience_ms);
    ASSERT_TRUE(started) << started.error().message;
  }
  std::string Problem() {
    Control control;
    const auto started = control.Begin(Handlers(), folder_);
    return started ? "none" : started.error().message;
  }
  std::string Ask(std::string_view line) { return agent::Ask(control_.path(), line); }

  std::string base_, folder_;
  std::atomic<int> done_ = 0;
  Control control_;
};

TEST_F(ControlTest, AnswersEveryCommandWithOneLine) {
  Start();
  EXPECT_EQ(control_.path(), folder_ + "/" + std::to_string(getpid()) + ".sock");
  EXPECT_EQ(Ask("jprof 1 start\n"), "ok started\n");
  EXPECT_EQ(Ask("jprof 1 stop\n"), "ok stopped\n");
  EXPECT_EQ(Ask("jprof 1 flush\n"), "error the folder?is gone\n");
  EXPECT_EQ(Ask("jprof 1 reset\n"), "error reset is not possible with this recording\n");
  EXPECT_EQ(Ask("jprof 1 status\n"), "ok mode=scs out=/a%20b\n");
  EXPECT_EQ(done_, 3);
}

TEST_F(ControlTest, AnUnknownCommandNamesTheNearest) {
  Start();
  EXPECT_EQ(Ask("jprof 1 strat\n"), "error there is no command 'strat'; did you mean start?\n");
  EXPECT_EQ(Ask("jprof 1 status"
                "\nignored text"),
            "ok mode=scs out=/a%20b\n");
  EXPECT_EQ(done_, 0);
}

TEST_F(ControlTest, ALineMayArriveInPieces) {
  Start();
  Caller caller(control_.path());
  for (const char* piece : {"jp", "rof 1 sta", "rt", "\n"}) {
    caller.Send(piece);
    EXPECT_EQ(Ask("jprof 1 stop\n"), "ok stopped\n");  // the first piece has been read
  }
  EXPECT_EQ(caller.Receive(), "ok started\n");
}

TEST_F(ControlTest, LinesWithoutAnEndAreRefused) {
  Start();
  EXPECT_EQ(Ask(std::string(control::kMaxRequest, 'x')),
            "error the request is not a complete line\n");
  EXPECT_EQ(Ask(std::string(1 << 20, 'x')).substr(0, 6), "error ");
  Caller caller(control_.path());
  caller.Send("jprof 1 start");
  caller.EndSending();
  EXPECT_EQ(caller.Receive(), "error the request is not a complete line\n");
  EXPECT_EQ(done_, 0);
}

TEST_F(ControlTest, RandomBytesDoNothing) {
  Start();
  std::mt19937 chance(20240607);
  for (int i = 0; i < 1000; ++i) {
    std::string bytes(chance() % 400, '\0');
    for (char& c : bytes) c = static_cast<char>(chance());
    if (i % 4 == 0) bytes = "jprof 1 " + bytes;  // further in
    if (i % 2 == 0) bytes += '\n';
    Caller caller(control_.path());
    ASSERT_TRUE(caller.connected()) << "at " << i;
    caller.Send(bytes);
    caller.EndSending();
    const std::string answer = caller.Receive();
    EXPECT_TRUE(answer.starts_with("error ") || bytes.empty()) << i << ": " << answer;
    EXPECT_LE(std::ranges::count(answer, '\n'), 1);
  }
  EXPECT_EQ(done_, 0);
  EXPECT_EQ(Ask("jprof 1 start\n"), "ok started\n");
}

TEST_F(ControlTest, OnlyTheUserMayUseTheSocket) {
  umask(0);
  Start();
  umask(022);
  struct stat status;
  ASSERT_EQ(stat(control_.path().c_str(), &status), 0);
  EXPECT_TRUE(S_ISSOCK(status.st_mode));
  EXPECT_EQ(status.st_mode & 07777, 0600u);
  EXPECT_EQ(status.st_uid, geteuid());
  ASSERT_EQ(stat(folder_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0700u);
}

// The answer to a child process of another user, or the errno of its connect.
std::string AskAsOtherUser(const std::string& path) {
  int out[2];
  if (pipe2(out, O_CLOEXEC) != 0) return "(no pipe)";
  const pid_t child = fork();
  if (child == 0) {
    if (setresgid(kNobody, kNobody, kNobody) != 0 || setresuid(kNobody, kNobody, kNobody) != 0) {
      _exit(1);
    }
    Caller caller(path);
    caller.Send("jprof 1 start\n");
    const std::string heard =
        caller.connected() ? caller.Receive() : "errno " + std::to_string(caller.error());
    (void)!write(out[1], heard.data(), heard.size());
    _exit(0);
  }
  close(out[1]);
  char text[512];
  const ssize_t size = read(out[0], text, sizeof text);
  close(out[0]);
  if (child > 0) waitpid(child, nullptr, 0);
  return std::string(text, static_cast<size_t>(std::max<ssize_t>(size, 0)));
}

TEST_F(ControlTest, AnotherUserCannotReachIt) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  Start();
  chmod(base_.c_str(), 0755);
  EXPECT_EQ(AskAsOtherUser(control_.path()), "errno " + std::to_string(EACCES));
  chmod(folder_.c_str(), 0755);  // tests the mode of the socket
  EXPECT_EQ(AskAsOtherUser(control_.path()), "errno " + std::to_string(EACCES));
  EXPECT_EQ(done_, 0);
}

TEST_F(ControlTest, AnotherUserWhoReachesItIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  Start();
  for (const std::string& path : {base_, folder_, control_.path()}) chmod(path.c_str(), 0777);
  EXPECT_EQ(AskAsOtherUser(control_.path()),
            "error this JVM belongs to another user; only that user and root control it\n");
  EXPECT_EQ(done_, 0);
  EXPECT_EQ(Ask("jprof 1 start\n"), "ok started\n");
}

TEST_F(ControlTest, SlowClientsDoNotDelayOthers) {
  Start();
  std::vector<std::unique_ptr<Caller>> slow;
  for (int i = 0; i < 20; ++i) {
    slow.push_back(std::make_unique<Caller>(control_.path()));
    ASSERT_TRUE(slow.back()->connected());
    if (i % 2 == 0) slow.back()->Send("jprof 1 st");
  }
  for (int i = 0; i < 100; ++i) ASSERT_EQ(Ask("jprof 1 start\n"), "ok started\n");
  for (auto& caller : slow) EXPECT_TRUE(caller->StillOpen());
  EXPECT_EQ(done_, 100);
  slow.front()->Send("art\n");
  EXPECT_EQ(slow.front()->Receive(), "ok started\n");
}

TEST_F(ControlTest, SilentClientsAreDropped) {
  Start(200);
  std::vector<std::unique_ptr<Caller>> silent;
  for (int i = 0; i < 20; ++i) {
    silent.push_back(std::make_unique<Caller>(control_.path()));
    if (i % 2 == 0) silent.back()->Send("jprof 1 st");
  }
  for (auto& caller : silent) EXPECT_EQ(caller->Receive(), "");
  EXPECT_EQ(Ask("jprof 1 start\n"), "ok started\n");
}

TEST_F(ControlTest, WithTooManyClientsTheOldestIsDropped) {
  Start();
  std::vector<std::unique_ptr<Caller>> many;
  for (int i = 0; i < 200; ++i) {
    many.push_back(std::make_unique<Caller>(control_.path()));
    ASSERT_TRUE(many.back()->connected()) << i;
  }
  EXPECT_EQ(Ask("jprof 1 start\n"), "ok started\n");
  for (size_t i = 0; i < 160; ++i) EXPECT_EQ(many[i]->Receive(), "") << i;
  EXPECT_TRUE(many.back()->StillOpen());
}

TEST_F(ControlTest, ManyThreadsSendRequests) {
  Start();
  std::atomic<int> good = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 50; ++i) good += Ask("jprof 1 start\n") == "ok started\n";
      });
    }
  }
  EXPECT_EQ(good, 400);
  EXPECT_EQ(done_, 400);
}

TEST_F(ControlTest, StopRemovesTheSocketAndRunsNoHandlerAfterwards) {
  Start();
  const std::string path = control_.path();
  Caller waiting(path);
  control_.End();
  EXPECT_FALSE(fs::exists(path));
  EXPECT_EQ(waiting.Receive(), "");
  control_.End();
  Start();  // again
  EXPECT_EQ(Ask("jprof 1 start\n"), "ok started\n");
  EXPECT_EQ(Problem(), "cannot create the socket " + control_.path() + ": Address already in use");
  const auto twice = control_.Begin(Handlers(), folder_);
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().message, "already listening for jprof ctl");
  EXPECT_EQ(Ask("jprof 1 start\n"), "ok started\n");
}

TEST_F(ControlTest, AHandlerThatThrowsIsAnError) {
  auto handlers = Handlers();
  handlers.start = []() -> Result<std::string> { throw std::runtime_error("no memory"); };
  ASSERT_TRUE(control_.Begin(std::move(handlers), folder_));
  EXPECT_EQ(Ask("jprof 1 start\n"), "error no memory\n");
  EXPECT_EQ(Ask("jprof 1 stop\n"), "ok stopped\n");
}

TEST_F(ControlTest, LongAnswersAreCut) {
  auto handlers = Handlers();
  handlers.start = []() -> Result<std::string> { return std::string(100'000, 'x'); };
  ASSERT_TRUE(control_.Begin(std::move(handlers), folder_));
  const std::string answer = Ask("jprof 1 start\n");
  EXPECT_EQ(answer.size(), control::kMaxAnswer);
  EXPECT_TRUE(answer.ends_with("x\n"));
}

TEST_F(ControlTest, TheReplyToFlushCarriesTheFolder) {
  const Fd folder(open(base_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  auto handlers = Handlers();
  handlers.flush = [&]() -> Result<int> { return folder.get(); };
  ASSERT_TRUE(control_.Begin(std::move(handlers), folder_));
  for (int i = 0; i < 2; ++i) {  // the first client's copy is not the agent's
    Caller caller(control_.path());
    caller.Send("jprof 1 flush\n");
    const Fd received = caller.ReceiveDescriptor();
    EXPECT_EQ(IdentityOf(received.get()), IdentityOf(folder.get()));
    EXPECT_NE(received.get(), folder.get());
  }
}

TEST_F(ControlTest, AFolderThatCannotBeSentIsAnError) {
  auto handlers = Handlers();
  handlers.flush = [] { return INT_MAX; };  // is not open
  ASSERT_TRUE(control_.Begin(std::move(handlers), folder_));
  EXPECT_EQ(
      Ask("jprof 1 flush\n"),
      "error cannot send the descriptor of the profile's folder: Bad file descriptor; nothing "
      "was written to the disk, run `sync`\n");
}

TEST_F(ControlTest, HandlersRunOnAThreadOfItsOwnWithoutSignals) {
  auto handlers = Handlers();
  handlers.start = []() -> Result<std::string> {
    char name[16] = "";
    pthread_getname_np(pthread_self(), name, sizeof name);
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    const bool all = sigismember(&blocked, SIGTERM) && sigismember(&blocked, SIGPROF) &&
                     sigismember(&blocked, SIGQUIT) && sigismember(&blocked, SIGUSR2);
    return std::string(name) + (all ? ": no signals" : ": signals");
  };
  ASSERT_TRUE(control_.Begin(std::move(handlers), folder_));
  EXPECT_EQ(Ask("jprof 1 start\n"), "ok jprof control: no signals\n");
}

// Refused folders.

TEST_F(ControlTest, AFolderOthersMayWriteToIsRefused) {
  mkdir(folder_.c_str(), 0700);
  chmod(folder_.c_str(), 0770);
  EXPECT_EQ(Problem(), "other users may write to " + folder_ + "; run chmod 700 on it");
  chmod(folder_.c_str(), 0702);
  EXPECT_EQ(Problem(), "other users may write to " + folder_ + "; run chmod 700 on it");
  EXPECT_TRUE(fs::is_empty(folder_));
  chmod(folder_.c_str(), 0700);
  EXPECT_EQ(Problem(), "none");
}

TEST_F(ControlTest, ALinkOrAFileInThePlaceOfTheFolderIsRefused) {
  const std::string elsewhere = base_ + "/elsewhere";
  mkdir(elsewhere.c_str(), 0700);
  fs::create_symlink(elsewhere, folder_);
  EXPECT_EQ(Problem(), folder_ + " is not a folder; remove it");
  EXPECT_TRUE(fs::is_empty(elsewhere));
  fs::remove(folder_);
  std::ofstream(folder_) << "x";
  EXPECT_EQ(Problem(), folder_ + " is not a folder; remove it");
}

TEST_F(ControlTest, AFolderOfAnotherUserIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make one";
  mkdir(folder_.c_str(), 0700);
  ASSERT_EQ(chown(folder_.c_str(), kNobody, kNobody), 0);
  EXPECT_EQ(Problem(), folder_ + " belongs to user " + std::to_string(kNobody) +
                           "; set XDG_RUNTIME_DIR to a folder of this user");
}

TEST_F(ControlTest, AFolderThatCannotBeMadeOrIsTooDeepIsAnError) {
  folder_ = base_ + "/none/jprof-0";
  EXPECT_EQ(Problem(), "cannot make the folder " + folder_ + ": No such file or directory");
  folder_ = base_ + "/" + std::string(100, 'x');
  EXPECT_EQ(Problem(), folder_ + "/" + std::to_string(getpid()) +
                           ".sock is too long for a socket; set XDG_RUNTIME_DIR to a shorter path");
}

TEST_F(ControlTest, TheRuntimeFolderIsUsedOnlyIfItIsTheUsers) {
  const char* before = std::getenv("XDG_RUNTIME_DIR");
  const std::string kept = before != nullptr ? before : "";
  const std::string name = "/jprof-" + std::to_string(geteuid());
  setenv("XDG_RUNTIME_DIR", base_.c_str(), 1);
  EXPECT_EQ(control::OwnFolder(), base_ + name);
  setenv("XDG_RUNTIME_DIR", (base_ + "/none").c_str(), 1);
  EXPECT_EQ(control::OwnFolder(), "/tmp" + name);
  unsetenv("XDG_RUNTIME_DIR");
  EXPECT_EQ(control::OwnFolder(), "/tmp" + name);
  if (before != nullptr) setenv("XDG_RUNTIME_DIR", kept.c_str(), 1);
}

// Processes that end.

// Runs `f` in a child that then waits to be killed. Returns its pid after `f` returned; -1: there
// is no child.
template <typename F>
pid_t Child(F f) {
  int ready[2];
  if (pipe2(ready, O_CLOEXEC) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    alarm(600);  // ends even if the test fails
    f();
    (void)!write(ready[1], "x", 1);
    for (;;) pause();
  }
  close(ready[1]);
  char c;
  if (child > 0) (void)!read(ready[0], &c, 1);
  close(ready[0]);
  return child;
}

// -1 and 0 would kill all processes of this user or of this test's group.
void Kill(pid_t pid) {
  if (pid <= 0) return;
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

// The path of a socket of the given process on which no process listens.
std::string Orphan(const std::string& folder, pid_t pid) {
  const std::string path = folder + "/" + control::SocketName(pid);
  const Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {.sun_family = AF_UNIX};
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  EXPECT_EQ(bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0) << path;
  return path;
}

TEST_F(ControlTest, SocketsOfEndedProcessesAreRemovedAndOthersStay) {
  mkdir(folder_.c_str(), 0700);
  const pid_t living = Child([] {}), dead = Child([] {});
  Kill(dead);
  ASSERT_GT(living, 0);
  ASSERT_GT(dead, 0);
  const std::string of_dead = Orphan(folder_, dead), of_living = Orphan(folder_, living);
  const std::string own = Orphan(folder_, getpid());  // from an earlier process with this pid
  const std::string other = folder_ + "/notes.sock", number = folder_ + "/0.sock";
  std::ofstream(other) << "x";
  std::ofstream(number) << "x";
  Start();
  EXPECT_FALSE(fs::exists(of_dead));
  for (const std::string& path : {of_living, other, number}) EXPECT_TRUE(fs::exists(path)) << path;
  EXPECT_EQ(control_.path(), own);
  EXPECT_EQ(Ask("jprof 1 start\n"), "ok started\n");
  Kill(living);
}

TEST_F(ControlTest, ASocketOfThisNameInUseIsKept) {
  mkdir(folder_.c_str(), 0700);
  const Fd other(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const std::string path = folder_ + "/" + control::SocketName(getpid());
  sockaddr_un address = {.sun_family = AF_UNIX};
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(bind(other.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(other.get(), 1), 0);
  EXPECT_EQ(Problem(), "cannot create the socket " + path + ": Address already in use");
  EXPECT_TRUE(fs::exists(path));
}

Control* forked_control = nullptr;  // pthread_atfork passes no argument

TEST_F(ControlTest, AProgramThatClosesAllDescriptorsKeepsItsOwn) {
  Start();
  rlimit limit = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const int least = static_cast<int>(std::min<rlim_t>(limit.rlim_cur / 2, 4096));
  close_range(3, ~0u, 0);
  const int own = memfd_create("own", 0);
  for (int i = 0; i < 8; ++i) ASSERT_EQ(dup2(own, least + i), least + i);
  std::string answer = "(not listening)";
  for (int i = 0; i < kLong / 100 && answer == "(not listening)"; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    answer = Ask("jprof 1 status\n");
  }
  EXPECT_EQ(answer.find("(not listening)"), answer.npos);  // after a second it listens again
  control_.End();
  struct stat status;
  for (int i = 0; i < 8; ++i) EXPECT_EQ(fstat(least + i, &status), 0);
  EXPECT_EQ(status.st_size, 0);
}

TEST_F(ControlTest, AForkedChildDoesNotKeepTheSocket) {
  // The JVM is a child, so that it can be killed and has its own descriptors.
  pid_t grandchild = 0;
  int out[2];
  ASSERT_EQ(pipe2(out, O_CLOEXEC), 0);
  std::string path;
  const pid_t jvm = Child([&] {
    if (!control_.Begin(Handlers(), folder_)) _exit(1);
    forked_control = &control_;
    if (pthread_atfork(nullptr, nullptr, [] { forked_control->LeaveToParent(); }) != 0) _exit(1);
    Caller caller(control_.path());  // connected at the fork
    agent::Ask(control_.path(), "jprof 1 status\n");
    const pid_t child = fork();
    if (child < 0) (void)!write(out[1], &child, sizeof child);
    if (child != 0) return;
    alarm(600);
    control_.End();  // as at its exit; does nothing in a child
    const pid_t forked = getpid();
    (void)!write(out[1], &forked, sizeof forked);
    for (;;) pause();
  });
  ASSERT_GT(jvm, 0);
  close(out[1]);  // the read ends when all writers have closed
  const ssize_t got = read(out[0], &grandchild, sizeof grandchild);
  if (got != ssize_t{sizeof grandchild} || grandchild <= 0) Kill(jvm);
  ASSERT_EQ(got, ssize_t{sizeof grandchild});
  ASSERT_GT(grandchild, 0);
  path = folder_ + "/" + control::SocketName(jvm);
  EXPECT_EQ(agent::Ask(path, "jprof 1 start\n"), "ok started\n");  // the parent still serves
  Kill(jvm);
  EXPECT_TRUE(fs::exists(path));
  EXPECT_EQ(agent::Ask(path, "jprof 1 start\n"), "(not listening)");
  EXPECT_EQ(kill(grandchild, 0), 0);
  Start();  // removes the socket of the killed process
  EXPECT_FALSE(fs::exists(path));
  Kill(grandchild);
  close(out[0]);
}

}  // namespace
}  // namespace jprof::agent
