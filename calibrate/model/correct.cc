#include "calibrate/model/correct.h"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace jprof::calibrate {
namespace {

// Contains one of a node's types and the share of its calls.
struct Share {
  char letter = '?';
  double weight = 1;
};

// Contains the types of every node. Most nodes have one type. The others have an entry in `mixed_`.
class NodeTypes {
 public:
  explicit NodeTypes(const CountedTree& tree) : letter_(tree.letter), run_(tree.parent.size(), 0) {
    mixed_.resize(1);  // run 0 is none
    for (size_t part = 0; part < tree.parent.size(); ++part) {
      if (tree.superseded[part] && tree.letter[part] != tree.letter[tree.parent[part]]) {
        run_[tree.parent[part]] = kMarked;
      }
    }
    for (uint32_t& run : run_) {
      if (run != kMarked) continue;
      run = static_cast<uint32_t>(mixed_.size());
      mixed_.push_back({});
    }
    for (size_t part = 0; part < tree.parent.size(); ++part) {
      const size_t node = tree.superseded[part] ? tree.parent[part] : part;
      if (run_[node] != 0) mixed_[run_[node]].Add(tree.letter[part], Calls(tree.counts[part]));
    }
    for (Mix& mix : mixed_) mix.Normalise();
  }

  // Calls visit(letter, weight) for each type of the node; weights sum to 1. The type of kRoot is
  // unknown, for which the letter is 'T'.
  template <typename Visit>
  void ForEach(uint32_t node, const Visit& visit) const {
    if (run_[node] == 0) return visit(letter_[node], 1.0);
    for (const Share& share : mixed_[run_[node]].shares) {
      if (share.weight > 0) visit(share.letter, share.weight);
    }
  }

 private:
  static constexpr uint32_t kMarked = 0xffffffffu;

  static double Calls(const std::array<uint32_t, 4>& counts) {
    return double{1} * counts[0] + counts[1];
  }

  struct Mix {
    std::array<Share, 4> shares = {Share{'?', 0}, Share{'?', 0}, Share{'?', 0}, Share{'?', 0}};

    void Add(char letter, double calls) {
      for (Share& share : shares) {
        // A method has at most the types I, J, R and N. More than four types mean a damaged
        // profile: the last share collects the surplus.
        const bool is_last = &share == &shares.back();
        if (share.letter != letter && share.letter != '?' && !is_last) continue;
        if (share.letter == '?') share.letter = letter;
        share.weight += calls;
        return;
      }
    }
    void Normalise() {
      double sum = 0;
      for (const Share& share : shares) sum += share.weight;
      if (sum == 0)
        shares[0].weight = sum = 1;  // never called (a superseded thread row), so the first type
      for (Share& share : shares) share.weight /= sum;
    }
  };

  std::span<const char> letter_;
  std::vector<uint32_t> run_;  // index into mixed_, 0 = only letter_
  std::vector<Mix> mixed_;
};

// Caches the result of Lookup for each (previous, running, event, other).
class OverheadCache {
 public:
  explicit OverheadCache(const Metric& metric)
      : metric_(metric), cached_(4 * kLetters * kLetters) {}

  const Found& Of(const Key& key) {
    const size_t index =
        ((static_cast<size_t>(key.previous) * 2 + static_cast<size_t>(key.event)) * kLetters +
         IndexOf(key.running)) *
            kLetters +
        IndexOf(key.other);
    Entry& entry = cached_[index];
    if (!entry.valid) entry = {true, Lookup(metric_, key)};
    return entry.found;
  }

 private:
  static constexpr size_t kLetters = 64;  // 32 letters, upper and lower case
  static size_t IndexOf(char letter) { return static_cast<uint8_t>(letter) & 63; }

