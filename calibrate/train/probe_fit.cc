#include "calibrate/train/probe_fit.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

namespace jprof::calibrate {
namespace {

constexpr int kUnknowns = 3;    // of each type: the four parts together, an argument, a result
constexpr double kPull = 1e-6;  // towards the start, for what no equation determines

// Represents the symmetric system matrix * x = right.
struct System {
  explicit System(size_t size) : matrix(size, std::vector<double>(size)), right(size) {}

  void Add(const std::vector<double>& row, double total, double weight) {
    for (size_t i = 0; i < row.size(); ++i) {
      right[i] += weight * row[i] * total;
      for (size_t j = 0; j < row.size(); ++j) matrix[i][j] += weight * row[i] * row[j];
    }
  }

  // Solves by Gaussian elimination with pivots; `kPull` keeps them away from 0.
  std::vector<double> Solve() {
    const size_t size = right.size();
    for (size_t at = 0; at < size; ++at) {
      size_t best = at;
      for (size_t i = at; i < size; ++i) {
        if (std::abs(matrix[i][at]) > std::abs(matrix[best][at])) best = i;
      }
      std::swap(matrix[at], matrix[best]);
      std::swap(right[at], right[best]);
      for (size_t i = 0; i < size; ++i) {
        if (i == at || matrix[i][at] == 0) continue;
        const double factor = matrix[i][at] / matrix[at][at];
        for (size_t j = at; j < size; ++j) matrix[i][j] -= factor * matrix[at][j];
        right[i] -= factor * right[at];
      }
    }
    for (size_t i = 0; i < size; ++i) right[i] /= matrix[i][i];
    return right;
  }

  std::vector<std::vector<double>> matrix;
  std::vector<double> right;
};

std::vector<double> RowOf(const ProbeEquation& equation, const std::vector<char>& types) {
  std::vector<double> row;
  for (const char type : types) {
    const auto found = equation.by_type.find(type);
    const Calls calls = found == equation.by_type.end() ? Calls() : found->second;
    row.insert(row.end(), {calls.calls, calls.arguments, calls.results});
  }
  return row;
}

double MeanPerCall(const std::vector<ProbeEquation>& equations) {
  double total = 0, calls = 0;
  for (const ProbeEquation& equation : equations) {
    total += equation.total;
    for (const auto& [type, of] : equation.by_type) calls += of.calls;
  }
  return calls > 0 ? total / calls : 0;
}

char Upper(char letter) {
  return static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
}

// Returns the work of an empty function of C, which is its return. That of an empty Java method is
// not known.
double WorkOfEmpty(char type) { return type == 'F' ? 1 : 0; }

// Returns the least interval from a method's entry to its own exit.
double LeastInside(char type, const std::map<Key, double>& minima, double otherwise) {
  for (const auto& [key, least] : minima) {
    const bool inside = key.previous == EventKind::kEntry && key.event == EventKind::kExit;
    if (inside && Upper(key.running) == type) otherwise = std::min(otherwise, least);
  }
  return otherwise;
}

// Returns what the least interval from an entry to its own exit leaves for the inner parts
// (enter_out + exit_in). This is all of it but the function's own work if that is known, or else at
// most all of it.
double InnerParts(char type, const std::map<Key, double>& minima, double otherwise) {
  const double work = WorkOfEmpty(type);
  constexpr double kNone = 1e300;
  const double least = LeastInside(type, minima, kNone);
  if (work > 0 && least < kNone) return least - work;
  return std::min(otherwise, least);
}

// Returns the four parts of `sum`. The halves cannot be measured separately.
Probe Split(double sum, double inner, double argument, double result) {
  const double outer = sum - inner;
  return {.enter_in = outer / 2,
          .enter_out = inner / 2,
          .exit_in = inner / 2,
          .exit_out = outer / 2,
          .argument = argument,
          .result = result};
}

}  // namespace

ProbeFit FitProbes(const std::vector<ProbeEquation>& equations,
                   const std::map<Key, double>& minima) {
  std::set<char> seen;
  for (const ProbeEquation& equation : equations) {
    for (const auto& [type, calls] : equation.by_type) seen.insert(type);
  }
  const std::vector<char> types(seen.begin(), seen.end());
  System system(types.size() * kUnknowns);
  const double typical = MeanPerCall(equations);
  for (size_t i = 0; i < types.size() * kUnknowns; ++i) {
    std::vector<double> one(types.size() * kUnknowns);
    one[i] = 1;
    system.Add(one, i % kUnknowns == 0 ? typical : 0, kPull);
  }
  for (const ProbeEquation& equation : equations)
    system.Add(RowOf(equation, types), equation.total, 1);
  const std::vector<double> values = system.Solve();

  ProbeFit fit;
  for (size_t t = 0; t < types.size(); ++t) {
    const double* of = &values[t * kUnknowns];
    fit.probes[types[t]] = Split(of[0], InnerParts(types[t], minima, of[0] / 2), of[1], of[2]);
  }
  double squares = 0;
  for (const ProbeEquation& equation : equations) {
    const std::vector<double> row = RowOf(equation, types);
    double residue = equation.total, calls = 0;
    for (size_t i = 0; i < row.size(); ++i) {
      residue -= row[i] * values[i];
      if (i % kUnknowns == 0) calls += row[i];
    }
    if (calls > 0) squares += std::pow(residue / (2 * calls), 2);
  }
  if (!equations.empty()) {
    fit.deviation = std::sqrt(squares / static_cast<double>(equations.size()));
  }
  return fit;
}

double OverheadOf(const Probes& probes, const Key& key) {
  const auto of = [&probes](char letter) {
    const auto found = probes.find(Upper(letter));
    return found == probes.end() ? Probe() : found->second;
  };
  const Probe running = of(key.running);
  const double out = key.previous == EventKind::kEntry ? running.enter_out : running.exit_out;
  return out + (key.event == EventKind::kEntry ? of(key.other).enter_in : running.exit_in);
}

}  // namespace jprof::calibrate
