#include "simulator/shared_flows.h"

#include <algorithm>
#include <limits>

#include "compiler/base/check.h"

namespace sail::sim {

SharedFlows::SharedFlows(const Network& network)
    : network_(network), zones_(static_cast<int>(network.cluster().zones.size())) {
  resources_.resize(static_cast<size_t>(network.node_count()) * (2 + 2 * zones_));
}

int SharedFlows::ResourceOf(int node, Share share, int zone) const {
  const int first = node * (2 + 2 * zones_);
  switch (share) {
    case kCardOut:
    case kCardIn:
      return first + share;
    case kLinkOut:
      return first + 2 + zone;
    case kLinkIn:
      return first + 2 + zones_ + zone;
  }
  SAIL_CHECK(false) << "share " << share;
}

void SharedFlows::Use(State& state, Hop hop) {
  const auto use = [&](int node, Share share, int zone, double capacity) {
    const int resource = ResourceOf(node, share, zone);
    resources_[resource].capacity = capacity;
    state.resources.push_back(resource);
  };
  const ir::Link& link = network_.link(hop);
  if (link.share == ir::LinkShare::kPerNode) {
    use(hop.from, kLinkOut, network_.zone(hop.to).index(), link.bandwidth.value());
    use(hop.to, kLinkIn, network_.zone(hop.from).index(), link.bandwidth.value());
  }
  const auto card = [&](int node, Share share) {
    const auto& nic = network_.cluster().machine(network_.pool(node)).nic;
    if (nic) use(node, share, 0, nic->value());
  };
  card(hop.from, kCardOut);
  card(hop.to, kCardIn);
}

double SharedFlows::RateOf(const State& state) {
  double rate = state.limit;
  for (const int r : state.resources) {
    Resource& resource = resources_[r];
    if (resource.asked_weight != state.weight) {  // most flows on one resource are alike
      resource.asked_weight = state.weight;
      resource.asked_rate = resource.capacity * (state.weight / resource.weight);
    }
    rate = std::min(rate, resource.asked_rate);
  }
  return rate;
}

// Gives every flow on `resources` its present pace. A flow whose pace stays keeps its entry, so that an undisturbed
// flow takes exactly bytes / rate.
void SharedFlows::Settle(const ResourceList& resources, double now) {
  ++round_;
  for (const int r : resources) {
    for (const int id : resources_[r].flows) {
      State& state = flows_[id];
      if (state.settled == round_) continue;  // flows mostly share several resources
      state.settled = round_;
      const double rate = RateOf(state);
      if (rate == state.rate) continue;
      state.remaining = std::max(0.0, state.remaining - state.rate * (now - state.since));
      state.since = now;
      state.rate = rate;
      ++state.version;
      ends_.push({.time = now + state.remaining / rate, .sequence = sequence_++, .flow = id, .version = state.version});
    }
  }
}

void SharedFlows::Start(const Flow& flow, double payload, double now, int tag) {
  int id = static_cast<int>(flows_.size());
  if (unused_.empty()) {
    flows_.emplace_back();
  } else {
    id = unused_.back();
    unused_.pop_back();
  }
  State& state = flows_[id];
  state.resources.clear();
  state.weight = flow.weight;
  state.limit = flow.rate;
  state.remaining = flow.factor * payload;
  state.since = now;
  state.rate = 0;
  state.tag = tag;
  ++state.version;  // entries of the slot's former flows stay stale
  state.is_active = true;
  for (const Hop hop : flow.hops) Use(state, hop);
  for (const int r : state.resources) {
    resources_[r].weight += state.weight;
    resources_[r].asked_weight = 0;
    resources_[r].flows.push_back(id);
  }
  ++active_;
  if (state.resources.empty()) {
    state.rate = state.limit;
    ends_.push(
        {.time = now + state.remaining / state.rate, .sequence = sequence_++, .flow = id, .version = state.version});
  } else {
    Settle(ResourceList(state.resources), now);  // its own pace is 0 until then, so it gets its entry here
  }
}

void SharedFlows::DropStale() {
  while (!ends_.empty()) {
    const End& end = ends_.top();
    if (flows_[end.flow].is_active && flows_[end.flow].version == end.version) return;
    ends_.pop();
  }
  SAIL_CHECK(false) << "no flow is moving";
}

double SharedFlows::NextEnd() {
  DropStale();
  return ends_.top().time;
}

int SharedFlows::Finish() {
  DropStale();
  const End end = ends_.top();
  ends_.pop();
  State& state = flows_[end.flow];
  state.is_active = false;
  for (const int r : state.resources) {
    resources_[r].weight -= state.weight;
    resources_[r].asked_weight = 0;
    std::erase(resources_[r].flows, end.flow);
  }
  --active_;
  unused_.push_back(end.flow);
  Settle(ResourceList(state.resources), end.time);
  return state.tag;
}

}  // namespace sail::sim
