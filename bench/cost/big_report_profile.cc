// Writes a profile of N nodes for bench/cost/big_report.py and bench/cost/merge.py: several
// threads, deep paths, names of realistic length, superseded records and child blocks, in the order
// in which a real recording creates them. With a seed, its last tenth differs from those of other
// seeds.
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/model/table.h"
#include "profile/files/layout.h"

namespace {

using namespace jprof;
using namespace jprof::profile;

constexpr uint32_t kMethods = 40'000;
constexpr uint32_t kThreads = 4;
constexpr uint32_t kChunk = 16 << 10;  // nodes that a thread allocates at once, as in the agent

std::string MethodFile(ControlHeader& header) {
  std::string file;
  for (uint32_t id = 1; id <= kMethods; ++id) {
    const std::string class_name =
        fmt::format("com/example/compiler/phase{}/Visitor{}", id % 40, id % 1000);
    const std::string name = fmt::format("visitExpression{}", id);
    const std::string signature =
        "(Lcom/example/compiler/tree/Node;Ljava/util/List;I)Ljava/lang/Object;";
    const std::string text = class_name + name + signature;
    MethodRecord record;
    record.bytes = static_cast<uint32_t>((sizeof(record) + text.size() + 7) / 8 * 8);
    record.id = id;
    record.flags = id % 4 == 0 ? kMethodStatic : 0;
    record.class_length = static_cast<uint16_t>(class_name.size());
    record.name_length = static_cast<uint16_t>(name.size());
    record.signature_length = static_cast<uint16_t>(signature.size());
    const size_t start = file.size();
    file.append(reinterpret_cast<const char*>(&record), sizeof(record)).append(text);
    file.resize(start + record.bytes);
  }
  header.method_count = kMethods;
  header.methods_bytes = file.size();
  return file;
}

// An overhead for every transition, so that the report corrects every node.
std::string TableFile() {
  using namespace calibrate;
  Metric metric{.name = "time", .unit = "ticks", .granularity = 26};
  for (const EventKind previous : {EventKind::kEntry, EventKind::kExit}) {
    for (const EventKind event : {EventKind::kEntry, EventKind::kExit}) {
      for (const char running : std::string("IJRNijrnT")) {
        for (const char other : std::string("IJRNijrnT")) {
          metric.keys[{previous, running, event, other}] = {.count = 1000,
                                                            .observed = 30,
                                                            .truth = 2,
                                                            .overhead = 28,
                                                            .spread = 20,
                                                            .repeat = 0.2};
        }
      }
    }
  }
  return ToJson(
      {.fingerprint = {{"cpu", "bench"}}, .made_at = "2026-01-01T00:00:00Z", .metrics = {metric}});
}

// One thread's random walk: down into a new context and up again; no path occurs twice.
struct Walker {
  std::vector<uint32_t> path;
  uint32_t next = 0;  // free nodes of its chunk
  uint32_t end = 0;
};

Node RandomNode(std::mt19937& random, uint32_t parent) {
  Node node;
  const auto draw = static_cast<uint32_t>(random());
  node.ref = PackMethod(static_cast<FrameKind>(1 + draw % 4),
                        MethodId{static_cast<uint32_t>(1 + random() % kMethods)});
  node.parent = parent;
  node.entries[0] = 1 + draw % 50;
  node.entries[1] = draw % 300;
  node.exits[0] = node.entries[0];
  node.exits[1] = node.entries[1];
  node.self = draw % 100'000;
  return node;
}

void Walk(std::vector<Node>& nodes, std::vector<ThreadRecord>& threads, uint32_t seed) {
  std::mt19937 random(1);
  const size_t common = nodes.size() / 10 * 9;
  std::vector<Walker> walkers(threads.size());
  uint32_t used = 1;
  for (size_t turn = 0; used < nodes.size(); ++turn) {
    if (seed != 1 && used > common) random.seed(std::exchange(seed, 1));
    const size_t t = turn % walkers.size();
    Walker& walker = walkers[t];
    walker.next = used;
    walker.end = used = std::min<uint32_t>(used + kChunk, static_cast<uint32_t>(nodes.size()));
    while (walker.next < walker.end) {
      const uint32_t index = walker.next++;
      if (walker.path.empty()) {
        nodes[index].ref = PackMethod(FrameKind::kThread, kRootMethod);
        threads[t].root = index;
        walker.path = {index};
        continue;
      }
      const auto draw = static_cast<uint32_t>(random() % 100);
      if (draw < 8) {
        nodes[index].ref = PackMethod(FrameKind::kBlock, profile::kRootMethod);
      } else if (draw < 12 && walker.path.size() > 1) {
        const Node& live = nodes[walker.path.back()];
        nodes[index] = RandomNode(random, walker.path.back());
        nodes[index].ref = PackMethod(FrameKind::kInterpreted, MethodOf(live.ref));
        nodes[index].more = kSuperseded;
      } else {
        nodes[index] = RandomNode(random, walker.path.back());
        walker.path.push_back(index);
      }
      while (walker.path.size() > 1 && (random() % 100 < 48 || walker.path.size() > 120))
        walker.path.pop_back();
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    fmt::print(stderr, "usage: {} DIRECTORY NODES [SEED]\n", argv[0]);
    return 2;
  }
  const std::filesystem::path directory = argv[1];
  std::filesystem::create_directories(directory);
  ControlHeader header;
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.version = kFormatVersion;
  header.thread_count = kThreads;
  header.finished = 1;
  header.ticks_per_second = 2'600'000'000;
  header.node_count = std::strtoull(argv[2], nullptr, 10);

  std::vector<ThreadRecord> threads(kThreads);
  for (uint32_t i = 0; i < kThreads; ++i) {
    threads[i].state = kThreadEnded;
    threads[i].tid = 100 + i;
    fmt::format_to(threads[i].name, "worker-{}", i);
  }
  const auto save = [&](const char* name, const void* bytes, size_t size) {
    std::ofstream file(directory / name, std::ios::binary);
    file.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
    if (!file.flush()) std::exit((fmt::print(stderr, "cannot write {}\n", name), 1));
  };
  {
    std::vector<Node> nodes(header.node_count);
    Walk(nodes, threads, argc == 4 ? static_cast<uint32_t>(std::atoi(argv[3])) : 1);
    save(kNodesFile, nodes.data(), nodes.size() * sizeof(Node));
  }
  const std::string methods = MethodFile(header);
  save(kMethodsFile, methods.data(), methods.size());
  std::string control(kControlHeaderBytes, '\0');
  std::memcpy(control.data(), &header, sizeof(header));
  control.append(reinterpret_cast<const char*>(threads.data()),
                 threads.size() * sizeof(ThreadRecord));
  save(kControlFile, control.data(), control.size());

  const std::string meta = R"({"format":1,"mode":"callflow","pid":1,"command":["bench"],
"metrics":[{"name":"time","unit":"ns","scale":0.385,"kind":"time"}],"fingerprint":{"cpu":"bench"}})";
  save(kMetaFile, meta.data(), meta.size());
  const std::string table = TableFile();
  save(kCalibrationFile, table.data(), table.size());
  return 0;
}
