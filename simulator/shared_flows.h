// Flows on a clock: what several of them use is divided in proportion to their weights (network.h says what is shared).
//
// A flow's pace is that of its tightest share:  min(own limit, capacity_r · weight / Σ weights on r  for each r it
// uses). Shares that a slower flow leaves unused are not given to others, so the model is conservative where it is not
// exact. Paces change only when a flow that shares something starts or ends; between such moments they are constant.
// What starts and ends at one moment is settled once, when the next later end is asked for.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "simulator/network.h"
#include "simulator/time_queue.h"

namespace sail::sim {

class SharedFlows {
 public:
  // `network` must outlive this.
  explicit SharedFlows(const Network& network);

  // The hops that a flow moves over, for any number of flows.
  int AddRoute(absl::Span<const Hop> hops);

  // `bytes` start to move over each hop of the route at `now`, no earlier than what was started or finished before, at
  // no more than `limit` bytes per second. `tag` comes back from Finish.
  void Start(int route, int weight, double limit, double bytes, double now, int tag);

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
    bool is_changed = false;  // since it was settled
  };
  using ResourceList = absl::InlinedVector<int, 4>;  // as many as one hop uses
  struct State {
    int route = 0;
    int weight = 1;
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
    int flow = 0;
    int version = 0;
  };
  // Each node has a card and a share of the link to each zone, out and in.
  enum Share { kCardOut, kCardIn, kLinkOut, kLinkIn };
  int ResourceOf(int node, Share share, int zone) const;
  void Use(ResourceList& route, Hop hop);
  double RateOf(const State& state);
  void Change(const State& state, int weight, double now);
  void Settle();
  void DropStale();

  const Network& network_;
  const int zones_;
  std::vector<Resource> resources_;
  std::vector<ResourceList> routes_;
  std::vector<State> flows_;
  std::vector<int> changed_;  // resources that are to be settled as of changed_at_
  double changed_at_ = 0;
  int64_t round_ = 0;        // of Settle
  std::vector<int> unused_;  // slots of flows_ to use again
  TimeQueue<End> ends_;
  int active_ = 0;
};

}  // namespace sail::sim
