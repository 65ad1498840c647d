#include "simulator/shared_flows.h"

#include <algorithm>
#include <limits>

#include "compiler/base/check.h"

namespace sail::sim {

int SharedFlows::ResourceOf(ResourceKey key, double capacity) {
  const auto [it, is_new] = index_.try_emplace(key, static_cast<int>(resources_.size()));
  if (is_new) resources_.push_back({.capacity = capacity, .weight = 0, .flows = {}});
  return it->second;
}

void SharedFlows::Use(State& state, Hop hop) {
  enum { kCardOut, kCardIn, kLinkOut, kLinkIn };
  const ir::Link& link = network_.link(hop);
  if (link.share == ir::LinkShare::kPerNode) {
    const double capacity = link.bandwidth.value();
    state.resources.push_back(ResourceOf({kLinkOut, hop.from, network_.zone(hop.to).index()}, capacity));
    state.resources.push_back(ResourceOf({kLinkIn, hop.to, network_.zone(hop.from).index()}, capacity));
  }
  const auto card = [&](int kind, int node) {
    if (const auto& nic = network_.cluster().machine(network_.pool(node)).nic) {
      state.resources.push_back(ResourceOf({kind, node, 0}, nic->value()));
    }
  };
  card(kCardOut, hop.from);
  card(kCardIn, hop.to);
}

double SharedFlows::RateOf(const State& state) const {
  double rate = state.limit;
  for (const int r : state.resources) {
    rate = std::min(rate, resources_[r].capacity * (state.weight / resources_[r].weight));
  }
  return rate;
}

// Gives every flow on `resources` its present pace. A flow whose pace stays keeps its entry, so that an undisturbed
// flow takes exactly bytes / rate.
void SharedFlows::Settle(const std::vector<int>& resources, double now) {
  for (const int r : resources) {
    for (const int id : resources_[r].flows) {
      State& state = flows_[id];
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
  const int version = state.version + 1;  // entries of the slot's former flows stay stale
  state = State{.resources = {},
                .weight = static_cast<double>(flow.weight),
                .limit = flow.rate,
                .remaining = flow.factor * payload,
                .since = now,
                .tag = tag,
                .version = version,
                .is_active = true};
  for (const Hop hop : flow.hops) Use(state, hop);
  for (const int r : state.resources) {
    resources_[r].weight += state.weight;
    resources_[r].flows.push_back(id);
  }
  ++active_;
  if (state.resources.empty()) {
    state.rate = state.limit;
    ends_.push({.time = now + state.remaining / state.rate, .sequence = sequence_++, .flow = id, .version = version});
  } else {
    Settle(std::vector<int>(state.resources), now);  // its own pace is 0 until then, so it gets its entry here
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
    std::erase(resources_[r].flows, end.flow);
  }
  --active_;
  unused_.push_back(end.flow);
  Settle(std::vector<int>(state.resources), end.time);
  return state.tag;
}

}  // namespace sail::sim
