#include "planner/packing_lp.h"

#include <algorithm>

#include "compiler/base/check.h"

namespace sail::planner {
namespace {

constexpr int kGreedyPivots = 200;
constexpr double kLeastGain = 1e-9;  // relative to the largest value; below it a gain is rounding
constexpr double kLeastPivot = 1e-9;

// Variables 0..n-1 are the columns, n + r is the slack of row r.
class Simplex {
 public:
  explicit Simplex(const PackingLp& lp)
      : lp_(lp),
        rows_(static_cast<int>(lp.capacity.size())),
        columns_(static_cast<int>(lp.value.size())),
        inverse_(lp.capacity.size() * lp.capacity.size(), 0.0),
        level_(lp.capacity),
        prices_(lp.capacity.size(), 0.0) {
    for (int r = 0; r < rows_; ++r) {
      basis_.push_back(columns_ + r);
      inverse_[r * rows_ + r] = 1;
    }
    for (const double value : lp.value) least_gain_ = std::max(least_gain_, kLeastGain * value);
  }

  PackingSolution Run() {
    for (int pivot = 0;; ++pivot) {
      const int entering = Entering(/*is_greedy=*/pivot < kGreedyPivots);
      if (entering < 0) break;
      const std::vector<double> direction = Direction(entering);
      const int leaving = Leaving(direction);
      SAIL_CHECK(leaving >= 0) << "unbounded column " << entering;
      Pivot(entering, leaving, direction);
    }
    PackingSolution solution{.columns = {}, .prices = prices_};
    for (int r = 0; r < rows_; ++r) {
      if (basis_[r] >= columns_) continue;
      solution.columns.push_back({basis_[r], level_[r]});
      solution.value += ValueOf(basis_[r]) * level_[r];
    }
    std::sort(solution.columns.begin(), solution.columns.end());
    return solution;
  }

 private:
  double ValueOf(int variable) const { return variable < columns_ ? lp_.value[variable] : 0; }
  const double* Use(int column) const { return &lp_.use[static_cast<size_t>(column) * rows_]; }

  // A variable with a gain at the current prices, or -1.
  int Entering(bool is_greedy) const {
    int best = -1;
    double best_gain = least_gain_;
    for (int j = 0; j < columns_ + rows_; ++j) {
      double gain = ValueOf(j);
      if (j >= columns_) {
        gain = -prices_[j - columns_];
      } else {
        for (int r = 0; r < rows_; ++r) gain -= prices_[r] * Use(j)[r];
      }
      if (gain <= best_gain) continue;
      best = j;
      best_gain = gain;
      if (!is_greedy) break;
    }
    return best;
  }

  std::vector<double> Direction(int variable) const {
    std::vector<double> direction(rows_, 0.0);
    for (int r = 0; r < rows_; ++r) {
      if (variable >= columns_) {
        direction[r] = inverse_[r * rows_ + variable - columns_];
      } else {
        for (int k = 0; k < rows_; ++k) direction[r] += inverse_[r * rows_ + k] * Use(variable)[k];
      }
    }
    return direction;
  }

  // The row that is used up first; ties go to the smallest basic variable.
  int Leaving(const std::vector<double>& direction) const {
    int best = -1;
    double best_ratio = 0;
    for (int r = 0; r < rows_; ++r) {
      if (direction[r] <= kLeastPivot) continue;
      const double ratio = level_[r] / direction[r];
      if (best < 0 || ratio < best_ratio || (ratio == best_ratio && basis_[r] < basis_[best])) {
        best = r;
        best_ratio = ratio;
      }
    }
    return best;
  }

  void Pivot(int entering, int leaving, const std::vector<double>& direction) {
    for (int k = 0; k < rows_; ++k) inverse_[leaving * rows_ + k] /= direction[leaving];
    level_[leaving] /= direction[leaving];
    for (int r = 0; r < rows_; ++r) {
      if (r == leaving) continue;
      for (int k = 0; k < rows_; ++k) inverse_[r * rows_ + k] -= direction[r] * inverse_[leaving * rows_ + k];
      level_[r] = std::max(0.0, level_[r] - direction[r] * level_[leaving]);
    }
    basis_[leaving] = entering;
    std::fill(prices_.begin(), prices_.end(), 0.0);
    for (int r = 0; r < rows_; ++r) {
      for (int k = 0; k < rows_; ++k) prices_[k] += ValueOf(basis_[r]) * inverse_[r * rows_ + k];
    }
  }

  const PackingLp& lp_;
  const int rows_;
  const int columns_;
  double least_gain_ = 0;
  std::vector<int> basis_;       // by row
  std::vector<double> inverse_;  // of the basis, row-major
  std::vector<double> level_;    // by row: value of its basic variable
  std::vector<double> prices_;
};

}  // namespace

PackingSolution Solve(const PackingLp& lp) { return Simplex(lp).Run(); }

}  // namespace sail::planner
