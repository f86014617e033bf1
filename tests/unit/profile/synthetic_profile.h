// Makes profiles without a JVM: takes events, writes a profile directory, by the obvious
// list-and-map implementation. For tests of the reader and the reports, and the seeds of their
// fuzzer. Writes exactly the layout of layout.h.
#pragma once

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "profile/files/distribution.h"
#include "profile/files/layout.h"
#include "profile/files/live_record.h"
#include "profile/files/slow_call.h"

namespace jprof::profile {

class SyntheticProfile {
 public:
  SyntheticProfile() {
    std::memcpy(header.magic, kMagic, sizeof(kMagic));
    header.version = kFormatVersion;
    header.finished = 1;
    header.ticks_per_second = 1'000'000'000;
    header.start_ticks = 1000;
    header.end_ticks = 2'000'001'000;
    nodes.resize(1);
    extra.resize(1);
  }

  MethodId AddMethod(std::string class_name, std::string name, std::string signature,
                     uint16_t flags = 0) {
    MethodRecord record;
    const std::string text = class_name + name + signature;
    record.bytes = static_cast<uint32_t>((sizeof(record) + text.size() + 7) / 8 * 8);
    record.id = ++header.method_count;
    record.flags = flags;
    record.class_length = static_cast<uint16_t>(class_name.size());
    record.name_length = static_cast<uint16_t>(name.size());
    record.signature_length = static_cast<uint16_t>(signature.size());
    const size_t start = methods.size();
    methods.append(reinterpret_cast<const char*>(&record), sizeof(record)).append(text);
    methods.resize(start + record.bytes);
    return MethodId{record.id};
  }

  size_t AddThread(const std::string& name, uint32_t tid) {
    ThreadRecord record;
    record.state = kThreadEnded;
    record.tid = tid;
    std::strncpy(record.name, name.c_str(), sizeof(record.name) - 1);
    record.root = AddNode(PackMethod(FrameKind::kThread, kRootMethod), 0);
    threads.push_back(record);
    timelines_.push_back({.stack = {record.root}});
    return threads.size() - 1;
  }

  // An entry `delta` after the thread's last event; the time is attributed to the running method.
  void Enter(size_t thread, MethodId method, FrameKind type, int64_t delta,
             int64_t extra_delta = 0) {
    Timeline& timeline = timelines_[thread];
    Attribute(timeline, delta, extra_delta);
    Trace(thread, PackMethod(type, method), false, delta);
    uint32_t caller = timeline.stack.back();
    if (site != kRootMethod) caller = ChildOf(caller, PackMethod(FrameKind::kSite, site));
    const uint32_t child = ChildOf(caller, PackMethod(type, method));
    ++nodes[child].entries[static_cast<size_t>(timeline.previous)];
    timeline.previous = EventKind::kEntry;
    timeline.stack.push_back(child);
  }

  void Exit(size_t thread, int64_t delta, int64_t extra_delta = 0) {
    Timeline& timeline = timelines_[thread];
    Attribute(timeline, delta, extra_delta);
    Node& node = nodes[timeline.stack.back()];
    Trace(thread, node.ref, true, delta);
    ++node.exits[static_cast<size_t>(timeline.previous)];
    timeline.previous = EventKind::kExit;
    timeline.stack.pop_back();
  }

  // The thread does not run for so long before its next event, inside a watched call.
  void Wait(size_t thread, int64_t ticks) {
    std::string& events = timelines_[thread].events;
    Varint(events, 0);
    Varint(events, static_cast<uint64_t>(ticks) << 1);
  }
  // Ends the current block of a thread, which is kept for slow calls or not.
  void EndBlock(size_t thread, bool kept) {
    timelines_[thread].block.kept = kept ? kKeptBlock : 0;
    FlushTrace(thread);
  }

  Node& Current(size_t thread) { return nodes[timelines_[thread].stack.back()]; }

  // Adds any record: also for damaged profiles.
  uint32_t AddNode(MethodRef ref, uint32_t parent) {
    Node node;
    node.ref = ref;
    node.parent = parent;
    nodes.push_back(node);
    extra.push_back(0);
    return static_cast<uint32_t>(nodes.size() - 1);
  }

  // Files grow in steps: each gets `slack` unused bytes at its end.
  void Write(const std::filesystem::path& directory, size_t slack = 0) {
    std::filesystem::create_directories(directory);
    FlushTraces();
    header.thread_count = static_cast<uint32_t>(threads.size());
    header.node_count = nodes.size();
    header.methods_bytes = methods.size();
    header.lock_edges = locks.size();
    header.live_records = live.size();
    header.distributions = distributions.size();
    header.slow_records = slow_calls.size();
    header.trace_blocks = trace.size() / kTraceBlockBytes;
    std::string control(kControlHeaderBytes, '\0');
    std::memcpy(control.data(), &header, sizeof(header));
    Save(directory / kControlFile, control + Bytes(threads), slack);
    Save(directory / kNodesFile, Bytes(nodes), slack);
    if (header.metric_count > 1) Save(directory / kExtraFile, Bytes(extra), slack);
    Save(directory / kMethodsFile, methods, slack);
    if (!trace.empty()) Save(directory / kTraceFile, trace, slack);
    if (!locks.empty()) Save(directory / kLocksFile, Bytes(locks), slack);
    if (!live.empty()) Save(directory / kLiveFile, Bytes(live), slack);
    if (!distributions.empty()) Save(directory / kDistributionsFile, Bytes(distributions), slack);
    if (!slow_calls.empty()) Save(directory / kSlowCallsFile, Bytes(slow_calls), slack);
    Save(directory / kMetaFile, meta, 0);
    if (!calibration.empty()) Save(directory / kCalibrationFile, calibration, 0);
  }

