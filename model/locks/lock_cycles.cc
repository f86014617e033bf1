#include "model/locks/lock_cycles.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>
#include <map>
#include <set>
#include <utility>

namespace jprof::model {
namespace {

using Vertex =
    std::pair<size_t, uint32_t>;  // a family of locks and, if objects are told apart, its object

// Groups the orders by the cycles that they are part of.
std::vector<LockCycle> CyclesOf(std::span<const LockOrder> orders,
                                std::span<const LockContext> contexts, bool by_object) {
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;
  std::map<Vertex, size_t> numbers;
  const auto number = [&](size_t context, uint32_t object) {
    const Vertex vertex = {contexts[context].family, by_object ? object : 0};
    return numbers.try_emplace(vertex, numbers.size()).first->second;
  };
  std::vector<std::pair<size_t, size_t>> edges;
  for (const LockOrder& order : orders)
    edges.emplace_back(number(order.from, order.from_object), number(order.to, order.to_object));
  const Graph graph(edges.begin(), edges.end(), numbers.size());
  std::vector<size_t> component(numbers.size());
  if (!component.empty()) boost::strong_components(graph, component.data());
  std::map<size_t, LockCycle> cycles;
  for (size_t i = 0; i < orders.size(); ++i) {
    const auto [from, to] = edges[i];
    if (from == to || component[from] != component[to]) continue;
    LockCycle& cycle = cycles[component[from]];
    cycle.same_objects = by_object;
    cycle.orders.push_back(orders[i]);
  }
  std::vector<LockCycle> found;
  for (auto& [_, cycle] : cycles) found.push_back(std::move(cycle));
  return found;
}

using ClassPair = std::pair<size_t, size_t>;

std::set<ClassPair> ClassesOf(const LockCycle& cycle, std::span<const LockContext> contexts) {
  std::set<ClassPair> pairs;
  for (const LockOrder& order : cycle.orders)
    pairs.emplace(contexts[order.from].family, contexts[order.to].family);
  return pairs;
}

// Leaves one order of each pair of contexts.
void RemoveRepeated(LockCycle& cycle) {
  std::set<std::pair<size_t, size_t>> seen;
  std::erase_if(cycle.orders,
                [&](const LockOrder& order) { return !seen.emplace(order.from, order.to).second; });
}

}  // namespace

std::vector<LockCycle> FindCycles(std::span<const LockOrder> orders,
                                  std::span<const LockContext> contexts) {
  std::vector<LockCycle> cycles = CyclesOf(orders, contexts, /*by_object=*/true);
  std::set<ClassPair> certain;
  for (const LockCycle& cycle : cycles) certain.merge(ClassesOf(cycle, contexts));
  for (LockCycle& cycle : CyclesOf(orders, contexts, /*by_object=*/false)) {
    const auto pairs = ClassesOf(cycle, contexts);
    const bool known =
        std::ranges::any_of(pairs, [&](const ClassPair& pair) { return certain.contains(pair); });
    if (!known) cycles.push_back(std::move(cycle));
  }
  std::ranges::for_each(cycles, RemoveRepeated);
  return cycles;
}

}  // namespace jprof::model
