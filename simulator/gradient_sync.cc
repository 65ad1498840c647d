#include "simulator/gradient_sync.h"

#include <algorithm>
#include <limits>

#include "simulator/schedule.h"

namespace sail::sim {

AllReduce AllReduceOver(const Network& network, const std::vector<ir::Rank>& owners) {
  std::vector<int> nodes;
  nodes.reserve(owners.size());
  for (const ir::Rank owner : owners) nodes.push_back(network.NodeOf(owner));
  return MakeAllReduce(network, nodes);
}

namespace {

// Assembles buckets layer by layer, the canonical order of groups.
class SyncBuilder {
 public:
  SyncBuilder(const ir::Problem& problem, const ir::Plan& plan, const ir::Placement& placement, const Network& network)
      : model_(problem.model),
        element_(ReducedBytesPerElement(problem.job, plan.optimizer_sharding)),
        plan_(plan),
        placement_(placement),
        network_(network),
        stage_(plan.pipelines.size(), 0) {}

  GradientSync Build() {
    for (int layer = 0; layer < model_.layer_count(); ++layer) {
      layer_ = layer;
      if (EnterLayer(layer)) run_sets_ = AddSets({stage_});
      AddLayer(layer);
    }
    return std::move(sync_);
  }

 private:
  // Moves stage_ to the stages that hold `layer`; whether that differs from the layer before.
  bool EnterLayer(int layer) {
    bool is_new = layer == 0;
    for (size_t p = 0; p < stage_.size(); ++p) {
      if (plan_.pipelines[p].stages[stage_[p]].last_layer < layer) {
        ++stage_[p];
        is_new = true;
      }
    }
    return is_new;
  }

  // One set per shard over the given stages (one list of a stage per pipeline, or two for a tied embedding), as indices
  // into sync_.sets; T = their number.
  std::vector<int> AddSets(const std::vector<std::vector<int>>& holders) {
    int shards = 1;
    for (const std::vector<int>& stages : holders) {
      for (size_t p = 0; p < stages.size(); ++p) shards = std::max(shards, Degree(p, stages[p]));
    }
    std::vector<int> sets;
    for (int k = 0; k < shards; ++k) {
      OwnerSet set;
      for (const std::vector<int>& stages : holders) {
        for (size_t p = 0; p < stages.size(); ++p) {
          const int tensor_rank = k * Degree(p, stages[p]) / shards;
          set.owners.push_back(placement_.rank(static_cast<int>(p), stages[p], tensor_rank));
        }
      }
      std::sort(set.owners.begin(), set.owners.end());
      set.owners.erase(std::unique(set.owners.begin(), set.owners.end()), set.owners.end());
      if (set.owners.size() > 1) set.shape = AllReduceOver(network_, set.owners);
      sets.push_back(static_cast<int>(sync_.sets.size()));
      sync_.sets.push_back(std::move(set));
      open_.push_back(-1);
    }
    return sets;
  }

  void AddLayer(int layer) {
    const ir::LayerKind kind = model_.kind(layer);
    const bool tied = model_.tied_head && kind != ir::LayerKind::kBlock;
    const int shards = static_cast<int>(run_sets_.size());
    const ir::LayerParameters parameters = ir::ParametersOnRank(model_, kind, /*tensor=*/1, shards);
    if (!tied) {
      for (const int set : run_sets_) Add(set, parameters.sharded / shards);
    }
    if (parameters.replicated > 0) Add(run_sets_.front(), parameters.replicated);
    if (tied && layer == 0) AddTiedEmbedding();
  }

  void AddTiedEmbedding() {
    std::vector<int> last;
    bool is_one_stage = true;
    for (const ir::Pipeline& pipeline : plan_.pipelines) {
      last.push_back(static_cast<int>(pipeline.stages.size()) - 1);
      is_one_stage = is_one_stage && last.back() == 0;
    }
    // Where every pipeline is one stage the owners are those of all layers, and share their buckets.
    const std::vector<int> sets = is_one_stage ? run_sets_ : AddSets({stage_, last});
    const int shards = static_cast<int>(sets.size());
    const int64_t elements = ir::PaddedVocab(model_, shards) * model_.embedding_width / shards;
    for (const int set : sets) Add(set, elements);
  }

