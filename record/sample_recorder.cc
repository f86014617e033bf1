#include "record/sample_recorder.h"

#include <string_view>

namespace jprof::record {
namespace {

using profile::SampleFileRecord;
using profile::SampleKind;
using ptm::SampleRecord;

std::optional<SampleKind> FileKindOf(SampleRecord::Kind kind) {
  switch (kind) {
    case SampleRecord::Kind::kSample:
      return SampleKind::kSample;
    case SampleRecord::Kind::kMap:
      return SampleKind::kMap;
    case SampleRecord::Kind::kComm:
      return SampleKind::kComm;
    case SampleRecord::Kind::kFork:
      return SampleKind::kFork;
    case SampleRecord::Kind::kExit:
      return SampleKind::kExit;
    case SampleRecord::Kind::kLost:
      return SampleKind::kLost;
    case SampleRecord::Kind::kSwitch:
      return std::nullopt;
  }
  return std::nullopt;
}

profile::SampleEntry EntryOf(uint32_t pid, const procfs::Mapping& mapping) {
  return {.record = {.kind = SampleKind::kMap,
                     .pid = pid,
                     .tid = pid,
                     .address = mapping.start,
                     .length = mapping.end - mapping.start,
                     .offset = mapping.offset,
                     .inode = mapping.inode},
          .text = mapping.path.empty() ? std::string_view("//anon") : mapping.path};
}

}  // namespace

std::optional<SampleFileRecord> FileRecordOf(const SampleRecord& from) {
  const auto kind = FileKindOf(from.kind);
  if (!kind) return std::nullopt;
  SampleFileRecord record = {.kind = *kind,
                             .kernel = from.kernel,
                             .exec = from.exec,
                             .cpu = from.cpu,
                             .pid = from.pid,
                             .tid = from.tid,
                             .time = from.time,
                             .address = from.address,
                             .length = from.length,
                             .offset = from.offset,
                             .inode = from.inode};
  if (*kind == SampleKind::kFork) record.address = from.parent_pid;
  if (*kind == SampleKind::kLost) record.address = from.lost;
  return record;
}

void SampleRecorder::Add(const SampleRecord& from) {
  const auto record = FileRecordOf(from);
  if (!record) return;
  FollowProcess(from);
  writer_.Add({*record, from.text, {}, from.chain});
}

void SampleRecorder::FollowProcess(const SampleRecord& from) {
  switch (from.kind) {
    case SampleRecord::Kind::kSample:
      return foreign_jit_.Sampled(from.pid);
    case SampleRecord::Kind::kMap:
      return foreign_jit_.Mapped(from.pid, from.text, from.inode);
    case SampleRecord::Kind::kComm:
      if (from.exec) foreign_jit_.Executed(from.pid);
      return;
    case SampleRecord::Kind::kFork:
      return foreign_jit_.Forked(from.parent_pid, from.pid);
    default:
      return;
  }
}

void SampleRecorder::AddExisting(uint32_t pid, const std::string& proc) {
  const auto maps = procfs::ReadMaps(pid, proc);
  for (const procfs::Mapping& mapping : maps ? *maps : std::vector<procfs::Mapping>()) {
    foreign_jit_.Mapped(pid, mapping.path, mapping.inode);
    if (mapping.executable) writer_.Add(EntryOf(pid, mapping));
  }
  for (const uint32_t tid : procfs::Threads(pid, proc)) {
    const std::string name = procfs::ThreadName(pid, tid, proc);
    writer_.Add({{.kind = SampleKind::kComm, .pid = pid, .tid = tid}, name, {}, {}});
  }
}

}  // namespace jprof::record
