// The end of an iteration of an outline: its gradient all-reduces and optimizer steps, class by class. The figures are
// those of gradient_sync.h for the expanded plan; outline.h has the argument.
#pragma once

#include <unordered_map>
#include <vector>

#include "compiler/ir/problem.h"
#include "simulator/collective_cost.h"
#include "simulator/outline.h"
#include "simulator/pipeline_time.h"
#include "simulator/stage_costs.h"

namespace sail::sim {

// What each pipeline of a class takes.
struct ClassCosts {
  std::vector<StageTimes> stages;
  PipelineTime time;
};

// All-reduces met so far by where their owners are.
class AllReduceMemo {
 public:
  explicit AllReduceMemo(const ir::Cluster& cluster) : cluster_(cluster) {}
  // Of owners on `runs` (PaceAllReduce). Stays where it is until Trim.
  const AllReduce& Of(const std::vector<NodeRun>& runs);
  // Forgets all of them when they are many.
  void Trim();

 private:
  struct Hash {
    size_t operator()(const std::vector<NodeRun>& runs) const;
  };
  const ir::Cluster& cluster_;
  std::unordered_map<std::vector<NodeRun>, AllReduce, Hash> known_;  // only ever asked, never iterated
};

// Keeps scratch memory between calls; one thread at a time.
class OutlineSync {
 public:
  // `problem` must outlive this.
  explicit OutlineSync(const ir::Problem& problem);

  // The outline that the others are about, which must outlive their calls.
  // O(layers · shards in a block · classes), shards in a block being the largest tensor degree by the smallest.
  void Begin(const PlanOutline& outline);
  // When the last rank has stepped, or something less but above `most_seconds` if that is above them. `costs`: of each
  // class of the outline. No less for later ends of pipelines.
  double EndWithin(const std::vector<ClassCosts>& costs, double most_seconds);
  // Adds what all-reduces move between nodes (outline.h).
  void AddTraffic(std::vector<double>& traffic);

 private:
  // Nodes side by side that hold the replicas of neighbouring stages of a class.
  struct Group {
    ir::PoolId pool = ir::PoolId(-1);
    int full_nodes = 0;  // with `replicas` each
    int replicas = 0;
    int rest = 0;      // replicas on one more node; 0: there is none
    double ready = 0;  // the earliest that a rank's gradients may start to move
    double step = 0;   // the least of its ranks
    int nodes() const { return full_nodes + (rest > 0 ? 1 : 0); }
  };
  struct Place {  // of the ranks of one stage of a class
    int group = 0;
    int lane = 0;   // of the first block's first rank; a block's ranks follow each other
    int ranks = 1;  // in a block
  };
  struct Timed {  // an all-reduce
    double bytes = -1;
    double seconds = 0;
  };
  // The all-reduces of some layers, all with the same owners but for shards: all of one shape.
  struct Sum {
    size_t holders = 0;   // where its stages begin in holders_: one for each class, or two times that
    size_t rows = 1;      // 2: first and last stages, of a tied embedding
    int shards = 1;       // in a block
    bool is_even = true;  // all its stages have as many ranks, so that its sets share none
    int first_set = 0;
    double bytes = 0;  // of all shards of all blocks
    const AllReduce* shape = nullptr;
    Timed timed[2];  // the last of different bytes: a layer mostly has one bucket of matrices and one of vectors
    int older = 0;   // of the two
  };
  struct Set {  // one shard
    int sum = 0;
    size_t lanes = 0;  // where its owners begin in owner_lanes_: one for each entry of holders_
    int open = -1;     // the bucket that takes its next gradients
    double room = -1;  // bytes that it takes yet
  };
  struct Bucket {
    int set = 0;
    int layer = 0;  // the lowest
    double bytes = 0;
    double extra = 0;  // of one more bucket of each layer
    int layers = 1;    // more than one: a bucket like this for each of so many layers
  };
  // What each byte of a sum takes a link or card of a group's first node, by zone that it leads to.
  struct CardUse {
    int sum = 0;
    int group = 0;
    size_t zone = 0;
    double seconds_per_byte = 0;
  };
  // What each byte of a sum moves between zones.
  struct ZoneUse {
    int sum = 0;
    size_t from = 0;
    size_t to = 0;
    double bytes_per_byte = 0;
  };
  // A group's part in a sum.
  struct Part {
    int group = 0;
    int owners = 1;  // of each replica
  };
  struct ZoneParts {  // of the same sum
    size_t zone = 0;
    size_t first = 0;  // in parts_
    size_t end = 0;
    int nodes = 0;
  };
  // Gradients of one layer kind on each owner, in elements, by log2 of the shards.
  struct Elements {
    std::vector<int64_t> sharded;
    int64_t replicated = 0;
  };

  void AddGroups();
  void AddBuckets();
  void SetTimes(const std::vector<ClassCosts>& costs);
  bool EnterLayer(int layer);
  int AddSum(size_t rows);
  void AddSets(int sum);
  void AddShape(int sum);
  void FindParts(const Sum& sum);
  void AddAllUses();
  void AddUses(int sum);
  void AddUse(int sum, const ZoneParts& zone, int nodes, size_t to, double factor);
  int LayersAlike(int layer, int run) const;
  void AddLayers(int layer, int count, int run);
  void AddTiedEmbedding(int run);
  void AddToShards(int sum, int layer, int count, int64_t elements);
  void Add(int set, int layer, int count, double bytes);
  double SecondsOf(int sum, double bytes);
  double ReadyAt(const std::vector<ClassCosts>& costs, const Set& set, int layer) const;
  double PlayBuckets(const std::vector<ClassCosts>& costs, double most_seconds);
  double LastStep(const std::vector<ClassCosts>& costs) const;
  double CardEnd();
  const StageOutline& StageAt(size_t of, int stage) const { return outline_->classes[of].stages[stage]; }
  size_t ZoneOf(ir::PoolId pool) const { return problem_.cluster.pool(pool).zone.index(); }

  const ir::Problem& problem_;
  AllReduceMemo shapes_;
  Elements elements_[3];                  // by layer kind
  std::vector<int64_t> tied_elements_;    // by log2 of the shards
  const PlanOutline* outline_ = nullptr;  // the one that is judged
  int element_bytes_ = 0;
  int smallest_ = 1;  // tensor degree
  int lanes_ = 0;
  int blocks_ = 1;         // that are played: the first, and one of the others if there are any
  int64_t pipelines_ = 0;  // all replicas
  std::vector<Group> groups_;
  std::vector<Place> places_;        // by class, then stage
  std::vector<size_t> first_place_;  // by class
  std::vector<int> stage_;           // by class: that holds the current layer
  std::vector<int> holders_;         // stages
  std::vector<int> owner_lanes_;
  std::vector<Sum> sums_;
  std::vector<Set> sets_;
  std::vector<Bucket> buckets_;
  bool has_uses_ = false;  // whether the next two are of this outline
  std::vector<CardUse> card_uses_;
  std::vector<ZoneUse> zone_uses_;
  std::vector<Part> parts_;       // of the sum that is built
  std::vector<ZoneParts> zones_;  // the same
  std::vector<NodeRun> runs_;     // the same
  std::vector<double> reduced_;   // by lane: from when it can take part in the next bucket
  std::vector<double> work_;      // by group and zone
};

}  // namespace sail::sim