  // One gradient group, with the bucket rule of schedule.h.
  void Add(int set, int64_t elements) {
    if (sync_.sets[set].owners.size() < 2) return;
    const double bytes = static_cast<double>(elements * element_);
    int& open = open_[set];
    if (open < 0 || sync_.buckets[open].bytes + bytes > static_cast<double>(kBucketBytes)) {
      open = static_cast<int>(sync_.buckets.size());
      sync_.buckets.push_back({.set = set, .layer = layer_});
    }
    sync_.buckets[open].bytes += bytes;
    sync_.sets[set].bytes += bytes;
  }

  int Degree(size_t pipeline, int stage) const { return plan_.pipelines[pipeline].stages[stage].group.degree(); }

  const ir::Model& model_;
  const int64_t element_;
  const ir::Plan& plan_;
  const ir::Placement& placement_;
  const Network& network_;
  int layer_ = 0;              // the current one
  std::vector<int> stage_;     // by pipeline: the stage that holds the current layer
  std::vector<int> run_sets_;  // sets of the current run of layers
  std::vector<int> open_;      // by set: its open bucket, or -1
  GradientSync sync_;
};

}  // namespace

GradientSync ComputeGradientSync(const ir::Problem& problem, const ir::Plan& plan, const ir::Placement& placement,
                                 const Network& network) {
  GradientSync sync = SyncBuilder(problem, plan, placement, network).Build();
  if (problem.job.trainer.overlap_gradients) std::reverse(sync.buckets.begin(), sync.buckets.end());
  return sync;
}

void AdvanceThroughSync(const GradientSync& sync, const std::function<double(ir::Rank, int)>& ready,
                        std::vector<double>& rank_time) {
  std::vector<double> reduced(rank_time.size(), 0.0);
  for (const SyncBucket& bucket : sync.buckets) {
    const OwnerSet& set = sync.sets[bucket.set];
    double start = 0;
    for (const ir::Rank owner : set.owners) {
      start = std::max({start, reduced[owner.index()], ready(owner, bucket.layer)});
    }
    const double end = start + AllReduceSeconds(set.shape, bucket.bytes);
    for (const ir::Rank owner : set.owners) reduced[owner.index()] = end;
  }
  for (size_t rank = 0; rank < rank_time.size(); ++rank) rank_time[rank] = std::max(rank_time[rank], reduced[rank]);
}

void AddCardBound(const Network& network, const GradientSync& sync, std::vector<double>& earliest) {
  // Streams to different zones may use different links, so each destination zone is a bound of its own.
  const size_t zones = network.cluster().zones.size();
  std::vector<double> work(earliest.size() * zones, 0.0);
  const auto add = [&](const Flow& flow, double bytes) {
    for (const Hop hop : flow.hops) {
      const ir::Link& link = network.link(hop);
      double capacity = std::numeric_limits<double>::infinity();
      if (link.share == ir::LinkShare::kPerNode) capacity = link.bandwidth.value();
      if (const auto& nic = network.cluster().machine(network.pool(hop.from)).nic) {
        capacity = std::min(capacity, nic->value());
      }
      work[hop.from * zones + network.zone(hop.to).index()] += flow.factor * bytes / capacity;
    }
  };
  for (const OwnerSet& set : sync.sets) {
    for (const Flow& ring : set.shape.zone_rings) add(ring, set.bytes);
    for (const Flow& ring : set.shape.cross_ring) add(ring, set.bytes);
  }
  for (size_t node = 0; node < earliest.size(); ++node) {
    const auto begin = work.begin() + static_cast<std::ptrdiff_t>(node * zones);
    earliest[node] += *std::max_element(begin, begin + static_cast<std::ptrdiff_t>(zones));
  }
}

}  // namespace sail::sim
