#include "simulator/outline_sync.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>

#include "compiler/base/rng.h"
#include "simulator/schedule.h"

namespace sail::sim {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr size_t kMostKnown = 10'000;  // all-reduces

int Log2(int shards) { return std::bit_width(static_cast<unsigned>(shards)) - 1; }

}  // namespace

const AllReduce& AllReduceMemo::Of(const std::vector<NodeRun>& runs) {
  const auto known = known_.find(runs);
  if (known != known_.end()) return known->second;
  AllReduce& shape = known_[runs];
  PaceAllReduce(cluster_, runs, shape);
  return shape;
}

void AllReduceMemo::Trim() {
  if (known_.size() > kMostKnown) known_.clear();
}

size_t AllReduceMemo::Hash::operator()(const std::vector<NodeRun>& runs) const {
  uint64_t hash = 0;
  for (const NodeRun& run : runs) {
    hash = Mix64(hash ^ (static_cast<uint64_t>(run.pool.index()) << 48 | static_cast<uint64_t>(run.ranks) << 32 |
                         static_cast<uint64_t>(run.nodes)));
  }
  return hash;
}

OutlineSync::OutlineSync(const ir::Problem& problem) : problem_(problem), shapes_(problem.cluster) {
  const ir::Model& model = problem.model;
  int largest = 1;
  for (const int degree : problem.job.tensor_degrees) largest = std::max(largest, degree);
  for (const ir::LayerKind kind : {ir::LayerKind::kEmbedding, ir::LayerKind::kBlock, ir::LayerKind::kHead}) {
    Elements& elements = elements_[static_cast<int>(kind)];
    const bool is_tied = model.tied_head && kind != ir::LayerKind::kBlock;
    for (int shards = 1; shards <= largest; shards *= 2) {
      const ir::LayerParameters parameters = ir::ParametersOnRank(model, kind, /*tensor=*/1, shards);
      elements.sharded.push_back(is_tied ? 0 : parameters.sharded / shards);
      elements.replicated = parameters.replicated;
    }
  }
  for (int shards = 1; shards <= largest; shards *= 2) {
    tied_elements_.push_back(ir::PaddedVocab(model, shards) * model.embedding_width / shards);
  }
}

void OutlineSync::Begin(const PlanOutline& outline) {
  outline_ = &outline;
  has_uses_ = false;
  shapes_.Trim();
  AddGroups();
  AddBuckets();
  if (problem_.job.trainer.overlap_gradients) std::reverse(buckets_.begin(), buckets_.end());
}

double OutlineSync::EndWithin(const std::vector<ClassCosts>& costs, double most_seconds) {
  SetTimes(costs);
  const double last_bucket = PlayBuckets(costs, most_seconds);
  if (last_bucket > most_seconds) return last_bucket;
  const double last_step = LastStep(costs);
  return last_step > most_seconds ? last_step : std::max(last_step, CardEnd());
}

void OutlineSync::AddTraffic(std::vector<double>& traffic) {
  AddAllUses();
  const size_t zones = problem_.cluster.zones.size();
  for (const ZoneUse& use : zone_uses_) traffic[use.from * zones + use.to] += use.bytes_per_byte * sums_[use.sum].bytes;
}

// Groups, and the place of each stage in them.
void OutlineSync::AddGroups() {
  element_bytes_ = ReducedBytesPerElement(problem_.job, outline_->sharding);
  groups_.clear();
  places_.clear();
  first_place_.clear();
  smallest_ = std::numeric_limits<int>::max();
  pipelines_ = 0;
  for (const PipelineClass& of : outline_->classes) {
    pipelines_ += of.count;
    for (const StageOutline& stage : of.stages) smallest_ = std::min(smallest_, stage.tensor);
  }
  blocks_ = std::min(smallest_, 2);
  lanes_ = 0;
  for (const PipelineClass& of : outline_->classes) {
    first_place_.push_back(places_.size());
    bool is_new = true;
    for (const StageOutline& stage : of.stages) {
      if (is_new) {
        groups_.push_back({.pool = stage.pool,
                           .full_nodes = of.count / stage.replicas_per_node,
                           .replicas = stage.replicas_per_node,
                           .rest = of.count % stage.replicas_per_node});
      }
      is_new = !stage.next_on_node;
      const int ranks = stage.tensor / smallest_;
      places_.push_back({.group = static_cast<int>(groups_.size()) - 1, .lane = lanes_, .ranks = ranks});
      lanes_ += blocks_ * ranks;
    }
  }
}

