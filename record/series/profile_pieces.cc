#include "record/series/profile_pieces.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "common/errno_text.h"
#include "common/private_file.h"
#include "profile/pieces/piece_list.h"
#include "profile/pieces/write_piece.h"
#include "record/place/profile_place.h"
#include "record/place/recording_summary.h"
#include "record/run/print_error.h"

namespace jprof::record {

namespace fs = std::filesystem;

namespace {

constexpr SnapshotShare kShareOfPieces = {.of_all = 0.1, .at_once = 0.5};

}  // namespace

ProfilePieces::ProfilePieces(const fs::path& profile, const fs::path& shown,
                             const SnapshotOptions& options)
    : ProfileSnapshots(profile, shown, options.rotate_ns, kShareOfPieces),
      keep_(options.keep),
      folder_(profile / profile::kPiecesFolder) {}

Result<void> ProfilePieces::Open(uint64_t /*unix_now*/, int64_t /*now*/) {
  if (mkdir(folder_.c_str(), kPrivateDirectory) == 0 || errno == EEXIST) return {};
  return Fail("cannot make the directory {}: {}", folder_.string(), ErrnoText());
}

std::string ProfilePieces::Replaced() const {
  return fmt::format("{} was removed, or replaced by another recording", DisplayPath(shown()));
}

void ProfilePieces::Keep(const Snapshot& snapshot) {
  if (!IsThere()) {  // what is there now has pieces of its own
    if (failure_.empty()) PrintError("pieces:  there will be no more: " + Replaced());
    failure_ = Replaced();
    return;
  }
  const profile::ProfileMemory memory = Memory();
  if (!gains_.Add(snapshot.encoded.content, memory.node_count, memory.control_bytes,
                  memory.extras)) {
    failure_ = "a snapshot could not be read again; its counts are only in the whole profile";
    PrintError(fmt::format("pieces:  {}", failure_));
    return;
  }
  window_ = gains_.Take(static_cast<uint64_t>(snapshot.end_ns - start_ns()));
  const bool killed = snapshot.last && window_->end.finished == 0;
  if (auto written = Write(!killed); !written) {
    if (failure_.empty())
      PrintError(
          fmt::format("pieces:  number {} could not be written: {}; its counts {}", written_ + 1,
                      written.error().message,
                      snapshot.last ? "are only in the whole profile" : "will be in the next one"));
    failure_ = written.error().message;
    return;
  }
  failure_.clear();
  gains_.Next();
  RemoveOldest();
}

// Writes the piece under another name, and renames it when it is complete.
Result<void> ProfilePieces::Write(bool finished) {
  const fs::path unfinished = folder_ / profile::kNewPiece;
  RemoveProfile(unfinished);  // that a killed jprof has left
  if (mkdir(unfinished.c_str(), kPrivateDirectory) != 0)
    return Fail("cannot make the directory {}: {}", unfinished.string(), ErrnoText());
  auto written =
      profile::WritePiece({.profile = profile().string(),
                           .directory = unfinished.string(),
                           .number = written_ + 1,
                           .of = shown().filename().string(),
                           .partial = gains_.is_partial(),
                           .finished = finished,
                           .settle = [this](profile::NodeGains& of) { return Settle(of); }},
                          window_);
  if (!IsThere()) return Fail("{}", Replaced());
  if (written) {
    KeepTable(unfinished);
    const fs::path piece = folder_ / profile::kPieceNames.Of(written_ + 1);
    if (std::rename(unfinished.c_str(), piece.c_str()) == 0) {
      ++written_;
      return {};
    }
    written = Fail("cannot rename {}: {}", unfinished.string(), ErrnoText());
  }
  RemoveProfile(unfinished);
  return written;
}

// Superseded records that the last snapshot has not seen have taken over what it counted.
bool ProfilePieces::Settle(profile::NodeGains& gains) {
  const profile::ProfileMemory memory = Memory();
  bool moved = false;
  for (uint64_t i = 1; i < memory.node_count; ++i) {
    const profile::Node& node = memory.nodes[i];
    const auto index = static_cast<uint32_t>(i);
    if (__atomic_load_n(&node.more, __ATOMIC_RELAXED) != profile::kSuperseded ||
        profile::TypeOf(node.ref) == FrameKind::kBlock || node.parent == 0 ||
        node.parent >= index || encoder().HasTaken(index))
      continue;
    moved |= gains.Has(node.parent);
    gains.Move(node.parent, index);
  }
  return moved;
}

// Renames a piece before it is removed, so that one that exists is complete.
void ProfilePieces::RemoveOldest() {
  const fs::path old = folder_ / profile::kOldPiece;
  RemoveProfile(old);
  if (keep_ == 0) return;
  const auto pieces = profile::PiecesOf(profile());
  for (size_t i = 0; i + keep_ < pieces.size(); ++i) {
    if (std::rename(pieces[i].c_str(), old.c_str()) == 0) RemoveProfile(old);
  }
}

std::string ProfilePieces::Close(bool written) {
  if (!IsThere()) return "pieces:  none is left: " + Replaced();
  RemoveProfile(folder_ / profile::kNewPiece);
  const auto pieces = profile::PiecesOf(profile());
  if (pieces.empty()) rmdir(folder_.c_str());
  std::string text = fmt::format("pieces:  {} of {}", pieces.size(), written_);
  if (!pieces.empty()) {
    text +=
        fmt::format(", of {:.10g} s each, made in {:.2f} s of CPU time; jprof report {}",
                    static_cast<double>(interval_ns()) / 1e9, static_cast<double>(cost_ns()) / 1e9,
                    DisplayPath(shown() / profile::kPiecesFolder / pieces.back().filename()));
  }
  if (!failure_.empty()) {
    text += fmt::format(" (the last one could not be written, its counts are only in {}: {})",
                        DisplayPath(shown()), failure_);
  }
  if (missed_ != 0) {
    text += fmt::format(
        " (some are longer: {} more would have taken more than {:.0f} % of one processor)", missed_,
        kShareOfPieces.of_all * 100);
  }
  if (written)
    text += fmt::format(" ({} is still being written: no piece has what follows)",
                        DisplayPath(shown()));
  return text;
}

}  // namespace jprof::record
