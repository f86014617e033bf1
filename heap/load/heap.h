// A heap dump in memory: its classes, objects and references. Objects have numbers of 32 bits, and
// their sizes are those of the JVM, which the dump does not contain (heap/load/sizes.h).
//
// The numbers of nodes are those of the classes, then those of the objects in the dump's order.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/flat_map.h"
#include "common/result.h"
#include "heap/dump/read_dump.h"
#include "heap/graph/dominators.h"
#include "heap/graph/object_ids.h"
#include "heap/graph/packed_array.h"
#include "heap/graph/references.h"

namespace jprof::heap {

inline constexpr uint32_t kNone = UINT32_MAX;  // no class, no node

struct HeapClass {
  uint64_t id = 0;         // 0 for arrays of primitive types
  std::string name;        // as the JVM has it: "java/lang/String", "[I"
  uint32_t super = kNone;  // a class
  bool is_array = false;
  bool is_weak = false;  // references of it or its super classes do not hold their referent
  ClassRecord record;    // empty if the dump has none
  uint32_t values = 0;   // bytes of an instance in the dump
  std::vector<uint32_t> references;  // where in these the ids are that hold objects
  uint64_t instance_size = 0;        // in the heap
  uint64_t mirror_size = 0;          // of the object that is the class itself
  uint32_t mirror = kNone;           // the node of that object
};

// Objects of the same class and length have the same size.
struct Shape {
  uint32_t type = 0;    // a class
  uint32_t length = 0;  // of arrays
  uint32_t count = 0;
  uint32_t nearest = UINT32_MAX;  // the least distance from such an object to the next one
  uint32_t at_nearest = 0;        // objects with that distance
  uint64_t size = 0;
};

struct Heap {
  std::string path;
  DumpFile file;
  DumpHeader header;
  DumpProblems problems;
  std::vector<std::string> notes;  // what was assumed, in words

  std::vector<HeapClass> classes;
  FlatMap class_by_id;
  FlatMap text_by_id;
  std::vector<std::string_view> texts;
  std::vector<Shape> shapes;
  PackedArray shape_of;  // by object
  uint32_t objects = 0;
  ObjectIds ids;
  std::vector<uint64_t> places;  // in the dump, of each object with a number divisible by kPlaces
  std::vector<std::pair<size_t, size_t>> segments;  // where records of objects begin and end
  std::vector<Root> roots;
  std::vector<uint32_t> root_nodes;  // those that no thread holds
  FlatMap thread_by_serial;          // index in `roots`
  References references;             // empty once dominators are found, unless kept
  uint64_t dangling = 0;             // references to what the dump does not contain
  DominatorTree tree;
  uint32_t reference_size = 4;  // in the JVM's heap, not in the dump

  static constexpr uint32_t kPlaces = 1024;

  uint32_t class_count() const { return static_cast<uint32_t>(classes.size()); }
  uint32_t nodes() const { return class_count() + objects; }
  bool IsClass(uint32_t node) const { return node < class_count(); }
  const Shape& ShapeOf(uint32_t node) const { return shapes[shape_of[node - class_count()]]; }
  // Returns the class of an object, or kNone for a class.
  uint32_t ClassOf(uint32_t node) const { return IsClass(node) ? kNone : ShapeOf(node).type; }
  uint64_t SizeOf(uint32_t node) const {
    return IsClass(node) ? classes[node].mirror_size : ShapeOf(node).size;
  }
  bool IsReachable(uint32_t node) const { return tree.dominator[node] != kUnreachable; }
  uint64_t RetainedBy(uint32_t node) const { return tree.retained[node] * kUnit; }
  static constexpr uint64_t kUnit = 8;  // of DominatorTree::retained, in bytes

  // Returns the node with this id, or kNone.
  uint32_t NodeOf(uint64_t id) const {
    if (const auto object = ids.Find(id)) return class_count() + *object;
    return class_by_id.Get(id, kNone);
  }
  // Returns the node of the thread that holds a root, or kNone for a root that none holds.
  uint32_t OwnerOf(const Root& root) const;
  std::string_view TextOf(uint64_t id) const {
    const uint32_t text = text_by_id.Get(id, kNone);
    return text != kNone ? texts[text] : std::string_view();
  }
  // Returns the class with this name, as the JVM has it, or kNone.
  uint32_t ClassNamed(std::string_view name) const;
};

struct LoadOptions {
  bool keep_references = false;
  std::function<void(const char* step, double share)> progress;  // may be empty
};

// Reads a dump and finds dominators. Fails if the file is not a dump or cannot be read. A damaged
// dump is read as far as possible, and Heap::problems says what is wrong.
Result<Heap> Load(const std::string& path, const LoadOptions& options);

// Does the same with bytes that are in a file already.
Result<Heap> LoadFile(DumpFile file, const std::string& path, const LoadOptions& options);

}  // namespace jprof::heap
