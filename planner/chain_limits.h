// What stages and chains may be when a pipeline has to be done within a time: the caps of pricing.h.
#pragma once

#include <cstddef>
#include <cstdint>
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

// Of pipelines: micro-batches M, stages P, and the period B that bounds M (pricing.h).
struct ChainRange {
  size_t micro = 0;
  double first = 1, last = 1;       // M, whole numbers
  double least = 0, most = 0;       // B
  int shallowest = 1, deepest = 1;  // P
};

// The most layers of a stage, 0 for none.
struct ChainCaps {
  size_t micro = 0;
  int shallowest = 1, deepest = 1;
  bool by_nodes = false;   // ChainLimits::CountsNodes
  std::vector<int> later;  // [j · kinds + kind], j stages from this one to the end; not of first stages
  std::vector<int> first;  // the same of first stages
};

class ChainLimits {
 public:
  // `floor` must outlive this.
  ChainLimits(const ir::Problem& problem, const StageFloor& floor, bool is_classic);

  void Set(const PricingCase& of) { case_ = of; }
  const PricingCase& of() const { return case_; }
  const StageFloor& floor() const { return floor_; }
  bool is_classic() const { return is_classic_; }

  // Synchronisation and step.
  double Tail(size_t kind, size_t micro, Ends ends, int n) const;
  // Beside the times of stages; `by_nodes`: with what leaving nodes takes.
  double Transfers(size_t kind, size_t micro, Ends ends, int j, bool by_nodes) const;
  // Whether leaving nodes counts for pipelines of at least `shallowest` stages.
  bool CountsNodes(int shallowest) const;
  // What a stage adds to B for M >= `first`.
  double Period(size_t kind, size_t micro, double first, int j, Ends ends, int n) const;
  void FindCaps(const ChainRange& range, ChainCaps& caps) const;
  // The least period of a stage within the caps that is the longest of a pipeline in the range; infinite if there is
  // none.
  double LeastPeriod(const ChainRange& range, const ChainCaps& caps) const;
  // Whether turns (pricing.h) bound pipelines of M >= `first` and at most `deepest` stages.
  bool HasTurns(double first, int deepest) const;
  // The longest period of the chain's stages, and of its turns where those count.
  double Period(const Chain& chain, double first) const;
  // Σ t + Σ boundaries, and the tail of the first stage.
  struct Times {
    double stages = 0;
    double transfers = 0;
    double tail = 0;
    double latency() const { return stages + transfers + tail; }
  };
  Times TimesOf(const Chain& chain, bool by_nodes) const;
  // The most micro-batches of the chain within the time, not rounded; 0 if it cannot run.
  double Count(const Chain& chain) const;

 private:
  Times TimesOf(const Chain& chain) const;
  int Cap(size_t kind, const ChainRange& range, int j, Ends ends, int guess) const;

  const StageFloor& floor_;
  const bool is_classic_;
  const int layers_;
  const int64_t global_batch_;
  const std::vector<int> micro_batches_;
  PricingCase case_;
};

Ends EndsAt(int j, bool is_first);

}  // namespace sail::planner
