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

void SharedFlows::Use(ResourceList& route, Hop hop) {
  const auto use = [&](int node, Share share, int zone, double capacity) {
    const int resource = ResourceOf(node, share, zone);
    resources_[resource].capacity = capacity;
    route.push_back(resource);
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

int SharedFlows::AddRoute(absl::Span<const Hop> hops) {
  ResourceList& route = routes_.emplace_back();
  for (const Hop hop : hops) Use(route, hop);
  return static_cast<int>(routes_.size()) - 1;
}

double SharedFlows::RateOf(const State& state) {
  double rate = state.limit;
  for (const int r : routes_[state.route]) {
    Resource& resource = resources_[r];
    if (resource.asked_weight != state.weight) {  // most flows on one resource are alike
      resource.asked_weight = state.weight;
      resource.asked_rate = resource.capacity * (state.weight / resource.weight);
    }
    rate = std::min(rate, resource.asked_rate);
  }
  return rate;
}

// `weight` comes to what the flow uses.
void SharedFlows::Change(const State& state, int weight, double now) {
  if (now > changed_at_) Settle();
  changed_at_ = now;
  for (const int r : routes_[state.route]) {
    Resource& resource = resources_[r];
    resource.weight += weight;
    resource.asked_weight = 0;
    if (resource.is_changed) continue;
    resource.is_changed = true;
    changed_.push_back(r);
  }
}

// Gives every flow on what has changed its present pace. A flow whose pace stays keeps its entry, so that an
// undisturbed flow takes exactly bytes / rate.
void SharedFlows::Settle() {
  ++round_;
  for (const int r : changed_) {
    resources_[r].is_changed = false;
    for (const int id : resources_[r].flows) {
      State& state = flows_[id];
      if (state.settled == round_) continue;  // flows mostly share several resources
      state.settled = round_;
      const double rate = RateOf(state);
      if (rate == state.rate) continue;
      state.remaining = std::max(0.0, state.remaining - state.rate * (changed_at_ - state.since));
      state.since = changed_at_;
      state.rate = rate;
      ++state.version;
      ends_.Push(changed_at_ + state.remaining / rate, {.flow = id, .version = state.version});
    }
  }
  changed_.clear();
}

void SharedFlows::Start(int route, int weight, double limit, double bytes, double now, int tag) {
  int id = static_cast<int>(flows_.size());
  if (unused_.empty()) {
    flows_.emplace_back();
  } else {
    id = unused_.back();
    unused_.pop_back();
  }
  State& state = flows_[id];
  state.route = route;
  state.weight = weight;
  state.limit = limit;
  state.remaining = bytes;
  state.since = now;
  state.rate = 0;  // it gets its pace, and its entry, when it is settled
  state.tag = tag;
  ++state.version;  // entries of the slot's former flows stay stale
  state.is_active = true;
  ++active_;
  Change(state, weight, now);
  for (const int r : routes_[route]) resources_[r].flows.push_back(id);
  if (routes_[route].empty()) {
    state.rate = limit;
    ends_.Push(now + bytes / limit, {.flow = id, .version = state.version});
  }
}

void SharedFlows::DropStale() {
  while (!ends_.empty()) {
    const End& end = ends_.front();
    if (flows_[end.flow].is_active && flows_[end.flow].version == end.version) return;
    ends_.Pop();
  }
}

double SharedFlows::NextEnd() {
  DropStale();
  // What ends at the moment of the change has nothing left to move, whatever its pace.
  if (!changed_.empty() && (ends_.empty() || ends_.time() > changed_at_)) {
    Settle();
    DropStale();
  }
  SAIL_CHECK(!ends_.empty()) << "no flow is moving";
  return ends_.time();
}

int SharedFlows::Finish() {
  const double now = NextEnd();
  const int id = ends_.front().flow;
  ends_.Pop();
  State& state = flows_[id];
  state.is_active = false;
  Change(state, -state.weight, now);
  for (const int r : routes_[state.route]) std::erase(resources_[r].flows, id);
  --active_;
  unused_.push_back(id);
  return state.tag;
}

}  // namespace sail::sim
