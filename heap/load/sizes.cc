#include "heap/load/sizes.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "heap/load/object_layout.h"

namespace jprof::heap {
namespace {

// Super classes come before their subclasses.
std::vector<uint32_t> SupersFirst(const Heap& heap) {
  std::vector<uint32_t> order, chain;
  std::vector<bool> done(heap.classes.size());
  for (uint32_t type = 0; type < heap.class_count(); ++type) {
    for (uint32_t at = type; at != kNone && !done[at]; at = heap.classes[at].super) {
      done[at] = true;
      chain.push_back(at);
    }
    order.insert(order.end(), chain.rbegin(), chain.rend());
    chain.clear();
  }
  return order;
}

// The sizes of instances of all classes, and of the static fields of each.
struct ClassSizes {
  std::vector<uint64_t> instances, statics;
};

ClassSizes SizesIn(const ObjectLayout& layout, const Heap& heap,
                   const std::vector<uint32_t>& order) {
  ClassSizes sizes = {std::vector<uint64_t>(order.size()), std::vector<uint64_t>(order.size())};
  std::vector<FieldPlaces> places(order.size(), FieldPlaces(layout.header));
  std::vector<FieldType> types;
  for (const uint32_t type : order) {
    const HeapClass& one = heap.classes[type];
    if (one.super != kNone) places[type] = places[one.super];
    types.clear();
    for (const InstanceField& field : one.record.fields) types.push_back(field.type);
    places[type].Add(layout, types);
    sizes.instances[type] = Aligned(places[type].end(), layout.alignment);
    types.clear();
    for (const StaticField& field : one.record.statics)
      if (!heap.TextOf(field.name).starts_with('<')) types.push_back(field.type);  // the JVM's own
    sizes.statics[type] = StaticSize(layout, types);
  }
  return sizes;
}

uint64_t ShapeSize(const Shape& shape, const Heap& heap, const ObjectLayout& layout,
                   const ClassSizes& sizes) {
  if (!heap.classes[shape.type].is_array) return sizes.instances[shape.type];
  const uint32_t element =
      shape.type < kPrimitiveTypes ? kPrimitives[shape.type].size : layout.reference;
  return ArraySize(layout, element, shape.length);
}

// The least distance from objects to the next one, and how many have it.
struct Distance {
  uint32_t least = UINT32_MAX;
  uint32_t count = 0;

  void Add(uint64_t distance) {
    if (distance > least) return;
    count = distance < least ? 1 : count + 1;
    least = static_cast<uint32_t>(distance);
  }
};

// Returns the distances from class objects, and fills those of shapes.
std::vector<Distance> FindDistances(Heap& heap) {
  std::vector<std::pair<uint64_t, uint32_t>> mirrors;  // by id
  for (uint32_t type = kPrimitiveTypes; type < heap.class_count(); ++type)
    mirrors.emplace_back(heap.classes[type].id, type);
  std::ranges::sort(mirrors);
  std::vector<Distance> of_classes(heap.classes.size()), of_shapes(heap.shapes.size());
  Distance* last = nullptr;  // of the last object or class
  uint64_t last_id = 0;
  const auto pass = [&](uint64_t id, Distance& distance) {
    if (last != nullptr) last->Add(id - last_id);
    last = &distance;
    last_id = id;
  };
  auto mirror = mirrors.begin();
  heap.ids.ForEachInOrder([&](uint64_t id, uint32_t object) {
    for (; mirror != mirrors.end() && mirror->first < id; ++mirror)
      pass(mirror->first, of_classes[mirror->second]);
    if (id >= last_id) pass(id, of_shapes[heap.shape_of[object]]);
  });
  for (size_t i = 0; i < of_shapes.size(); ++i) {
    heap.shapes[i].nearest = of_shapes[i].least;
    heap.shapes[i].at_nearest = of_shapes[i].count;
  }
  return of_classes;
}

struct Fit {
  ObjectLayout layout;
  ClassSizes sizes;
  uint64_t exact = 0, too_large = 0, all = 0;  // objects