// From when groups and lanes may reduce.
void OutlineSync::SetTimes(const std::vector<ClassCosts>& costs) {
  const bool overlaps = problem_.job.trainer.overlap_gradients;
  for (Group& group : groups_) group.ready = group.step = kInfinity;
  reduced_.resize(lanes_);
  for (size_t c = 0; c < outline_->classes.size(); ++c) {
    for (size_t s = 0; s < outline_->classes[c].stages.size(); ++s) {
      const Place& place = places_[first_place_[c] + s];
      const StageTimes& times = costs[c].stages[s];
      const double end = costs[c].time.backward_end[s];
      Group& group = groups_[place.group];
      group.ready = std::min(group.ready, end - (overlaps ? times.backward : 0));
      group.step = std::min(group.step, times.optimizer);
      std::fill_n(reduced_.begin() + place.lane, blocks_ * place.ranks, overlaps ? 0 : end);
    }
  }
}

// As gradient_sync.cc's builder: buckets layer by layer, the canonical order of gradients.
void OutlineSync::AddBuckets() {
  stage_.assign(outline_->classes.size(), 0);
  holders_.clear();
  owner_lanes_.clear();
  sums_.clear();
  sets_.clear();
  buckets_.clear();
  int run = 0;
  for (int layer = 0; layer < problem_.model.layer_count();) {
    if (EnterLayer(layer)) {
      holders_.insert(holders_.end(), stage_.begin(), stage_.end());
      run = AddSum(/*rows=*/1);
    }
    const int count = LayersAlike(layer, run);
    AddLayers(layer, count, run);
    layer += count;
  }
}

// Moves stage_ to the stages that hold `layer`; whether that differs from the layer before.
bool OutlineSync::EnterLayer(int layer) {
  bool is_new = layer == 0;
  for (size_t c = 0; c < stage_.size(); ++c) {
    if (StageAt(c, stage_[c]).last_layer >= layer) continue;
    ++stage_[c];
    is_new = true;
  }
  return is_new;
}

// The sum over the stages that `rows` · classes entries at the end of holders_ name.
int OutlineSync::AddSum(size_t rows) {
  const size_t classes = outline_->classes.size();
  Sum sum{.holders = holders_.size() - rows * classes, .rows = rows, .first_set = static_cast<int>(sets_.size())};
  for (size_t i = sum.holders; i < holders_.size(); ++i) {
    const int ranks = places_[first_place_[(i - sum.holders) % classes] + holders_[i]].ranks;
    sum.is_even = sum.is_even && (i == sum.holders || ranks == sum.shards);
    sum.shards = std::max(sum.shards, ranks);
  }
  const int id = static_cast<int>(sums_.size());
  sums_.push_back(sum);
  AddSets(id);
  if (pipelines_ > 1 || rows > 1) AddShape(id);
  return id;
}

// Shard k of T in a block is owned by its rank floor(k · ranks / T); both are powers of two.
void OutlineSync::AddSets(int id) {
  const Sum& sum = sums_[id];
  const size_t classes = outline_->classes.size();
  for (int block = 0; block < blocks_; ++block) {
    for (int shard = 0; shard < sum.shards; ++shard) {
      sets_.push_back({.sum = id, .lanes = owner_lanes_.size()});
      for (size_t i = 0; i < sum.rows * classes; ++i) {
        const size_t of = i < classes ? i : i - classes;
        const Place& place = places_[first_place_[of] + holders_[sum.holders + i]];
        owner_lanes_.push_back(place.lane + block * place.ranks + shard * place.ranks / sum.shards);
      }
    }
  }
}

