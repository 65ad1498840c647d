// Flows on a clock: what several of them use is divided in proportion to their weights (network.h says what is shared).
//
// A flow's pace is that of its tightest share:  min(own limit, capacity_r · weight / Σ weights on r  for each r it
// uses). Shares that a slower flow leaves unused are not given to others, so the model is conservative where it is not
// exact. Paces change only when a flow that shares something starts or ends; between such moments they are constant.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "simulator/network.h"

namespace sail::sim {

class SharedFlows {
 public:
  // `network` must outlive this.
  explicit SharedFlows(const Network& network);

  // The flow's factor · payload bytes start to move at `now` (its latency is over). `tag` comes back from Finish.
  void Start(const Flow& flow, double payload, double now, int tag);

  bool empty() const { return active_ == 0; }
  // When the next flow ends if nothing starts before; requires !empty().
  double NextEnd();
  // Ends that flow and returns its tag; requires !empty().
  int Finish();

 private:
  struct Resource {
    double capacity = 0;  // bytes per second
    double weight = 0;    // of the flows that use it
    std::vector<int> flows;
    double asked_weight = 0;  // of the flow whose pace was asked for last, and the pace; 0: the flows have changed
    double asked_rate = 0;
  };
  using ResourceList = absl::InlinedVector<int, 4>;  // as many as one hop uses
  struct State {
    ResourceList resources;
    double weight = 1;
    double limit = 0;      // bytes per second, its own
    double remaining = 0;  // bytes at `since`
    double rate = 0;
    double since = 0;
    int tag = 0;
    int version = 0;      // of its entry in ends_; older entries are stale
    int64_t settled = 0;  // the round in which it was last looked at
    bool is_active = false;
  };
  struct End {
    double time;
    int64_t sequence;
    int flow;
    int version;
    friend bool operator>(const End& a, const End& b) {
      return std::tie(a.time, a.sequence) > std::tie(b.time, b.sequence);
    }
  };
  // Each node has a card and a share of the link to each zone, out and in.
  enum Share { kCardOut, kCardIn, kLinkOut, kLinkIn };
  int ResourceOf(int node, Share share, int zone) const;
  void Use(State& state, Hop hop);
  double RateOf(const State& state);
  void Settle(const ResourceList& resources, double now);
  void DropStale();

  const Network& network_;
  const int zones_;
  std::vector<Resource> resources_;
  std::vector<State> flows_;
  int64_t round_ = 0;        // of Settle
  std::vector<int> unused_;  // slots of flows_ to use again
  std::priority_queue<End, std::vector<End>, std::greater<End>> ends_;
  int64_t sequence_ = 0;
  int active_ = 0;
};

}  // namespace sail::sim
