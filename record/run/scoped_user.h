// Lets root work in the name of another user, on files that a process of that user names.
#pragma once

#include <sys/types.h>

#include <vector>

namespace jprof::record {

struct UserIds {
  uid_t user = 0;
  gid_t group = 0;

  static UserIds Own();  // of this process
};

// While an object exists, root has the effective user and group and no supplementary group: files
// that it makes belong to that user, and it reaches no file that the user could not reach, whatever
// links and mounts that user has made. Does nothing for another user than root.
//
// Requires a program with one thread, because the effective user belongs to the process.
class ScopedUser {
 public:
  explicit ScopedUser(UserIds ids);
  ~ScopedUser();
  ScopedUser(const ScopedUser&) = delete;
  ScopedUser& operator=(const ScopedUser&) = delete;

  // Returns false if the kernel did not let this process become the user, and it has kept
  // some of its rights.
  bool done() const { return done_; }

 private:
  const bool changes_;
  const gid_t group_;
  std::vector<gid_t> groups_;
  bool done_ = true;
};

}  // namespace jprof::record