// Groups that take part in a sum, in the order of the expanded plan's nodes, by zone.
void OutlineSync::FindParts(const Sum& sum) {
  const size_t classes = outline_->classes.size();
  parts_.clear();
  for (size_t i = sum.holders; i < sum.holders + sum.rows * classes; ++i) {
    const size_t of = (i - sum.holders) % classes;
    if (i >= sum.holders + classes && holders_[i] == holders_[i - classes]) continue;  // the same ranks
    const int group = places_[first_place_[of] + holders_[i]].group;
    const auto it = std::find_if(parts_.begin(), parts_.end(), [&](const Part& part) { return part.group == group; });
    if (it == parts_.end())
      parts_.push_back({.group = group});
    else
      ++it->owners;
  }
  const auto key = [&](const Part& part) {
    const ir::PoolId pool = groups_[part.group].pool;
    return std::make_tuple(ZoneOf(pool), pool, part.group);
  };
  std::sort(parts_.begin(), parts_.end(), [&](const Part& a, const Part& b) { return key(a) < key(b); });
}

void OutlineSync::AddShape(int id) {
  FindParts(sums_[id]);
  runs_.clear();
  for (const Part& part : parts_) {
    const Group& group = groups_[part.group];
    if (group.full_nodes > 0) {
      runs_.push_back({.pool = group.pool, .nodes = group.full_nodes, .ranks = group.replicas * part.owners});
    }
    if (group.rest > 0) runs_.push_back({.pool = group.pool, .nodes = 1, .ranks = group.rest * part.owners});
  }
  sums_[id].shape = &shapes_.Of(runs_);
}

void OutlineSync::AddAllUses() {
  if (has_uses_) return;
  has_uses_ = true;
  card_uses_.clear();
  zone_uses_.clear();
  for (int id = 0; id < static_cast<int>(sums_.size()); ++id) {
    if (sums_[id].shape == nullptr) continue;
    FindParts(sums_[id]);
    AddUses(id);
  }
}

// What the rings between nodes move.
void OutlineSync::AddUses(int id) {
  zones_.clear();
  for (size_t i = 0; i < parts_.size(); ++i) {
    const Group& group = groups_[parts_[i].group];
    const size_t zone = ZoneOf(group.pool);
    if (zones_.empty() || zones_.back().zone != zone) zones_.push_back({.zone = zone, .first = i});
    zones_.back().end = i + 1;
    zones_.back().nodes += group.nodes();
  }
  const AllReduce& shape = *sums_[id].shape;
  int lanes = std::numeric_limits<int>::max();
  size_t ring = 0;
  for (const ZoneParts& zone : zones_) {
    lanes = std::min(lanes, zone.nodes);
    if (zone.nodes > 1) AddUse(id, zone, zone.nodes, zone.zone, shape.zone_rings[ring++].factor);
  }
  for (const Flow& cross : shape.cross_ring) {
    for (size_t z = 0; z < zones_.size(); ++z) {
      AddUse(id, zones_[z], lanes, zones_[(z + 1) % zones_.size()].zone, cross.factor);
    }
  }
}

// Of the first `nodes` nodes of a zone, each of which sends `factor` times what is reduced to zone `to`.
void OutlineSync::AddUse(int sum, const ZoneParts& zone, int nodes, size_t to, double factor) {
  zone_uses_.push_back({.sum = sum, .from = zone.zone, .to = to, .bytes_per_byte = nodes * factor});
  for (size_t i = zone.first; i < zone.end && nodes > 0; ++i) {
    const Group& group = groups_[parts_[i].group];
    const ir::Link& link = problem_.cluster.links[zone.zone][to];
    double capacity = link.share == ir::LinkShare::kPerNode ? link.bandwidth.value() : kInfinity;
    if (const auto& nic = problem_.cluster.machine(group.pool).nic) capacity = std::min(capacity, nic->value());
    card_uses_.push_back({.sum = sum, .group = parts_[i].group, .zone = to, .seconds_per_byte = factor / capacity});
    nodes -= group.nodes();
  }
}

