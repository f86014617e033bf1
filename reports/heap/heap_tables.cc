#include "reports/heap/heap_tables.h"

#include "common/utc_text.h"
#include "heap/analysis/names.h"
#include "model/values/statistics.h"
#include "profile/files/printable_text.h"

namespace jprof::reports {
namespace {

uint64_t LiveBytes(const heap::Heap& heap) { return heap.tree.size * heap::Heap::kUnit; }

uint64_t AllBytes(const heap::Heap& heap) {
  uint64_t bytes = 0;
  for (const heap::Shape& shape : heap.shapes) bytes += shape.count * shape.size;
  for (const heap::HeapClass& one : heap.classes) bytes += one.mirror_size;
  return bytes;
}

uint64_t AllObjects(const heap::Heap& heap) {
  return heap.nodes() - heap::kPrimitiveTypes;  // these have no class object of their own
}

}  // namespace

std::vector<std::pair<const char*, std::string>> HeapFacts(const heap::Heap& heap) {
  std::vector<std::pair<const char*, std::string>> facts = {
      {"taken", fmt::format("{}, HPROF {}, {}",
                            UtcText(static_cast<std::time_t>(heap.header.milliseconds / 1000)),
                            profile::CleanText(heap.header.version), Bytes(heap.file.file_size()))},
      {"live",
       fmt::format("{} in {} of {}", Bytes(LiveBytes(heap)),
                   Counted(heap.tree.reachable, "object", "objects"),
                   Counted(heap.classes.size() - heap::kPrimitiveTypes, "class", "classes"))}};
  const uint64_t unreachable = AllObjects(heap) - heap.tree.reachable;
  if (unreachable > 0) {
    facts.emplace_back("garbage", fmt::format("{} in {} that no strong reference leads to",
                                              Bytes(AllBytes(heap) - LiveBytes(heap)),
                                              Counted(unreachable, "object", "objects")));
  }
  return facts;
}

std::vector<std::string> HeapDamages(const heap::Heap& heap) {
  std::vector<std::string> damages;
  for (const std::string& problem : heap.problems.texts)
    damages.push_back(profile::CleanText(problem));
  if (heap.problems.count > damages.size()) {
    damages.push_back(fmt::format("and in {} more places", heap.problems.count - damages.size()));
  }
  return damages;
}

void HeapHeadText(const heap::Heap& heap, Output& out) {
  out.Bold(fmt::format("heap      {}\n", profile::CleanText(heap.path)));
  for (const auto& [label, text] : HeapFacts(heap)) out.Print("{:<10}{}\n", label, text);
  for (const std::string& note : heap.notes) out.Warning("note      " + note + "\n");
  for (const std::string& damage : HeapDamages(heap)) out.Warning("damaged   " + damage + "\n");
  out.Text("\n");
}

void HeapHeadJson(const heap::Heap& heap, std::string_view key, JsonWriter& json) {
  json.Key(key);
  json.StartObject();
  json.Member("file", heap.path);
  json.Member("version", heap.header.version);
  json.Member("taken_ms", heap.header.milliseconds);
  json.Member("file_bytes", heap.file.file_size());
  json.Member("objects", AllObjects(heap));
  json.Member("bytes", AllBytes(heap));
  json.Member("live_objects", heap.tree.reachable);
  json.Member("live_bytes", LiveBytes(heap));
  json.Member("missing_targets", heap.dangling);
  json.StringsMember("notes", heap.notes);
  json.Member("damage_count", heap.problems.count);
  json.StringsMember("damages", heap.problems.texts);  // the first ones
  json.EndObject();
}

Section HeapHead(const heap::Heap& heap) {
  return {.text = [&heap](Output& out) { HeapHeadText(heap, out); },
          .json = [&heap](JsonWriter& json) { HeapHeadJson(heap, "heap", json); }};
}

std::string ShownClass(const heap::Heap& heap, uint32_t type, const HeapOptions& options) {
  return profile::CleanText(model::ClassIn(options.names, heap.classes[type].name));
}

std::string ShownObject(const heap::Heap& heap, uint32_t node, const HeapOptions& options) {
  const uint32_t type = heap.IsClass(node) ? node : heap.ClassOf(node);
  return profile::CleanText(heap::ObjectText(heap, node, ShownClass(heap, type, options)));
}

double ShareOf(const heap::Heap& heap, uint64_t bytes) {
  return model::PercentOf(bytes, LiveBytes(heap));
}

}  // namespace jprof::reports
