#include "calibrate/model/refit.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>

namespace jprof::calibrate {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kFreedom = 4;  // of Student's t
constexpr int kRounds = 6;      // of reweighting
// The model errors that are tried are 0, and kSizes from kSmallest of the largest of a group's
// means and what it has in common.
constexpr int kSizes = 20;
constexpr double kSmallest = 1.0 / 1024;
constexpr double kFactor = 1.7;
// Few methods cannot distinguish a model error from other overheads: without better knowledge it is
// of this size, as a share of what the group has in common.
constexpr double kExpected = 0.5;

Result<void> Check(const std::vector<Prior>& priors, const std::vector<Observation>& observations) {
  for (const Prior& prior : priors) {
    if (!std::isfinite(prior.mean) || !std::isfinite(prior.shared) || !std::isfinite(prior.own) ||
        prior.own <= 0)
      return Fail("the table has an overhead that is not a number: run jprof calibrate again");
  }
  for (const Observation& seen : observations) {
    bool good = std::isfinite(seen.excess) && std::isfinite(seen.variance) && seen.variance > 0;
    for (const auto& [key, events] : seen.events)
      good = good && key < priors.size() && std::isfinite(events) && events >= 0;
    if (!good) return Fail("the profiles have times that are not numbers: record them again");
  }
  return {};
}

MatrixXd CovarianceOf(const std::vector<Prior>& priors) {
  const auto size = static_cast<Index>(priors.size());
  MatrixXd covariance = MatrixXd::Zero(size, size);
  for (Index i = 0; i < size; ++i) {
    const Prior& a = priors[static_cast<size_t>(i)];
    covariance(i, i) = a.own * a.own;
    for (Index j = 0; j < size; ++j) {
      const Prior& b = priors[static_cast<size_t>(j)];
      if (a.group == b.group) covariance(i, j) += a.shared * b.shared;
    }
  }
  return covariance;
}

// Returns the log of the determinant of a matrix by its Cholesky factor.
double LogDeterminant(const Eigen::LLT<MatrixXd>& factor) {
  return 2 * factor.matrixLLT().diagonal().array().log().sum();
}

// Computes with deviations from the prior means, so that the prior's mean is 0.
class Fitter {
 public:
  Fitter(const std::vector<Prior>& priors, const std::vector<Observation>& observations)
      : observations_(observations),
        covariance_(CovarianceOf(priors)),
        prior_(covariance_.llt()),
        precision_(prior_.solve(MatrixXd::Identity(covariance_.rows(), covariance_.cols()))),
        weights_(observations.size(), 1) {
    std::map<uint32_t, size_t> places;
    for (const Prior& prior : priors) {
      const auto [place, is_new] = places.try_emplace(prior.group, groups_.size());
      if (is_new) groups_.push_back({.id = prior.group, .expected = kExpected * prior.shared});
      Group& group = groups_[place->second];
      group.largest = std::max({group.largest, std::abs(prior.mean), prior.shared});
    }
    for (const Observation& seen : observations) {
      double residue = seen.excess;
      std::vector<double> counts(groups_.size());
      for (const auto& [key, events] : seen.events) {
        residue -= events * priors[key].mean;
        if (!seen.model_errors_cancel) counts[places.at(priors[key].group)] += events;
      }
      residues_.push_back(residue);
      counts_.push_back(std::move(counts));
    }
  }

  void Run() {
    for (int round = 0; round < kRounds; ++round) {
      ChooseModelErrors();
      Reweight();
    }
    ChooseModelErrors();
  }

  std::map<uint32_t, double> model_errors() const {
    std::map<uint32_t, double> errors;
    for (const Group& group : groups_) errors[group.id] = group.model_error;
    return errors;
  }
  const VectorXd& deviations() const { return solution_; }
  VectorXd Variances() const {
    return factor_.solve(MatrixXd::Identity(covariance_.rows(), covariance_.cols())).diagonal();
  }
  // Returns the variance of the sum over the observations whose model errors cancel.
  double WholeVariance() const {
    VectorXd events = VectorXd::Zero(covariance_.rows());
    for (const Observation& seen : observations_) {
      if (!seen.model_errors_cancel) continue;
      for (const auto& [key, count] : seen.events) events(key) += count;
    }
    return events.dot(factor_.solve(events));
  }

