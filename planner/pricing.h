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
//
// Turns (kEvents, M > P). Stage s runs the forward of micro-batch m + j right after the backward of m, at the soonest.
// So round the whole pipeline P more micro-batches start only Φ = Σ t + Σ boundaries later, and round w neighbouring
// stages w more micro-batches only the sum of their t and of the boundaries between them later. With M − 1 = q·P + r,
// q >= 1, the last backward of the first stage ends after q + 1 turns and one round any r neighbours, in the cyclic
// sense (a window over the end is two, one at each end of the pipeline); of the P windows one takes no less than their
// mean:
//   T >= tail_0 + (q + 1)·Φ + (r·Σ t + (r − 1)·Σ boundaries) / P,   so
//   P·(T − tail_0) >= (M + P − 1)·Φ − Σ boundaries.
//
// M may be any whole number here. Let B be the longest of the periods
//   t_s − f_s·(min(M, j) − 1) / (M − 1)   or   t_s + c_s,   and Φ / P where M > P.
// Then  M <= 1 + (T − Λ*) / B  with Λ* = Λ, or Λ less Σ boundaries / P where turns may bound M.
//
// A pipeline is worth ρ^-1·b·M and costs p, its GPUs' and its own price. Of pipelines of a range, with B in [B1, B2],
// M in [M1, M2] and P in [P1, P2], two lines bound M; the second one if M1 > P2:
//   M <= 1 + (T − Λ*) / B1
//   M <= (T − tail_0) / B1 + Σ boundaries / (P1·B1) − κ·(Φ − B1·P) − P + 1   with κ = (T − tail) / (B1·B2·P2)
// because 1 / x lies below its chord over [B1, B2] (tail: the longest; κ·B1 >= 1, so that it is the weaker line where
// Φ < B1·P). Stages hold as many layers as B2 allows, as fit in memory with min(M1, j) micro-batches stashed and as end
// within T. The most that worth · M − p is, with M replaced by any mixture of the lines and M2, is then a shortest path
// (shortest_chain.h). Mixtures are tried by secants.
//
// Boundaries. A pipeline leaves every node but its last one for another, and its stages take Σ tensor / (GPUs of a
// node) of nodes: stage_floor.h, StageFloor::leaving. That counts where pipelines need more than a node.
//
// A range is narrowed first: a pipeline that gains has M >= ρ·p / b, where p is no less than that of L layers at the
// least price that a layer has within the caps; M <= 1 + (T − Λ') / B; and B is a period.
//
// FindBetter() looks through ranges of b, M, B and P, best first, and cuts the one that gains most. No range that may
// gain: no pipeline does.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "planner/chain_limits.h"
#include "planner/shortest_chain.h"

namespace sail::planner {

class Pricing {
 public:
  // `floor` must outlive this.
  Pricing(const ir::Problem& problem, const StageFloor& floor, bool is_classic);
  Pricing(const Pricing&) = delete;
  Pricing& operator=(const Pricing&) = delete;

  void Set(const PricingCase& of) { limits_.Set(of); }
  // The most samples of the chain within the time, not rounded; 0 if it cannot run.
  double Samples(const Chain& chain) const { return limits_.Count(chain) * micro_batches_[chain.micro]; }
  // Pipelines with more than `ratio` samples per price, if there are any: of those met the best few. `gpu_prices` by
  // class; prices of pipelines may be negative.
  enum class Answer { kNone, kFound, kUnknown };
  Answer FindBetter(const std::vector<double>& gpu_prices, double pipeline_price, double ratio,
                    std::vector<Chain>& found);
  const StageFloor::Kind& kind(int index) const { return limits_.floor().kinds()[index]; }
  // States of shortest paths so far.
  int64_t work() const { return shortest_.work(); }

 private:
  struct Range : ChainRange {
    double gain = 0;        // none in it gains more
    double path_gain = 0;   // a path in it
    double path_count = 0;  // its M
    Chain path;
    bool operator<(const Range& other) const { return gain < other.gain; }
  };
  // What a chain gains at most, beside its price: rest − weighted times.
  struct Line {
    ChainWeights weights;
    double rest = 0;
  };
  struct Trial {
    double price = 0;
    Chain path;  // the one that gains most; none if that is not above 0
  };

  // Of a micro-batch.
  double Worth(const Range& range) const { return micro_batches_[range.micro] / ratio_; }
  bool MayTurn(const Range& range) const { return !limits_.is_classic() && range.last > range.shallowest; }
  static bool IsCoarse(const Range& range);
  // The first line on M taken latency · B1 times, the second one `turns` times; what is left of the worth counts M
  // itself.
  Line MakeLine(const Range& range, double latency, double turns) const;
  // κ of the range's turns; 0 if turns do not bound it.
  double Steepness(const Range& range) const;
  // `share` of the first.
  static Line Mix(const Line& a, const Line& b, double share);
  // The chain's gain on the line, beside its price.
  double On(const Line& line, const Chain& chain) const;
  // Within the caps that were set: lowers what the range gains at most, and keeps the path that gains most.
  Trial Try(Range& range, const Line& line);
  // The same for mixtures of two lines, one of which was tried.
  Line Lower(Range& range, const Line& a, Trial at_a, const Line& b);
  // Within the caps that it sets: narrows the range, but for pipelines that gain nothing; false if no other is left.
  bool Tighten(Range& range);
  // Sets gain and path; false if none in the range gains.
  bool Rate(Range& range);
  // False if the range is as small as it gets.
  bool Split(const Range& range, Range& low, Range& high) const;
  static void SplitCounts(double last, Range& low, Range& high);
  static void SplitPeriods(double least, Range& low, Range& high);
  // The best few of better_.
  void TakeBest(std::vector<Chain>& found);
  // Ranges that cover all pipelines of the micro-batch.
  void AddFirst(size_t micro, std::vector<Range>& ranges) const;

  ChainLimits limits_;
  ShortestChain shortest_;
  const int64_t global_batch_;
  const std::vector<int> micro_batches_;
  ChainCaps caps_;                                // of the range that is rated
  std::vector<std::pair<double, Chain>> better_;  // gain and path, of the last FindBetter

  double ratio_ = 0;           // of the last FindBetter
  double pipeline_price_ = 0;  // the same
};

}  // namespace sail::planner
