#include "cpo/optimize/effect.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace jprof::cpo {
namespace {

using Matrix = std::vector<std::vector<double>>;

// Returns the directives that some of the runs apply and others do not.
std::vector<size_t> Varied(std::span<const ComparedRun> runs) {
  std::vector<size_t> varied;
  for (size_t i = 0; !runs.empty() && i < runs.front().applied.size(); ++i) {
    const auto differs = [&](const ComparedRun& run) {
      return run.applied[i] != runs.front().applied[i];
    };
    if (std::ranges::any_of(runs, differs)) varied.push_back(i);
  }
  return varied;
}

// Solves the equations, whose right side is the last column, by elimination with pivots. Returns
// nothing if they have no single solution.
std::optional<std::vector<double>> Solve(Matrix rows) {
  const size_t size = rows.size();
  for (size_t column = 0; column < size; ++column) {
    size_t pivot = column;
    for (size_t row = column; row < size; ++row) {
      if (std::abs(rows[row][column]) > std::abs(rows[pivot][column])) pivot = row;
    }
    if (std::abs(rows[pivot][column]) < 1e-9) return std::nullopt;  // entries are counts of runs
    std::swap(rows[pivot], rows[column]);
    for (size_t row = 0; row < size; ++row) {
      if (row == column) continue;
      const double factor = rows[row][column] / rows[column][column];
      for (size_t i = column; i <= size; ++i) rows[row][i] -= factor * rows[column][i];
    }
  }
  std::vector<double> solution(size);
  for (size_t i = 0; i < size; ++i) solution[i] = rows[i][size] / rows[i][i];
  return solution;
}

// Returns the constant and the effects on the figure of the directives in `columns`.
std::optional<std::vector<double>> FitLeastSquares(std::span<const ComparedRun> runs,
                                                   const std::vector<size_t>& columns) {
  const size_t size = columns.size() + 1;
  const auto regressor = [&](const ComparedRun& run, size_t i) {
    return i == 0 || run.applied[columns[i - 1]] ? 1.0 : 0.0;
  };
  Matrix normal(size, std::vector<double>(size + 1));
  for (const ComparedRun& run : runs) {
    for (size_t i = 0; i < size; ++i) {
      for (size_t j = 0; j < size; ++j) normal[i][j] += regressor(run, i) * regressor(run, j);
      normal[i][size] += regressor(run, i) * run.figure;
    }
  }
  return Solve(std::move(normal));
}

struct Moments {
  double count = 0, mean = 0, variance = 0;
};

Moments MomentsOf(const std::vector<double>& values) {
  Moments moments = {.count = static_cast<double>(values.size())};
  for (const double value : values) moments.mean += value / moments.count;
  for (const double value : values)
    moments.variance += (value - moments.mean) * (value - moments.mean) / (moments.count - 1);
  return moments;
}

}  // namespace

std::optional<Effect> BenefitOf(std::span<const ComparedRun> runs, size_t directive) {
  const std::vector<size_t> columns = Varied(runs);
  if (std::ranges::find(columns, directive) == columns.end()) return std::nullopt;
  const auto fit = FitLeastSquares(runs, columns);
  if (!fit) return std::nullopt;
  std::vector<double> with, without;
  for (const ComparedRun& run : runs) {
    double rest = run.figure;
    for (size_t i = 0; i < columns.size(); ++i) {
      if (columns[i] != directive && run.applied[columns[i]]) rest -= (*fit)[i + 1];
    }
    (run.applied[directive] ? with : without).push_back(rest);
  }
  const double others = static_cast<double>(columns.size()) - 1;
  const double freedom = static_cast<double>(runs.size()) - 2 - others;
  if (with.size() < 2 || without.size() < 2 || freedom < 1) return std::nullopt;
  const Moments on = MomentsOf(with), off = MomentsOf(without);
  const double a = on.variance / on.count, b = off.variance / off.count;
  const double lost = freedom / (static_cast<double>(runs.size()) - 2);
  const double value = off.mean - on.mean;
  double arm = 0;
  if (a + b > 0) {
    const double welch = (a + b) * (a + b) / (a * a / (on.count - 1) + b * b / (off.count - 1));
    const boost::math::students_t student(std::max(1.0, welch * lost));
    arm = boost::math::quantile(student, (1 + kHeldByInterval) / 2) * std::sqrt((a + b) / lost);
  }
  return Effect{value, value - arm, value + arm, static_cast<uint32_t>(runs.size())};
}

}  // namespace jprof::cpo
