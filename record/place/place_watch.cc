#include "record/place/place_watch.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "common/kept_fd.h"
#include "profile/files/unused_directory.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

Fd OpenDirectory(const fs::path& path) {
  return Fd(open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

}  // namespace

PlaceWatch::PlaceWatch(const fs::path& place)
    : place_(place),
      parent_(OpenDirectory(place.parent_path())),
      events_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
  inotify_add_watch(events_.get(), place.parent_path().c_str(),
                    IN_CREATE | IN_DELETE | IN_MOVE | IN_ONLYDIR);
}

void PlaceWatch::Look() {
  alignas(inotify_event) char events[64 << 10];
  ssize_t bytes;
  while ((bytes = read(events_.get(), events, sizeof events)) > 0) {
    for (ssize_t at = 0; at < bytes;) {
      const auto& event = *reinterpret_cast<const inotify_event*>(events + at);
      if (event.len != 0 && (event.mask & IN_ISDIR)) Note(event);
      at += static_cast<ssize_t>(sizeof event + event.len);
    }
  }
}

void PlaceWatch::Note(const inotify_event& event) {
  const std::string name = place_.filename(), seen = event.name;
  const bool unused = seen == name + profile::kUnusedSuffix;
  if (unused && (event.mask & IN_MOVED_TO) && event.cookie == renaming_) --gone_;
  if (seen != name) return;
  if (event.mask & (IN_CREATE | IN_MOVED_TO)) made_ = true;
  if (event.mask & (IN_DELETE | IN_MOVED_FROM)) ++gone_;
  if (event.mask & IN_MOVED_FROM) renaming_ = event.cookie;
}

bool PlaceWatch::Gone() {
  Look();
  return gone_ > 0 || (made_ && ParentIsGone());
}

bool PlaceWatch::ParentIsGone() const {
  const auto before = IdentityOf(parent_.get());
  if (!before) return false;
  const Fd parent = OpenDirectory(place_.parent_path());
  if (!parent) return errno == ENOENT || errno == ENOTDIR;  // else it cannot be looked at
  const auto now = IdentityOf(parent.get());
  return now && *now != *before;
}

}  // namespace jprof::record
