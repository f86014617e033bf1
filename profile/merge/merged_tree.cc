#include "profile/merge/merged_tree.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "profile/files/out_file.h"

namespace jprof::profile {
namespace {

constexpr uint64_t kMostRecords = 0xfffffff0;
constexpr uint64_t kMostPerRecord = 0x7fffffff;  // the agent begins a new record there, too

size_t HashOf(uint32_t parent, uint32_t key) {
  uint64_t hash = (uint64_t{parent} << 32 | key) * 0x9e3779b97f4a7c15;
  hash ^= hash >> 32;
  return hash * 0xd6e8feb86659fd93 >> 16;
}

// Adds two values. Damaged profiles may contain values whose sum overflows: it wraps.
int64_t Plus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

int64_t Scaled(int64_t raw, double factor) {
  if (factor == 1) return raw;
  constexpr auto kMost = static_cast<long double>(std::numeric_limits<int64_t>::max());
  const long double value = std::round(static_cast<long double>(raw) * factor);
  return static_cast<int64_t>(std::clamp(value, -kMost, kMost));
}

uint64_t CallsOf(const Counts& counts) { return uint64_t{counts.entries[0]} + counts.entries[1]; }

}  // namespace

MergedTree::MergedTree(size_t metric_count, bool sampled, bool has_sites, ClassNames names)
    : metric_count_(metric_count),
      sampled_(sampled),
      methods_(names),
      table_(1024, kNoRecord),
      has_sites_(has_sites) {}

uint32_t MergedTree::AddThread() {
  contexts_.push_back({.ref = PackMethod(FrameKind::kThread, kRootMethod),
                       .folded = static_cast<uint32_t>(slot_of_.size())});
  slot_of_.push_back(kNoRecord);
  return static_cast<uint32_t>(contexts_.size() - 1);
}

uint32_t MergedTree::KeyOf(MethodRef ref) const {
  return sampled_ ? std::to_underlying(ref) : IndexOf(MethodOf(ref));
}

uint32_t MergedTree::FindOrAdd(uint32_t parent, MethodRef ref) {
  const uint32_t key = KeyOf(ref);
  if (contexts_.size() * 2 >= table_.size()) GrowTable();
  const size_t mask = table_.size() - 1;
  size_t slot = HashOf(parent, key) & mask;
  for (; table_[slot] != kNoRecord; slot = (slot + 1) & mask) {
    Context& context = contexts_[table_[slot]];
    if (context.parent != parent || context.key != key) continue;
    // The type to show is the highest that any input ended with.
    context.ref = std::max(context.ref, ref);
    return table_[slot];
  }
  table_[slot] = static_cast<uint32_t>(contexts_.size());
  const uint32_t folded = FoldedNumber(parent, ref);
  contexts_.push_back({.parent = parent, .key = key, .ref = ref, .folded = folded});
  if (folded == slot_of_.size()) slot_of_.push_back(kNoRecord);
  return table_[slot];
}

// Returns the number that a new context has in the reader's tree: that of its parent if it is a
// site, that of another one if it only has another site than that, else the next number.
uint32_t MergedTree::FoldedNumber(uint32_t parent, MethodRef ref) {
  const auto next = static_cast<uint32_t>(slot_of_.size());
  if (!has_sites_) return next;
  const uint32_t above = contexts_[parent].folded;
  if (TypeOf(ref) == FrameKind::kSite) return above;
  return folded_.FindOrAdd(uint64_t{above} << 32 | KeyOf(ref), next);
}

void MergedTree::GrowTable() {
  table_.assign(table_.size() * 2, kNoRecord);
  const size_t mask = table_.size() - 1;
  for (uint32_t i = 0; i < contexts_.size(); ++i) {
    if (contexts_[i].parent == kNoRecord) continue;  // threads are not looked up
    size_t slot = HashOf(contexts_[i].parent, contexts_[i].key) & mask;
    while (table_[slot] != kNoRecord) slot = (slot + 1) & mask;
    table_[slot] = i;
  }
}

size_t MergedTree::PartOf(uint32_t context, FrameKind type) {
  uint32_t* link = &contexts_[context].part;
  while (*link != kNoRecord && parts_[*link].type != type) link = &parts_[*link].next;
  if (*link != kNoRecord) return *link;
  *link = static_cast<uint32_t>(parts_.size());
  parts_.push_back({.type = type});
  values_.resize(values_.size() + metric_count_);
  return parts_.size() - 1;
}

// Returns the method id in the merged profile by that in this one. Only methods that the tree has
// are added.
Result<std::vector<uint32_t>> MergedTree::MapMethods(const CallTree& tree, const Methods& methods) {
  std::vector<uint32_t> ids(methods.size());
  uint32_t unknown = 0;
  for (const MethodRef ref : tree.ref) {
    const MethodId method = MethodOf(ref);
    if (method == kRootMethod || method == kOverflowMethod) continue;
    uint32_t& id = IndexOf(method) < ids.size() ? ids[IndexOf(method)] : unknown;
    if (id != 0) continue;
    const auto added = methods_.Add(methods[method]);
    if (!added) return std::unexpected(added.error());
    id = IndexOf(*added);
  }
  return ids;
}

void MergedTree::AddCounts(uint32_t context, FrameKind type, const uint64_t (&counts)[5],
                           const int64_t* values) {
  const size_t at = PartOf(context, type);
  for (size_t k = 0; k < std::size(counts); ++k) parts_[at].counts[k] += counts[k];
  for (size_t m = 0; m < metric_count_; ++m) {
    int64_t& total = values_[at * metric_count_ + m];
    total = Plus(total, values[m]);
  }
}

Result<std::vector<uint32_t>> MergedTree::Add(const CallTree& tree, const Methods& methods,
                                              const std::vector<uint32_t>& roots,
                                              const std::vector<double>& factors, SpreadRun& run) {
  const auto ids = MapMethods(tree, methods);
  if (!ids) return std::unexpected(ids.error());
  if (contexts_.size() + tree.size() > kMostRecords) {
    return Fail("the profiles have more than {} contexts: merge fewer of them", kMostRecords);
  }
  const auto mapped = [&](MethodRef ref) {
    const MethodId method = MethodOf(ref);
    if (method == kRootMethod || method == kOverflowMethod) return ref;
    const bool known = IndexOf(method) < ids->size();
    return PackMethod(TypeOf(ref), MethodId{known ? (*ids)[IndexOf(method)] : 1});
  };

  const size_t columns = 1 + metric_count_;
  std::vector<uint32_t> context_of(tree.size());
  std::vector<int64_t> sums;  // [slot * columns + column]
  run.contexts.clear();
  for (uint32_t i = 0; i < tree.size(); ++i) {
    const uint32_t parent = tree.parent[i];
    const uint32_t context = parent == kNoRecord ? roots[IndexOf(tree.thread[i])]
                             : tree.superseded[i]
                                 ? context_of[parent]
                                 : FindOrAdd(context_of[parent], mapped(tree.ref[i]));
    context_of[i] = context;
    const bool is_root = contexts_[context].parent == kNoRecord;
    const size_t at = PartOf(context, is_root ? FrameKind::kThread : TypeOf(tree.ref[i]));
    Part& part = parts_[at];
    const Counts& counts = tree.counts[i];
    for (const int k : {0, 1}) part.counts[k] += counts.entries[k];
    for (const int k : {0, 1}) part.counts[2 + k] += counts.exits[k];
    part.counts[4] += tree.dispatches[i];

    uint32_t& slot = slot_of_[contexts_[context].folded];
    if (slot == kNoRecord) {
      slot = static_cast<uint32_t>(run.contexts.size());
      run.contexts.push_back(contexts_[context].folded);
      sums.resize(sums.size() + columns);
    }
    int64_t* sum = sums.data() + slot * columns;
    sum[0] += static_cast<int64_t>(CallsOf(counts));
    for (size_t m = 0; m < metric_count_; ++m) {
      const int64_t value = Scaled(tree.metrics[m][i], factors[m]);
      int64_t& total = values_[at * metric_count_ + m];
      total = Plus(total, value);
      sum[1 + m] = Plus(sum[1 + m], value);
    }
  }

  std::ranges::sort(run.contexts);
  run.values.clear();
  for (const uint32_t context : run.contexts) {
    const auto sum = sums.begin() + static_cast<ptrdiff_t>(slot_of_[context] * columns);
    run.values.insert(run.values.end(), sum, sum + static_cast<ptrdiff_t>(columns));
    slot_of_[context] = kNoRecord;
  }
  return context_of;
}

namespace {

// Writes one node after the other, with its values in `extra`.
class NodeFiles {
 public:
  NodeFiles(const std::string& directory, size_t metric_count)
      : nodes_(directory + "/" + kNodesFile) {
    if (metric_count > 1) extra_.emplace(directory + "/" + kExtraFile);
    const std::vector<int64_t> none(metric_count);
    Write(Node{}, none.data(), metric_count);  // node 0 is never used
  }
  // Requires the values of all metrics.
  void Write(Node node, const int64_t* values, size_t metric_count) {
    if (metric_count > 0) node.self = values[0];
    nodes_.Write(node);
    if (metric_count > 1) extra_->Write(values + 1, (metric_count - 1) * sizeof(int64_t));
    ++count_;
  }
  uint64_t count() const { return count_; }
  Result<void> Close() {
    auto closed = nodes_.Close();
    if (closed && extra_) closed = extra_->Close();
    return closed;
  }

