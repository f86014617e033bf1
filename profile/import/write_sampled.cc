#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <system_error>

#include "common/errno_text.h"
#include "profile/files/file_list.h"
#include "profile/files/whole_file.h"
#include "profile/files/writer.h"
#include "profile/import/importer.h"

namespace jprof::profile {
namespace {

constexpr uint64_t kTicksPerSecond = 1'000'000'000;
constexpr uint32_t kAtOnce = 1 << 16;
constexpr uint64_t kLeastTree = uint64_t{1} << 20;

std::unexpected<Error> NoRoom(Writer& writer, const std::string& directory) {
  const int error = static_cast<int>(writer.header()->growth_error);
  return Fail("cannot write the profile {}: {}", directory,
              error != 0 ? ErrnoText(error) : "there is not enough room");
}

bool WriteMethods(const SampleTree& tree, Writer& writer) {
  return std::ranges::all_of(tree.methods(), [&](const SampleTree::Method& method) {
    return writer.AddMethod(method.class_name, method.name, method.signature, method.flags) !=
           kRootMethod;
  });
}

// Writes the nodes in the tree's order: the first one has index 1.
bool WriteNodes(const SampleTree& tree, Writer& writer) {
  const auto count = static_cast<uint32_t>(tree.nodes().size());
  for (uint32_t done = 0; done < count;) {
    const uint32_t part = std::min(kAtOnce, count - done);
    if (writer.AllocateNodes(part) == 0) return false;
    done += part;
  }
  for (uint32_t i = 0; i < count; ++i) {
    const SampleTree::Node& from = tree.nodes()[i];
    Node& to = writer.nodes()[i + 1];
    to.ref = from.ref;
    to.parent = MethodOf(from.ref) == kRootMethod ? 0 : from.parent + 1;
    to.self = from.value;
    if (writer.metric_count() > 1) writer.extra()[i + 1] = from.count;
  }
  return true;
}

bool WriteThreads(const SampleTree& tree, uint64_t end_ticks, Writer& writer) {
  for (const SampleTree::Thread& from : tree.threads()) {
    ThreadRecord* to = writer.AllocateThread();
    if (to == nullptr) return false;
    to->state = kThreadEnded;
    if (from.is_virtual) to->flags = kThreadVirtual;
    to->tid = from.tid;
    to->root = from.root + 1;
    to->end_ticks = end_ticks;
    to->samples = from.samples;
    to->samples_unknown = from.unknown;
    to->samples_truncated = from.cut;
    to->samples_lost = from.lost;
    std::memcpy(to->name, from.name.data(), std::min(from.name.size(), sizeof to->name - 1));
  }
  return true;
}

Result<void> WriteAll(const SampleTree& tree, const ForeignRun& run, const std::string& directory,
                      Writer& writer) {
  ControlHeader& header = *writer.header();
  header.start_unix_ns = run.start_unix_ns;
  header.ticks_per_second = kTicksPerSecond;
  if (!WriteMethods(tree, writer) || !WriteNodes(tree, writer) ||
      !WriteThreads(tree, run.duration_ns, writer))
    return NoRoom(writer, directory);
  Meta meta = run.meta;
  meta.mode = NameOf(Mode::kScs);
  meta.options.sites = tree.has_sites();
  auto written = WriteWholeFile(directory + "/" + kMetaFile, ToJson(meta));
  if (written) written = WriteWholeFile(directory + "/" + kImportedFile, ToJson(run.imported));
  if (!written) return written;
  writer.Finish(run.duration_ns);
  return {};
}

}  // namespace

Metric SamplesMetric(uint64_t period_ns, Period::Clock clock) {
  Metric metric = {.name = "samples", .unit = "samples", .kind = Metric::Kind::kSamples};
  metric.period = {.value = period_ns, .unit = "ns", .clock = clock};
  return metric;
}

Result<void> WriteSampled(const SampleTree& tree, const ForeignRun& run,
                          const std::string& directory) {
  WriterOptions options;
  options.directory = directory;
  options.metric_count = static_cast<uint32_t>(run.meta.metrics.size());
  options.tree_memory = std::max(kLeastTree, (tree.nodes().size() + 1) * sizeof(Node));
  Writer writer;
  if (auto opened = writer.Open(options); !opened) return opened;
  auto written = WriteAll(tree, run, directory, writer);
  writer.Close();
  if (!written) {
    std::error_code ignored;
    std::filesystem::remove_all(directory, ignored);
  }
  return written;
}

}  // namespace jprof::profile