// How many layers from `layer` on have buckets of their own, all alike, at least 1. They are played as one: no other
// bucket comes between those of a set, and no rank is in two sets. Not the last block, whose bucket may take the head.
int OutlineSync::LayersAlike(int layer, int run) const {
  const Sum& sum = sums_[run];
  if (problem_.model.kind(layer) != ir::LayerKind::kBlock || !sum.is_even) return 1;
  const int64_t elements = elements_[static_cast<int>(ir::LayerKind::kBlock)].sharded[Log2(sum.shards * smallest_)];
  const auto bytes = static_cast<double>(elements * element_bytes_);
  if (2 * bytes <= static_cast<double>(kBucketBytes)) return 1;
  for (int i = 0; i < blocks_ * sum.shards; ++i) {
    if (sets_[sum.first_set + i].room >= bytes) return 1;
  }
  int last = problem_.model.blocks;
  for (size_t c = 0; c < stage_.size(); ++c) last = std::min(last, StageAt(c, stage_[c]).last_layer);
  return std::max(1, last - layer);
}

void OutlineSync::AddLayers(int layer, int count, int run) {
  const ir::LayerKind kind = problem_.model.kind(layer);
  const bool is_tied = problem_.model.tied_head && kind != ir::LayerKind::kBlock;
  const Elements& elements = elements_[static_cast<int>(kind)];
  if (pipelines_ > 1) {
    if (!is_tied) AddToShards(run, layer, count, elements.sharded[Log2(sums_[run].shards * smallest_)]);
    if (elements.replicated > 0) {
      const auto bytes = static_cast<double>(elements.replicated * element_bytes_);
      Add(sums_[run].first_set, layer, count, bytes);
      sums_[run].bytes += bytes * count;
    }
  }
  if (is_tied && layer == 0) AddTiedEmbedding(run);
}

void OutlineSync::AddTiedEmbedding(int run) {
  bool is_one_stage = true;
  for (const PipelineClass& of : outline_->classes) is_one_stage = is_one_stage && of.stages.size() == 1;
  if (is_one_stage && pipelines_ == 1) return;
  // Where every pipeline is one stage the owners are those of all layers, and share their buckets.
  int sum = run;
  if (!is_one_stage) {
    holders_.insert(holders_.end(), stage_.begin(), stage_.end());
    for (const PipelineClass& of : outline_->classes) holders_.push_back(static_cast<int>(of.stages.size()) - 1);
    sum = AddSum(/*rows=*/2);
  }
  AddToShards(sum, /*layer=*/0, /*count=*/1, tied_elements_[Log2(sums_[sum].shards * smallest_)]);
}

// A gradient group of each shard of each of `count` layers.
void OutlineSync::AddToShards(int sum, int layer, int count, int64_t elements) {
  const auto bytes = static_cast<double>(elements * element_bytes_);
  const int sets = blocks_ * sums_[sum].shards;
  for (int i = 0; i < sets; ++i) Add(sums_[sum].first_set + i, layer, count, bytes);
  sums_[sum].bytes += bytes * count * sums_[sum].shards * smallest_;
}

// One gradient group of each of `count` layers, with the bucket rule of schedule.h.
void OutlineSync::Add(int set, int layer, int count, double bytes) {
  Set& to = sets_[set];
  if (to.room >= bytes) {
    buckets_[to.open].bytes += bytes;
    to.room -= bytes;
    return;
  }
  to.room = static_cast<double>(kBucketBytes) - bytes;
  if (count > 1 && to.open >= 0 && buckets_[to.open].layer == layer) {
    buckets_[to.open].extra = bytes;
    return;
  }
  to.open = static_cast<int>(buckets_.size());
  buckets_.push_back({.set = set, .layer = layer, .bytes = bytes, .layers = count});
}

