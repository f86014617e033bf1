#include <algorithm>

#include "heap/load/heap.h"
#include "heap/load/sizes.h"
#include "heap/load/survey.h"

namespace jprof::heap {
namespace {

// Roots that are references of a thread: its local variables and those of native code.
bool IsOfThread(const Root& root) {
  using enum SubTag;
  return root.kind == kRootJavaFrame || root.kind == kRootJniLocal ||
         root.kind == kRootNativeStack || root.kind == kRootThreadBlock;
}

// The second pass: the references of objects, in their order.
class Linker : public DumpVisitor {
 public:
  explicit Linker(Heap& heap) : heap_(heap) {
    const uint64_t ids = heap.file.bytes().size() / heap.header.id_size;
    heap_.references = References(heap.nodes(), 5 * ids + 2 * uint64_t{heap.nodes()});
    for (const Root& root : heap.roots) AddRoot(root);
    std::ranges::sort(locals_);
    for (const HeapClass& one : heap.classes) AddClass(one);
  }

  void Instance(const InstanceRecord& record, uint64_t) {
    if (node_ >= heap_.nodes()) return;  // the file has changed since the first pass
    const uint32_t type = heap_.ClassOf(node_);
    for (const uint32_t at : heap_.classes[type].references) {
      if (at + heap_.header.id_size > record.values.size()) break;
      AddId(DumpCursor(record.values.substr(at), heap_.header.id_size).Id());
    }
    Finish();
  }
  void ObjectArray(const ObjectArrayRecord& record, uint64_t) {
    DumpCursor cursor(record.elements, heap_.header.id_size);
    while (!cursor.empty()) AddId(cursor.Id());
    Finish();
  }
  void PrimitiveArray(const PrimitiveArrayRecord&, uint64_t) { Finish(); }

  // Adds what the file lacks if it has changed since the first pass.
  void AddRest() {
    while (node_ < heap_.nodes()) Finish();
  }

 private:
  void AddRoot(const Root& root) {
    const uint32_t node = heap_.NodeOf(root.id);
    if (node == kNone) return;
    if (const uint32_t owner = heap_.OwnerOf(root); owner != kNone) {
      locals_.emplace_back(owner, node);
    } else {
      heap_.root_nodes.push_back(node);
    }
  }

  void AddClass(const HeapClass& one) {
    const ClassRecord& record = one.record;
    for (const uint64_t id : {record.super, record.loader, record.signers, record.domain})
      AddId(id);
    for (const uint64_t id : record.constants) AddId(id);
    for (const StaticField& field : record.statics)
      if (field.type == FieldType::kObject) AddId(field.value);
    Finish();
  }

  void AddId(uint64_t id) {
    if (id == 0) return;
    const uint32_t node = heap_.NodeOf(id);
    if (node == kNone) {
      ++heap_.dangling;
    } else {
      targets_.push_back(node);
    }
  }

  void Finish() {
    if (node_ >= heap_.nodes()) return;
    const auto first = std::ranges::lower_bound(locals_, node_, {}, &Local::first);
    for (auto local = first; local != locals_.end() && local->first == node_; ++local)
      targets_.push_back(local->second);
    heap_.references.Add(targets_);
    targets_.clear();
    ++node_;
  }

  using Local = std::pair<uint32_t, uint32_t>;  // a thread and what it refers to

  Heap& heap_;
  std::vector<Local> locals_;  // sorted
  std::vector<uint32_t> targets_;
  uint32_t node_ = 0;
};

// A dump of an older JDK that was cut has no roots, because they come last: its classes take their
// place.
void ReplaceMissingRoots(Heap& heap) {
  if (!heap.root_nodes.empty() || heap.nodes() == kPrimitiveTypes) return;
  heap.notes.push_back("the dump has no roots: all classes are taken for roots");
  for (uint32_t type = kPrimitiveTypes; type < heap.class_count(); ++type)
    heap.root_nodes.push_back(type);
}

Result<void> Link(Heap& heap, const LoadOptions& options) {
  const auto progress = [&options](const char* step) {
    return [&options, step](double share) {
      if (options.progress) options.progress(step, share);
    };
  };
  if (auto surveyed = Survey(heap, progress("reading objects")); !surveyed) return surveyed;
  FindSizes(heap);
  Linker linker(heap);
  ReadDump(heap.file, heap.header, linker, {nullptr, progress("reading references")});
  linker.AddRest();
  ReplaceMissingRoots(heap);
  DominatorInput input = {
      .size = [&heap](uint32_t node) { return heap.SizeOf(node) / Heap::kUnit; },
      .class_of =
          [&heap](uint32_t node) {
            const uint32_t type = heap.ClassOf(node);
            return type == kNone || heap.classes[type].mirror == kNone ? node
                                                                       : heap.classes[type].mirror;
          },
      .progress = [&progress](const char* step) { progress(step)(0); }};
  auto tree = FindDominators(heap.references, heap.root_nodes, input, options.keep_references);
  if (!tree) return std::unexpected(tree.error());
  heap.tree = *std::move(tree);
  return {};
}

}  // namespace

uint32_t Heap::OwnerOf(const Root& root) const {
  const uint32_t thread = thread_by_serial.Get(root.thread, kNone);
  return IsOfThread(root) && thread != kNone ? NodeOf(roots[thread].id) : kNone;
}

uint32_t Heap::ClassNamed(std::string_view name) const {
  const auto found = std::ranges::find(classes, name, &HeapClass::name);
  return found == classes.end() ? kNone : static_cast<uint32_t>(found - classes.begin());
}

Result<Heap> LoadFile(DumpFile file, const std::string& path, const LoadOptions& options) {
  const auto header = ReadHeader(file.bytes(), path);
  if (!header) return std::unexpected(header.error());
  Heap heap = {.path = path, .file = std::move(file), .header = *header};
  if (!heap.file.damage().empty()) heap.problems.Add(heap.file.bytes().size(), heap.file.damage());
  if (auto linked = Link(heap, options); !linked) return std::unexpected(linked.error());
  return heap;
}

Result<Heap> Load(const std::string& path, const LoadOptions& options) {
  const auto expanding = [&options](double share) {
    if (options.progress) options.progress("expanding", share);
  };
  auto file = DumpFile::Open(path, expanding);
  if (!file) return std::unexpected(file.error());
  return LoadFile(*std::move(file), path, options);
}

}  // namespace jprof::heap