  int64_t score() const {
    return static_cast<int64_t>(exact) - 4 * static_cast<int64_t>(too_large);
  }
};

Fit FitOf(const ObjectLayout& layout, const Heap& heap, const std::vector<uint32_t>& order) {
  Fit fit = {layout, SizesIn(layout, heap, order)};
  for (const Shape& shape : heap.shapes) {
    const uint64_t size = ShapeSize(shape, heap, layout, fit.sizes);
    fit.exact += size == shape.nearest ? shape.count : 0;
    fit.too_large += size > shape.nearest ? shape.count : 0;
    fit.all += shape.count;
  }
  return fit;
}

Fit BestFit(const Heap& heap) {
  const std::vector<uint32_t> order = SupersFirst(heap);
  const bool is_wide = heap.header.id_size == 8;
  const auto layouts = std::span(kLayouts).subspan(is_wide ? 0 : kLayouts.size() - 1,
                                                   is_wide ? kLayouts.size() - 1 : 1);
  Fit best = FitOf(layouts.front(), heap, order);
  for (const ObjectLayout& layout : layouts.subspan(1)) {
    Fit fit = FitOf(layout, heap, order);
    if (fit.score() > best.score()) best = std::move(fit);
  }
  return best;
}

// Fields that the JVM adds, and padding, take at most this.
constexpr uint64_t kMostAdded = 320;

// The JVM pads instances of these classes, or adds fields to them.
constexpr std::array<std::string_view, 3> kPadded = {"java/lang/Thread", "java/lang/ClassLoader",
                                                     "java/lang/InternalError"};

bool IsPadded(const Heap& heap, uint32_t type) {
  constexpr int kMostSupers = 20;  // neither has subclasses of such depth
  for (int i = 0; type != kNone && i < kMostSupers; ++i, type = heap.classes[type].super)
    if (std::ranges::find(kPadded, heap.classes[type].name) != kPadded.end()) return true;
  return false;
}

// Returns the size of instances, corrected by the distance to the next object. The JVM pads some
// classes, and adds fields to some: the size becomes larger only if it `may_grow`, because what
// follows a single object may be in no dump.
uint64_t Corrected(uint64_t size, uint64_t nearest, bool may_grow, const Fit& fit) {
  if (nearest % fit.layout.alignment != 0 || nearest < fit.layout.header) return size;
  const bool is_compact = 10 * fit.exact >= 9 * fit.all;
  const bool is_near = nearest > size && nearest - size <= kMostAdded;
  return nearest < size || (is_compact && is_near && may_grow) ? nearest : size;
}

// Returns the size of a class object without its static fields, which explains most distances.
uint64_t MirrorSize(const Heap& heap, const std::vector<Distance>& distances, const Fit& fit) {
  const uint32_t type = heap.ClassNamed("java/lang/Class");
  uint64_t size = type == kNone ? fit.layout.header : fit.sizes.instances[type];
  const uint64_t least = size;
  std::map<uint64_t, uint32_t> votes;
  for (uint32_t i = kPrimitiveTypes; i < distances.size(); ++i) {
    const uint64_t distance = distances[i].least, statics = fit.sizes.statics[i];
    if (distance >= least + statics && distance <= least + statics + kMostAdded)
      ++votes[distance - statics];
  }
  uint32_t most = 0;
  for (const auto& [one, count] : votes) {
    if (count > most) size = one;
    most = std::max(most, count);
  }
  return Aligned(size, 8);
}

}  // namespace

void FindSizes(Heap& heap) {
  const std::vector<Distance> distances = FindDistances(heap);
  const Fit fit = BestFit(heap);
  heap.reference_size = fit.layout.reference;
  for (uint32_t type = 0; type < heap.class_count(); ++type)
    heap.classes[type].instance_size = fit.sizes.instances[type];
  for (Shape& shape : heap.shapes) {
    shape.size = ShapeSize(shape, heap, fit.layout, fit.sizes);
    HeapClass& one = heap.classes[shape.type];
    if (one.is_array) continue;
    const bool may_grow = shape.at_nearest > 1 || IsPadded(heap, shape.type);
    shape.size = Corrected(shape.size, shape.nearest, may_grow, fit);
    one.instance_size = shape.size;
  }
  const uint64_t mirror = MirrorSize(heap, distances, fit);
  for (uint32_t type = kPrimitiveTypes; type < heap.class_count(); ++type) {
    const uint64_t size = Aligned(mirror + fit.sizes.statics[type], fit.layout.alignment);
    // The static fields of a class that is not linked are not in the dump.
    const bool is_dumped = heap.classes[type].record.id != 0;
    heap.classes[type].mirror_size =
        is_dumped ? size : std::max(size, Corrected(size, distances[type].least, true, fit));
  }
}

}  // namespace jprof::heap