 private:
  OutFile nodes_;
  std::optional<OutFile> extra_;
  uint64_t count_ = 0;
};

// Moves at most what one record can hold from `counts` to `node`.
void Take(uint64_t (&counts)[5], Node& node) {
  uint32_t* const fields[] = {&node.entries[0], &node.entries[1], &node.exits[0], &node.exits[1],
                              &node.dispatches};
  for (size_t k = 0; k < std::size(fields); ++k) {
    const uint64_t taken = std::min(counts[k], kMostPerRecord);
    *fields[k] = static_cast<uint32_t>(taken);
    counts[k] -= taken;
  }
}

bool IsEmpty(const uint64_t (&counts)[5]) {
  return std::ranges::all_of(counts, [](uint64_t count) { return count == 0; });
}

}  // namespace

Result<MergedTree::Written> MergedTree::Write(const std::string& directory) const {
  NodeFiles files(directory, metric_count_);
  const std::vector<int64_t> zeros(metric_count_);
  const auto values_of = [&](size_t part) { return values_.data() + part * metric_count_; };

  for (const Context& context : contexts_) {
    Node node = {.ref = context.ref,
                 .parent = context.parent == kNoRecord ? 0 : context.parent + 1};
    const int64_t* values = zeros.data();
    for (uint32_t p = context.part; p != kNoRecord; p = parts_[p].next) {
      if (parts_[p].type != TypeOf(context.ref)) continue;
      uint64_t counts[5];
      std::ranges::copy(parts_[p].counts, counts);
      Take(counts, node);
      values = values_of(p);
    }
    files.Write(node, values, metric_count_);
  }

  for (uint32_t i = 0; i < contexts_.size(); ++i) {
    const Context& context = contexts_[i];
    for (uint32_t p = context.part; p != kNoRecord; p = parts_[p].next) {
      const bool live = parts_[p].type == TypeOf(context.ref);
      uint64_t counts[5];
      std::ranges::copy(parts_[p].counts, counts);
      Node unused;
      if (live) Take(counts, unused);  // written above
      const int64_t* values = live ? zeros.data() : values_of(p);
      for (bool first = !live; first || !IsEmpty(counts); first = false) {
        Node node = {.ref = PackMethod(parts_[p].type, MethodOf(context.ref)),
                     .parent = i + 1,
                     .more = kSuperseded};
        Take(counts, node);
        files.Write(node, values, metric_count_);
        values = zeros.data();
      }
    }
    if (files.count() > kMostRecords) {
      return Fail("the merged profile would have more than {} records: merge fewer profiles",
                  kMostRecords);
    }
  }
  if (auto closed = files.Close(); !closed) return std::unexpected(closed.error());

  const std::string text = methods_.Text();
  OutFile methods(directory + "/" + kMethodsFile);
  methods.Write(text.data(), text.size());
  if (auto closed = methods.Close(); !closed) return std::unexpected(closed.error());
  return Written{.node_count = files.count(),
                 .methods_bytes = text.size(),
                 .method_count = static_cast<uint32_t>(methods_.size()),
                 .sites = methods_.CountWith(kMethodSite),
                 .labels = methods_.CountWith(kMethodLabel)};
}

}  // namespace jprof::profile
