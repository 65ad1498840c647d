// A small linear programme: which real numbers of columns fill the resources best.
//
//   maximise  Σ_j value_j x_j   subject to  Σ_j use_jr x_j <= capacity_r  for every row r,  x >= 0
//
// Primal revised simplex from the slack basis (capacities are not negative, so it is feasible). The entering column has
// the largest gain, after kGreedyPivots the first with a gain (Bland 1977: no cycling). Columns outnumber rows by far,
// so the basis inverse is a dense rows × rows matrix: O(columns · rows) per pivot.
#pragma once

#include <utility>
#include <vector>

namespace sail::planner {

struct PackingLp {
  std::vector<double> capacity;  // by row, not negative
  std::vector<double> use;       // [column · rows + row]; may be negative where other rows bound the column
  std::vector<double> value;     // by column
};

struct PackingSolution {
  double value = 0;
  std::vector<std::pair<int, double>> columns;  // in the basis, ascending; at most one per row
  std::vector<double> prices;                   // by row: gain of one more unit
};

PackingSolution Solve(const PackingLp& lp);

}  // namespace sail::planner
