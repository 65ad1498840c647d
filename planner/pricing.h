// Whether some pipeline is worth more than it costs, at given prices of GPUs, when it has to be done within a time T.
//
// A pipeline with micro-batch b runs M micro-batches through stages s = 0 … P−1; j = P − s stages are left from stage s
// to the end. Let t = f + b be the time of its n layers for one micro-batch (forward, backward), tail_s =
// synchronisation and step of some rank of the stage once its last backward is done, at least, and Λ = Σ t + Σ of its
// boundaries both ways + tail_0.
//
// kEvents. Stage s cannot start before the forwards of the stages before it, and its first backward comes after its
// forward and both passes of the stages after it; until then it has run at most k = min(M, j) forwards. All else,
// M·t − k·f, is still to do; then the backwards of the stages before follow. So for every s
//   T >= Λ + (M − 1)·t_s − (k_s − 1)·f_s
//   T >= tail_s + M·t_s  and  T >= tail_s + φ·(Λ' − t_s) + M·t_s − (k_s − 1)·f_s
// where φ is the least share of a forward in a stage's time and Λ' the least sum of all stages' times.
// kClassic. T >= Λ + (M − 1)·(t_s + c_s) and T >= tail_s + M·(t_s + c_s), where c_s are the sends that the stage is
// charged, and Λ has them in place of the boundaries.
// M may be any number here. Of pipelines with M >= M1 the first line gives  M <= 1 + (T − Λ) / B  with B = max of
//   t_s − f_s·(min(M1, j) − 1) / (M1 − 1)   or   t_s + c_s,
// because that share of f does not rise with M.
//
// A pipeline is worth ρ^-1·b·M and costs p, its GPUs' and its own price. It gains at most, for any B1 <= B,
//   b/ρ + λ·(T − Λ) − p   with λ = b / (ρ·B1),
// so of all with B in [B1, B2] none gains more than b/ρ + λ·T − min (p + λ·Λ). Stages of those hold as many layers as
// B2 allows, as fit in memory with min(M1, j) micro-batches stashed and as end within T: cap(kind, j). The minimum is a
// shortest path over (stages, layers):
//   least(j, r) = min over kinds and n <= cap(kind, j) of  price(kind) + λ·(t(n) + boundary) + least(j − 1, r − n).
// With t replaced by base + n·slope <= t, except of first stages, the minimum over n is one over a window of
// r' = r − n, which slides: O(1) for each r, O(depth · kinds · L) in all.
//
// A range is narrowed first: a pipeline that gains has M >= ρ·p / b, where p is no less than that of L layers at the
// least price that a layer has within the caps; M <= 1 + (T − Λ') / B; and B is the period of some stage.
//
// FindBetter() looks through ranges of b, M and B, best first. A path that gains less than its range allows has another
// B than B1, where the range is cut, or another M than M1. No range that may gain: no pipeline does.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "planner/stage_floor.h"

namespace sail::planner {

// What pricing is about: pipelines of plans that end within `seconds`.
struct PricingCase {
  double seconds = 0;
  const StageFloor::Syncs* syncs = nullptr;
  double least_sync = 0;  // of any stage
  int most_layers = 0;    // of any stage
};

// A pipeline; its stages as kind and layers.
struct Chain {
  struct Stage {
    int kind = 0;
    int layers = 0;
    friend bool operator==(const Stage&, const Stage&) = default;
  };
  size_t micro = 0;
  std::vector<Stage> stages;
  friend bool operator==(const Chain&, const Chain&) = default;
};

class Pricing {
 public:
  // `floor` must outlive this.
  Pricing(const ir::Problem& problem, const StageFloor& floor, bool is_classic);

  void Set(const PricingCase& of) { case_ = of; }
  // The most samples of the chain within the time, not rounded; 0 if it cannot run.
  double Samples(const Chain& chain) const;
  // A pipeline with more than `ratio` samples per price, if there is one. `gpu_prices` by class.
  enum class Answer { kNone, kFound, kUnknown };
  Answer FindBetter(const std::vector<double>& gpu_prices, double pipeline_price, double ratio, Chain& found);
  const StageFloor::Kind& kind(int index) const { return floor_.kinds()[index]; }
  // States of shortest paths so far.
  int64_t work() const { return work_; }

 private:
  using Row = StageFloor::Row;
  struct Range {  // of pipelines; see above
    size_t micro = 0;
    double first = 1, last = 1;  // M
    double least = 0, most = 0;  // B
    double gain = 0;             // none in it gains more
    double path_gain = 0;        // a path in it
    double path_period = 0;      // its B
    double path_count = 0;       // its M
    Chain path;
    bool operator<(const Range& other) const { return gain < other.gain; }
  };
  struct Step {  // of the shortest path to (j, r): its last stage, and what is left
    int kind = -1;
    int rest = 0;
  };

  double Tail(size_t kind, size_t micro, Ends ends, int n) const;
  // Beside the times of stages.
  double Transfers(size_t kind, size_t micro, Ends ends, int j) const;
  double FirstLatency(size_t kind, size_t micro, int depth, int n) const;
  // What is missing of a stage's forwards in its part of B with M >= `first`, and that part.
  static double HiddenShare(double first, int j);
  double Period(size_t kind, size_t micro, double first, int j, Ends ends, int n) const;
  int Cap(size_t kind, const Range& range, int j, Ends ends) const;
  void SetCaps(const Range& range);
  double Latency(const Chain& chain) const;
  double Price(const Chain& chain) const;
  // Lengths of `most` or more count as infinite.
  void FindLeast(size_t micro, double multiplier, double most);
  // The least p + `multiplier` · Λ within the caps that were set; `most` and no path if it is no less.
  double Shortest(size_t micro, double multiplier, double most, Chain& path);
  struct Trial {  // of a multiplier: its path
    double price = 0;
    double latency = 0;  // Λ
  };

  // The largest Λ of the range.
  double Latest(const Range& range) const { return case_.seconds - (range.first - 1) * range.least; }
  // Within the caps that were set: lowers what the range gains at most, and keeps the path that gains most.
  Trial Try(Range& range, double multiplier);
  // Within the caps that it sets: narrows the range, but for pipelines that gain nothing; false if no other is left.
  bool Tighten(Range& range);
  // Of stages of the kind with `cap` layers at most, the least period that may be the longest of a pipeline in the
  // range; infinite if there is none.
  double LeastPeriod(size_t kind, const Range& range, int j, Ends ends, int cap) const;
  // Sets gain and path; false if none in the range gains.
  bool Rate(Range& range);

  const StageFloor& floor_;
  const bool is_classic_;
  const int layers_;
  const int depth_;
  const size_t kinds_;
  const int64_t global_batch_;
  const std::vector<int> micro_batches_;
  PricingCase case_;
  int64_t work_ = 0;

  double ratio_ = 0;             // of the last FindBetter
  double pipeline_price_ = 0;    // the same
  std::vector<double> prices_;   // by kind, the same
  std::vector<int> caps_;        // [j · kinds + kind], not of first stages
  std::vector<int> first_caps_;  // the same of first stages
  std::vector<double> least_;    // of the last FindLeast: [j · L + r]
  std::vector<Step> steps_;      // the same
  std::vector<int> window_;      // scratch
};

}  // namespace sail::planner