  ControlHeader header;
  std::vector<ThreadRecord> threads;
  std::vector<Node> nodes;
  std::vector<int64_t> extra;  // of the second metric, if header.metric_count == 2
  std::vector<LockEdge> locks;
  std::vector<LiveRecord> live;
  std::vector<DistributionRecord> distributions;
  std::vector<SlowCall> slow_calls;
  std::string methods;
  std::string trace;  // whole blocks
  bool with_trace = false;
  MethodId site = kRootMethod;  // where the running method makes its next calls, if it is known
  std::string calibration;
  std::string meta =
      R"({"format":1,"jprof":"0.1.0","mode":"callflow","pid":42,"command":["java","Demo"],"cwd":"/tmp",
"start":"2026-01-02T03:04:05Z","options":{"text":"callflow","fold_recursion":false,"trace_mode":"normal"},
"metrics":[{"name":"time","unit":"ns","scale":1,"kind":"time"}],"probe":{"kind":"hotspot","note":""},
"clock":{"source":"tsc","ticks_per_second":1000000000,"granularity_ticks":26,"read_ticks":25,"bracket_period":16},
"jvm":{"name":"Test VM","version":"17"},"fingerprint":{"cpu":"c","probe":"hotspot","metrics":"time"}})";

 private:
  struct Timeline {
    std::vector<uint32_t> stack;
    EventKind previous = EventKind::kEntry;
    std::string events;  // of the block being filled
    TraceBlock block;
    int64_t value = 0;
  };

  void Attribute(Timeline& timeline, int64_t delta, int64_t extra_delta) {
    nodes[timeline.stack.back()].self += delta;
    extra[timeline.stack.back()] += extra_delta;
  }

  uint32_t ChildOf(uint32_t parent, MethodRef ref) {
    const auto [known, is_new] = children_.try_emplace({parent, IndexOf(MethodOf(ref))}, 0);
    if (is_new) known->second = AddNode(ref, parent);
    const uint32_t child = known->second;
    if (nodes[child].ref != ref) {
      // The method was compiled: its values move to a superseded record.
      const uint32_t superseded = AddNode(nodes[child].ref, child);
      nodes[superseded] = nodes[child];
      nodes[superseded].parent = child;
      nodes[superseded].more = kSuperseded;
      nodes[child] = {.ref = ref, .parent = parent};
      std::swap(extra[superseded], extra[child]);
    }
    return child;
  }

  static void Varint(std::string& out, uint64_t value) {
    for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
    out += static_cast<char>(value);
  }

  void Trace(size_t thread, MethodRef ref, bool exit, int64_t delta) {
    if (!with_trace) return;
    Timeline& timeline = timelines_[thread];
    std::string event;
    Varint(event, uint64_t{IndexOf(MethodOf(ref))} << 5 | uint64_t(TypeOf(ref)) << 1 | exit);
    Varint(event, static_cast<uint64_t>(delta) << 1 ^ static_cast<uint64_t>(delta >> 63));
    if (sizeof(TraceBlock) + timeline.events.size() + event.size() > kTraceBlockBytes)
      FlushTrace(thread);
    timeline.events += event;
    timeline.value += delta;
    ++timeline.block.events;
    ++threads[thread].trace_events;
  }

  void FlushTrace(size_t thread) {
    Timeline& timeline = timelines_[thread];
    if (timeline.block.events == 0) return;
    timeline.block.thread = static_cast<uint32_t>(thread);
    timeline.block.bytes = static_cast<uint32_t>(timeline.events.size());
    ++timeline.block.sequence;
    const size_t start = trace.size();
    trace.append(reinterpret_cast<const char*>(&timeline.block), sizeof(TraceBlock))
        .append(timeline.events);
    trace.resize(start + kTraceBlockBytes);
    timeline.events.clear();
    timeline.block.first_event += timeline.block.events;
    timeline.block.first_value = timeline.value;
    timeline.block.events = 0;
  }
  void FlushTraces() {
    for (size_t thread = 0; thread < threads.size(); ++thread) FlushTrace(thread);
  }

  template <typename T>
  static std::string Bytes(const std::vector<T>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
  }
  static void Save(const std::filesystem::path& path, const std::string& bytes, size_t slack) {
    std::ofstream(path, std::ios::binary) << bytes << std::string(slack, '\0');
  }

  std::vector<Timeline> timelines_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> children_;
};

}  // namespace jprof::profile
