#include "record/run/scoped_user.h"

#include <grp.h>
#include <unistd.h>

#include <algorithm>

namespace jprof::record {
namespace {

std::vector<gid_t> GroupsNow() {
  std::vector<gid_t> groups(static_cast<size_t>(std::max(0, getgroups(0, nullptr))));
  groups.resize(
      static_cast<size_t>(std::max(0, getgroups(static_cast<int>(groups.size()), groups.data()))));
  return groups;
}

}  // namespace

UserIds UserIds::Own() { return {geteuid(), getegid()}; }

// Changes the user last, because only root may change the others.
ScopedUser::ScopedUser(UserIds ids) : changes_(geteuid() == 0 && ids.user != 0), group_(getegid()) {
  if (!changes_) return;
  groups_ = GroupsNow();
  done_ = setgroups(0, nullptr) == 0 && setegid(ids.group) == 0 && seteuid(ids.user) == 0;
}

ScopedUser::~ScopedUser() {
  if (!changes_) return;
  (void)!seteuid(0);
  (void)!setegid(group_);
  (void)!setgroups(groups_.size(), groups_.data());
}

}  // namespace jprof::record