double OutlineSync::SecondsOf(int sum, double bytes) {
  Sum& of = sums_[sum];
  for (const Timed& timed : of.timed) {
    if (timed.bytes == bytes) return timed.seconds;
  }
  Timed& timed = of.timed[of.older];
  of.older = 1 - of.older;
  timed = {.bytes = bytes, .seconds = AllReduceSeconds(*of.shape, bytes)};
  return timed.seconds;
}

// When all owners have the gradients of `layer`, of trainers that overlap.
double OutlineSync::ReadyAt(const std::vector<ClassCosts>& costs, const Set& set, int layer) const {
  const Sum& sum = sums_[set.sum];
  const size_t classes = outline_->classes.size();
  double ready = 0;
  for (size_t i = 0; i < sum.rows * classes; ++i) {
    const size_t of = i < classes ? i : i - classes;
    const int stage = holders_[sum.holders + i];
    const StageOutline& outline = StageAt(of, stage);
    const int held = layer < outline.first_layer ? outline.last_layer : layer;
    const double lead = costs[of].stages[stage].BackwardBefore(outline.first_layer, held);
    ready = std::max(ready, costs[of].time.backward_end[stage] - lead);
  }
  return ready;
}

// As AdvanceThroughSync. Of n layers alike, each `seconds` long, only the first or the last can be what the others wait
// for: the times at which an owner has their gradients are on a line, and the latest of several lines is convex. The
// end of the latest bucket, or of the first that ends after `most_seconds`.
double OutlineSync::PlayBuckets(const std::vector<ClassCosts>& costs, double most_seconds) {
  const bool overlaps = problem_.job.trainer.overlap_gradients;
  double latest = 0;
  for (const Bucket& bucket : buckets_) {
    const Set& set = sets_[bucket.set];
    const size_t owners = sums_[set.sum].rows * outline_->classes.size();
    const int* lanes = &owner_lanes_[set.lanes];
    double seconds = SecondsOf(set.sum, bucket.bytes);
    if (bucket.extra > 0) seconds += SecondsOf(set.sum, bucket.extra);
    double start = 0;
    for (size_t i = 0; i < owners; ++i) start = std::max(start, reduced_[lanes[i]]);
    if (overlaps) start = std::max(start, ReadyAt(costs, set, bucket.layer + bucket.layers - 1));
    double end = start + bucket.layers * seconds;
    if (overlaps && bucket.layers > 1) end = std::max(end, ReadyAt(costs, set, bucket.layer) + seconds);
    if (end > most_seconds) return end;
    latest = std::max(latest, end);
    for (size_t i = 0; i < owners; ++i) reduced_[lanes[i]] = end;
  }
  return latest;
}

double OutlineSync::LastStep(const std::vector<ClassCosts>& costs) const {
  double end = 0;
  for (size_t c = 0; c < costs.size() && c < outline_->classes.size(); ++c) {
    for (size_t s = 0; s < costs[c].stages.size(); ++s) {
      const Place& place = places_[first_place_[c] + s];
      double ready = costs[c].time.backward_end[s];
      for (int i = 0; i < blocks_ * place.ranks; ++i) ready = std::max(ready, reduced_[place.lane + i]);
      end = std::max(end, ready + costs[c].stages[s].optimizer);
    }
  }
  return end;
}

// As AddCardBound, and the least step of the node.
double OutlineSync::CardEnd() {
  AddAllUses();
  const size_t zones = problem_.cluster.zones.size();
  work_.assign(groups_.size() * zones, 0.0);
  for (const CardUse& use : card_uses_) {
    work_[use.group * zones + use.zone] += use.seconds_per_byte * sums_[use.sum].bytes;
  }
  double end = 0;
  for (size_t group = 0; group < groups_.size(); ++group) {
    const auto begin = work_.begin() + static_cast<std::ptrdiff_t>(group * zones);
    const double busiest = *std::max_element(begin, begin + static_cast<std::ptrdiff_t>(zones));
    end = std::max(end, groups_[group].ready + busiest + groups_[group].step);
  }
  return end;
}

}  // namespace sail::sim
