// The best plans seen, one of each kind: what came close, and differs by more than a micro-batch.
#pragma once

#include <vector>

#include "planner/plan_outcome.h"

namespace sail::planner {

struct Judged;

// Two plans are of one kind if they have as many pipelines of every sequence of (pool, tensor degree, recomputation)
// and shard the optimizer alike. Cuts, micro-batches and nodes do not matter.
bool IsSameKind(const ir::Plan& a, const ir::Plan& b);

class BestPlans {
 public:
  static constexpr size_t kMost = 4;

  // Remembers the plan if it keeps all limits and is among the best kMost kinds. O(GPUs) for those that are, else O(1).
  void Offer(const Judged& judged);
  void Merge(const BestPlans& other);
  // All but those of the kind of `best`, best first, with the values of `objective`'s terms as they are reported.
  std::vector<RunnerUp> Others(const ir::Plan& best, const std::vector<ir::ObjectiveTerm>& objective) const;

 private:
  struct Entry {
    std::vector<double> objective;  // smaller is better, lexicographic
    ir::Plan plan;
    friend auto operator<=>(const Entry&, const Entry&) = default;
  };
  void Insert(Entry entry);

  std::vector<Entry> entries_;  // ascending, no two of a kind
};

}  // namespace sail::planner
