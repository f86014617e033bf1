#include "record/run/scoped_user.h"

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace jprof::record {
namespace {

// In a child, because the groups belong to the process: 0, or the number of the line that failed.
int InChild(int (*body)()) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ScopedUser, RootKeepsNoGroupAndGetsAllBack) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  EXPECT_EQ(InChild([] {
              const gid_t groups[] = {4, 27};
              if (setgroups(2, groups) != 0) return 1;
              {
                const ScopedUser user({4321, 4322});
                if (!user.done() || geteuid() != 4321 || getegid() != 4322) return 2;
                if (getgroups(0, nullptr) != 0) return 3;
                if (open("/etc/shadow", O_RDONLY) >= 0) return 4;
              }
              gid_t after[2] = {};
              if (geteuid() != 0 || getegid() != 0 || getgroups(2, after) != 2) return 5;
              return after[0] == 4 && after[1] == 27 ? 0 : 6;
            }),
            0);
}

TEST(ScopedUser, DoesNothingForThisUser) {
  const ScopedUser user(UserIds::Own());
  EXPECT_TRUE(user.done());
  EXPECT_EQ(geteuid(), UserIds::Own().user);
}

}  // namespace
}  // namespace jprof::record
