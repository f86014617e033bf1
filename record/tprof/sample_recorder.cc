#include "record/tprof/sample_recorder.h"

#include <string_view>

#include "common/moved_code.h"

namespace jprof::record {
namespace {

using ptm::SampleRecord;

profile::SampleEntry EntryOf(uint32_t pid, const procfs::Mapping& mapping) {
  // A conditional of a literal and a string would be a temporary string.
  const std::string_view path = mapping.path.empty() ? std::string_view("//anon") : mapping.path;
  return {.pid = pid,
          .tid = pid,
          .event = profile::CodeMapped{.start = mapping.start,
                                       .length = mapping.end - mapping.start,
                                       .file_offset = mapping.offset,
                                       .inode = mapping.inode,
                                       .path = path}};
}

std::optional<profile::SampleEvent> EventOf(const SampleRecord& from) {
  switch (from.kind) {
    case SampleRecord::Kind::kSample:
      return profile::SampleTaken{from.address, from.kernel, from.chain};
    case SampleRecord::Kind::kMap:
      return profile::CodeMapped{.start = from.address,
                                 .length = from.length,
                                 .file_offset = from.offset,
                                 .inode = from.inode,
                                 .path = from.text};
    case SampleRecord::Kind::kComm:
      return profile::ThreadNamed{from.text, from.exec};
    case SampleRecord::Kind::kFork:
      return profile::ThreadForked{from.parent_pid};
    case SampleRecord::Kind::kExit:
      return profile::ThreadExited{};
    case SampleRecord::Kind::kLost:
    case SampleRecord::Kind::kSwitch:
      break;
  }
  return std::nullopt;
}

}  // namespace

std::optional<profile::SampleEntry> EntryOf(const SampleRecord& from) {
  const auto event = EventOf(from);
  if (!event) return std::nullopt;
  return profile::SampleEntry{from.time, from.pid, from.tid, from.cpu, *event};
}

void SampleRecorder::Add(const SampleRecord& from) {
  writer_.AddLost(from.lost);  // 0 unless it is kLost
  const auto entry = EntryOf(from);
  if (!entry) return;
  FollowProcess(from);
  writer_.Add(*entry);
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
  auto maps = procfs::ReadMaps(pid, proc).value_or(std::vector<procfs::Mapping>());
  procfs::NameMovedCode(maps);
  for (const procfs::Mapping& mapping : maps) {
    foreign_jit_.Mapped(pid, mapping.path, mapping.inode);
    if (mapping.executable) writer_.Add(EntryOf(pid, mapping));
  }
  for (const uint32_t tid : procfs::Threads(pid, proc)) {
    const std::string name = procfs::ThreadName(pid, tid, proc);
    writer_.Add({.pid = pid, .tid = tid, .event = profile::ThreadNamed{name}});
  }
}

}  // namespace jprof::record
