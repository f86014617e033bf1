#include "calibrate/train/observation.h"

#include <cctype>
#include <charconv>
#include <sstream>

namespace jprof::calibrate {
namespace {

using profile::CallTree;
using profile::kNoRecord;
using profile::Methods;
using profile::TrainRecord;

constexpr std::string_view kShapePrefix = "jprof/trainers/Shape";
constexpr EventKind kKinds[] = {EventKind::kEntry, EventKind::kExit};

bool IsShape(profile::MethodRef ref, const Methods& methods) {
  return methods[profile::MethodOf(ref)].class_name.starts_with(kShapePrefix);
}

char LetterOf(profile::MethodRef ref, const Methods& methods) {
  const bool is_static = methods[profile::MethodOf(ref)].flags & profile::kMethodStatic;
  return Letter(profile::TypeOf(ref), is_static);
}

uint32_t ContextOf(const CallTree& tree, uint32_t record) {
  return tree.superseded[record] ? tree.parent[record] : record;
}

bool Is(uint32_t record, std::string_view class_name, std::string_view name, const CallTree& tree,
        const Methods& methods) {
  const profile::MethodName method = methods[profile::MethodOf(tree.ref[record])];
  return method.name == name && method.class_name == class_name;
}

// Returns whether the record calls the walks: the loop of Transitions, or the switch of Library
// except during warm-up.
bool IsDriver(uint32_t record, const CallTree& tree, const Methods& methods) {
  if (Is(record, "jprof/trainers/Transitions", "drive", tree, methods)) return true;
  const uint32_t parent = tree.parent[record];
  return parent != kNoRecord && Is(record, "jprof/trainers/Library", "drive", tree, methods) &&
         Is(parent, "jprof/trainers/Library", "measure", tree, methods);
}

// Returns, for every record, the record of the shape's calling method whose walk it belongs to, or
// kNoRecord. Parents precede their children.
std::vector<uint32_t> CallersOf(const CallTree& tree, const Methods& methods) {
  std::vector<uint32_t> callers(tree.size(), kNoRecord);
  for (uint32_t record = 0; record < tree.size(); ++record) {
    const uint32_t parent = tree.parent[record];
    if (parent == kNoRecord) continue;
    if (tree.superseded[record]) {
      callers[record] = callers[parent];
    } else if (IsDriver(parent, tree, methods)) {
      callers[record] = record;
    } else {
      callers[record] = callers[parent];
    }
  }
  return callers;
}

// Returns which values a method saves. It saves only those that it uses: the leaf and the static
// mid of ShapeXX.java use none. The other mid uses `o`, but only before its call, so that it counts
// in full.
Kept KeptBy(const profile::MethodName& method) {
  const Kept kept =
      KeptOf(method.signature, method.flags & (profile::kMethodStatic | profile::kMethodNative));
  if (!method.class_name.starts_with(kShapePrefix)) return kept;
  if (method.name == "lv" || method.name == "ms") return {0, kept.results};
  if (method.name == "mv") return {2, kept.results};
  return kept;
}

ShapeName NameOf(profile::MethodRef ref, const Methods& methods) {
  const profile::MethodName method = methods[profile::MethodOf(ref)];
  const size_t package = method.class_name.rfind('/') + 1;
  return fmt::format("{} {}", method.class_name.substr(package), method.name);
}

}  // namespace

Key KeyOf(EventKind previous, profile::MethodRef from, EventKind event, profile::MethodRef to,
          const Methods& methods) {
  return {previous, LetterOf(from, methods), event, LetterOf(to, methods)};
}

ShapeName EmptyOf(const ShapeName& shape) {
  const size_t space = shape.find(' ');
  if (space == std::string::npos || space + 1 >= shape.size()) return shape;
  return shape.substr(0, space + 2) + "Empty0";
}

ShapeName ShorterOf(const ShapeName& shape) {
  ShapeName shorter = shape;
  if (shape.empty() || shape.back() < '2' || shape.back() > '9') return {};
  --shorter.back();
  return shorter;
}

Result<Truth> ParseShapes(std::string_view output) {
  Truth shapes;
  bool done = false;
  std::istringstream lines{std::string(output)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind, copy, method;
    if (line == "done") done = true;
    if (!(words >> kind >> copy >> method) || kind != "shape") continue;
    std::vector<double> values;
    for (double value = 0; words >> value;) values.push_back(value);
    if (!values.empty()) shapes[copy + " " + method] = std::move(values);
  }
  if (!done || shapes.empty()) return Fail("the trainer did not run to its end");
  return shapes;
}

FunctionNames ParseFunctions(std::string_view output) {
  FunctionNames names;
  std::istringstream lines{std::string(output)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind, address;
    FunctionName name;
    if (words >> kind >> address >> name.class_name >> name.name && kind == "function")
      names[address] = std::move(name);
  }
  return names;
}

void NameFunctions(const FunctionNames& names, profile::Methods& methods) {
  for (uint32_t i = 1; i < methods.size(); ++i) {
    const profile::MethodId id{i};
    const profile::MethodName method = methods[id];
    if ((method.flags & profile::kMethodCode) == 0) continue;
    if (const auto found = names.find(std::string(method.name)); found != names.end())
      methods.Rename(id, found->second.class_name, found->second.name);
  }
}

std::map<ShapeName, Walk> WalksOf(const CallTree& tree, const Methods& methods) {
  std::map<ShapeName, Walk> walks;
  const std::vector<uint32_t> callers = CallersOf(tree, methods);
  std::vector<uint8_t> calls_others(tree.size());
  for (uint32_t record = 0; record < tree.size(); ++record) {
    if (!tree.superseded[record] && tree.parent[record] != kNoRecord)
      calls_others[tree.parent[record]] = 1;
  }
  for (uint32_t record = 0; record < tree.size(); ++record) {
    const uint32_t caller = callers[record];
    if (caller == kNoRecord) continue;
    Walk& walk = walks[NameOf(tree.ref[caller], methods)];
    walk.metrics.resize(tree.metrics.size());
    for (size_t m = 0; m < tree.metrics.size(); ++m) {
      walk.metrics[m] += static_cast<double>(tree.metrics[m][record]);
    }
    const bool is_caller = ContextOf(tree, record) == caller;
    const profile::MethodRef self = tree.ref[record],
                             parent = tree.ref[tree.parent[ContextOf(tree, record)]];
    for (const EventKind previous : kKinds) {
      const auto index = static_cast<size_t>(previous);
      const double entries = tree.counts[record].entries[index];
      const double exits = tree.counts[record].exits[index];
      const Kept kept = KeptBy(methods[profile::MethodOf(self)]);
      Calls& calls = walk.by_type[Letter(profile::TypeOf(self), false)];
      calls.calls += entries;
      calls.arguments +=
          entries * kept.arguments * (calls_others[ContextOf(tree, record)] ? 0.5 : 1);
      calls.results += exits * kept.results;
      // The interval before the caller's entry is the driver's, outside the walk.
      if (is_caller)
        walk.calls += entries;
      else if (entries > 0)
        walk.counts[KeyOf(previous, parent, EventKind::kEntry, self, methods)] += entries;
      if (exits > 0) walk.counts[KeyOf(previous, self, EventKind::kExit, parent, methods)] += exits;
    }
  }
  for (auto& [name, walk] : walks) {
    for (auto& [key, count] : walk.counts) count /= walk.calls;
    for (double& metric : walk.metrics) metric /= walk.calls;
    for (auto& [type, calls] : walk.by_type) {
      calls = {calls.calls / walk.calls, calls.arguments / walk.calls, calls.results / walk.calls};
    }
  }
  std::erase_if(walks, [](const auto& walk) { return walk.second.calls == 0; });
  return walks;
}

Samples SamplesOf(const profile::Reader& profile, const Methods& methods) {
  Samples samples;
  samples.deltas.resize(profile.meta().metrics.size());
  const profile::ReaderFile file = profile.OpenFile(profile::kTrainFile);
  std::vector<TrainRecord> block(1 << 16);
  bool after_timed = false;  // the timed event shortened this interval by its own duration
  uint64_t left = std::min(profile.header().train_records, file.size() / sizeof(TrainRecord));
  for (uint64_t offset = 0; left > 0;) {
    const size_t wanted = std::min<uint64_t>(left, block.size());
    const size_t got =
        file.ReadAt(offset, block.data(), wanted * sizeof(TrainRecord)) / sizeof(TrainRecord);
    if (got == 0) break;
    for (size_t i = 0; i < got; ++i) {
      const TrainRecord& record = block[i];
      const bool clean = record.delta != profile::kDirty && !after_timed;
      after_timed = record.handler != 0;
      if (!IsShape(record.from, methods) || !IsShape(record.to, methods)) continue;
      ++samples.records;
      const auto previous = static_cast<EventKind>(record.previous & 1);
      const auto event = static_cast<EventKind>(record.event & 1);
      if (record.handler != 0) samples.handlers[record.event & 1].push_back(record.handler);
      const size_t metric = record.event >> 1;
      if (!clean || metric >= samples.deltas.size()) continue;
      // An interval has instructions: none is one before the tracer began.
      if (record.delta == 0 && profile.meta().metrics[metric].unit == "instructions") continue;
      samples.deltas[metric][KeyOf(previous, record.from, event, record.to, methods)].push_back(
          record.delta);
    }
    offset += got * sizeof(TrainRecord);
    left -= got;
  }
  return samples;
}

}  // namespace jprof::calibrate