  struct Entry {
    bool valid = false;
    Found found;
  };
  const Metric& metric_;
  std::vector<Entry> cached_;
};

constexpr char kLabel = Letter(FrameKind::kLabel);

// Returns the node itself or, of a label, the node of the method that has set it.
uint32_t CallerOf(const CountedTree& tree, uint32_t node) {
  return tree.letter[node] == kLabel && tree.parent[node] != kRoot ? tree.parent[node] : node;
}

// Calls visit(node, key, events) for the intervals that the part's entries ended, which are its
// parent's, and those that its exits ended, which are the node's.
template <typename Visit>
void ForEachOf(const CountedTree& tree, const NodeTypes& types, uint32_t part, const Visit& visit) {
  const uint32_t node = tree.superseded[part] ? tree.parent[part] : part;
  const uint32_t parent = tree.parent[node];
  if (parent == kRoot) return;  // nothing enters a thread
  const char letter = tree.letter[part];
  if (letter == kLabel) return;  // what it costs is in no interval (jprof/engine/labels/labels.h)
  const uint32_t caller = CallerOf(tree, parent);
  for (const EventKind previous : {EventKind::kEntry, EventKind::kExit}) {
    const uint32_t entries = tree.counts[part][static_cast<size_t>(previous)];
    const uint32_t exits = tree.counts[part][2 + static_cast<size_t>(previous)];
    if (entries + uint64_t{exits} == 0) continue;
    const bool outside = tree.rows_are_outside && tree.parent[parent] == kRoot;
    types.ForEach(caller, [&](char other, double weight) {
      if (!outside)
        visit(parent, Key{previous, other, EventKind::kEntry, letter}, entries * weight);
      visit(node, Key{previous, letter, EventKind::kExit, other}, exits * weight);
    });
  }
}

class Corrector {
 public:
  Corrector(const CountedTree& tree, const Metric& metric, double event_variance)
      : tree_(tree),
        types_(tree),
        overheads_(metric),
        probes_(metric.probes),
        event_variance_(event_variance) {
    result_.adjust.resize(tree.parent.size());
    result_.error.resize(tree.parent.size());  // holds the variance until Finish
    systematic_.resize(tree.parent.size());
    if (probes_.empty()) return;
    calls_others_.resize(tree.parent.size());
    for (size_t part = 0; part < tree.parent.size(); ++part) {
      if (!tree.superseded[part] && tree.parent[part] != kRoot)
        calls_others_[tree.parent[part]] = 1;
    }
  }

  // Removes the cost of the intervals that this part's events ended.
  void Add(uint32_t part) {
    const uint32_t node = tree_.superseded[part] ? tree_.parent[part] : part;
    const uint32_t parent = tree_.parent[node];
    if (parent == kRoot) return;  // nothing enters a thread
    const char letter = tree_.letter[part];
    const auto probe =
        probes_.find(static_cast<char>(std::toupper(static_cast<unsigned char>(letter))));
    if (probe != probes_.end()) AttributeProbes(part, node, parent, probe->second);
    const double take = probe != probes_.end() ? 0 : 1;
    ForEachOf(tree_, types_, part, [&](uint32_t of, const Key& key, double events) {
      Attribute(of, events, take, overheads_.Of(key));
    });
  }

  Correction Finish() {
    double variance = 0;
    for (size_t i = 0; i < result_.error.size(); ++i) {
      variance += result_.error[i];
      result_.total_error += systematic_[i];
      result_.error[i] = std::sqrt(result_.error[i]) + systematic_[i];
    }
    result_.total_error += std::sqrt(variance);
    return std::move(result_);
  }

 private:
  void AttributeProbes(uint32_t part, uint32_t node, uint32_t parent, const Probe& probe) {
    const std::array<uint32_t, 4>& counts = tree_.counts[part];
    const double entries = double{1} * counts[0] + counts[1],
                 exits = double{1} * counts[2] + counts[3];
    const Kept kept = tree_.kept.empty() ? Kept() : tree_.kept[part];
    const double arguments = probe.argument * kept.arguments / (calls_others_[node] ? 4 : 2);
    const double results = probe.result * kept.results / 2;
    const bool outside = tree_.rows_are_outside && tree_.parent[parent] == kRoot;
    result_.adjust[parent] +=
        outside ? 0 : entries * (probe.enter_in + arguments) + exits * (probe.exit_out + results);
    result_.adjust[node] +=
        entries * (probe.enter_out + arguments) + exits * (probe.exit_in + results);
  }

  // `take` is 1, or 0 to add only the error, when the probes determine what to subtract.
  void Attribute(uint32_t node, double events, double take, const Found& found) {
    if (events == 0) return;
    result_.adjust[node] += take * events * found.value.overhead;
    result_.events[static_cast<size_t>(found.level)] += events;
    const double variance = found.value.spread * found.value.spread + event_variance_;
    result_.error[node] += static_cast<float>(events * variance);
    systematic_[node] += static_cast<float>(events * found.value.Systematic());
  }

  const CountedTree& tree_;
  NodeTypes types_;
  OverheadCache overheads_;
  const Probes& probes_;
  std::vector<uint8_t> calls_others_;  // by node; only if probes are to be subtracted
  double event_variance_;
  Correction result_;
  std::vector<float> systematic_;
};

}  // namespace

void ForEachInterval(const CountedTree& tree, const IntervalVisitor& visit) {
  const NodeTypes types(tree);
  for (uint32_t part = 0; part < tree.parent.size(); ++part) {
    ForEachOf(tree, types, part, [&](uint32_t node, const Key& key, double events) {
      if (events > 0) visit(node, key, events);
    });
  }
}

Correction Correct(const CountedTree& tree, const Metric& metric, double event_variance) {
  Corrector corrector(tree, metric, event_variance);
  for (size_t part = 0; part < tree.parent.size(); ++part)
    corrector.Add(static_cast<uint32_t>(part));
  return corrector.Finish();
}

}  // namespace jprof::calibrate