 private:
  struct Group {
    uint32_t id = 0;
    double largest = 0;   // of the priors' means and what they have in common
    double expected = 0;  // size of the model error, before anything is observed
    double model_error = 0;
  };

  double VarianceOf(size_t i) const {
    double variance = observations_[i].variance;
    for (size_t g = 0; g < groups_.size(); ++g) {
      const double model = groups_[g].model_error * counts_[i][g];
      variance += model * model;
    }
    return variance / weights_[i];
  }

  // Sets the solution. Returns the log of the probability of the observations, without constants.
  double Solve() {
    MatrixXd normal = precision_;
    VectorXd right = VectorXd::Zero(covariance_.rows());
    double log_likelihood = 0;
    for (size_t i = 0; i < observations_.size(); ++i) {
      const double variance = VarianceOf(i);
      log_likelihood -= std::log(variance) + residues_[i] * residues_[i] / variance;
      for (const auto& [row, a] : observations_[i].events) {
        right(row) += a * residues_[i] / variance;
        for (const auto& [column, b] : observations_[i].events)
          normal(row, column) += a * b / variance;
      }
    }
    factor_.compute(normal);
    solution_ = factor_.solve(right);
    return (log_likelihood + right.dot(solution_) - LogDeterminant(factor_) -
            LogDeterminant(prior_)) /
           2;
  }

  // Chooses the model errors of one group after the other. The solution is that of the last.
  void ChooseModelErrors() {
    for (Group& group : groups_) {
      double best_error = group.model_error = 0, best = Solve();
      double tried = kSmallest * group.largest;
      for (int i = 0; i < kSizes && group.expected > 0; ++i, tried *= kFactor) {
        group.model_error = tried;
        const double surprise = tried / group.expected;
        const double likelihood = Solve() - surprise * surprise / 2;
        if (!(likelihood > best)) continue;
        best = likelihood;
        best_error = tried;
      }
      group.model_error = best_error;
    }
    Solve();
  }

  void Reweight() {
    for (size_t i = 0; i < observations_.size(); ++i) {
      double residue = residues_[i];
      for (const auto& [key, events] : observations_[i].events) residue -= events * solution_(key);
      weights_[i] = 1;
      weights_[i] = (kFreedom + 1) / (kFreedom + residue * residue / VarianceOf(i));
    }
  }

  const std::vector<Observation>& observations_;
  MatrixXd covariance_;
  Eigen::LLT<MatrixXd> prior_;
  MatrixXd precision_;
  std::vector<Group> groups_;
  std::vector<double> weights_;
  std::vector<double> residues_;             // excess beyond the prior's
  std::vector<std::vector<double>> counts_;  // intervals by group
  Eigen::LLT<MatrixXd> factor_;
  VectorXd solution_;
};

}  // namespace

Result<Refitted> Refit(const std::vector<Prior>& priors,
                       const std::vector<Observation>& observations) {
  if (auto good = Check(priors, observations); !good) return std::unexpected(good.error());
  if (priors.empty()) return Refitted{};
  Fitter fitter(priors, observations);
  fitter.Run();
  const VectorXd variances = fitter.Variances();
  Refitted refitted{.whole_sd = std::sqrt(std::max(fitter.WholeVariance(), 0.0)),
                    .model_error = fitter.model_errors()};
  for (size_t i = 0; i < priors.size(); ++i) {
    const auto at = static_cast<Index>(i);
    refitted.mean.push_back(priors[i].mean + fitter.deviations()(at));
    refitted.sd.push_back(std::sqrt(variances(at)));
    if (!std::isfinite(refitted.mean.back()) || !std::isfinite(refitted.sd.back()))
      return Fail("the profiles' times are too large to be refitted: record them again");
  }
  return refitted;
}

}  // namespace jprof::calibrate
