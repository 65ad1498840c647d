#include "simulator/timeline.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "compiler/base/check.h"
#include "simulator/shared_flows.h"

namespace sail::sim {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Player {
 public:
  explicit Player(const TimelineInput& input)
      : plan_(input.plan),
        costs_(input.costs),
        sync_(input.sync),
        overlap_(input.trainer.overlap_gradients),
        recording_(input.recording),
        flows_(input.costs.network) {
    times_.pipelines.resize(plan_.pipelines.size());
    syncs_.resize(costs_.placement.rank_count());
    reduce_.resize(sync_.buckets.size());
    for (int b = 0; b < static_cast<int>(sync_.buckets.size()); ++b) {
      for (const ir::Rank owner : SetOf(b).owners) syncs_[owner.index()].buckets.push_back(b);
    }
    for (int p = 0; p < static_cast<int>(plan_.pipelines.size()); ++p) {
      const int depth = Depth(p);
      times_.pipelines[p].backward_end.resize(depth, 0.0);
      first_lane_.push_back(static_cast<int>(lanes_.size()));
      for (int s = 0; s < depth; ++s) AddLane(p, s, input.trainer.paired_sends);
      for (int s = 0; s + 1 < depth; ++s) AddBoundary(p, s);
    }
  }

  PlanTimes Play() {
    for (int lane = 0; lane < static_cast<int>(lanes_.size()); ++lane) Run(lane, 0);
    double now = 0;
    while (!events_.empty() || !flows_.empty()) {
      // At equal times events go first; either order gives the same times.
      const double next = events_.empty() ? kInfinity : events_.time();
      if (next <= now || flows_.empty() || next <= flows_.NextEnd()) {
        now = next;
        const Event event = events_.front();
        events_.Pop();
        Handle(event, now);
      } else {
        now = flows_.NextEnd();
        OnFlowEnd(loads_[flows_.Finish()], now);
      }
    }
    for (const Lane& lane : lanes_) {
      SAIL_CHECK(lane.instruction().op == Op::kStep)
          << "pipeline " << lane.pipeline << " stage " << lane.stage << " is stuck at " << lane.next;
    }
    SAIL_CHECK(steps_ == costs_.placement.rank_count()) << steps_ << " ranks have stepped";
    return std::move(times_);
  }

 private:
  enum class Kind {
    kComputed,      // lane `subject` has finished its instruction
    kStepped,       // rank `subject` has
    kMoving,        // load `subject` has its latency behind it
    kReceived,      // lane `subject` has what it waits for
    kReduceRings,   // bucket `subject` has its intra-node part behind it
    kHasGradients,  // rank `subject` has those of its next bucket
  };
  struct Event {
    Kind kind = Kind::kComputed;
    int subject = 0;
  };
  // What the micro-batches that cross a boundary in one direction have in common; or a ring of a bucket.
  struct Way {
    Op op = Op::kReduce;               // or kSendActivation, kSendGradient
    int lane = -1;                     // that receives
    absl::InlinedVector<Hop, 1> hops;  // in a node from and to it
    int route = -1;                    // of flows_; -1: in a node, where all of it is latency
    int weight = 1;
    double latency = 0;
    double rate = 0;
    double bytes = 0;   // over each hop
    double gather = 0;  // seconds from their arrival until the receiver can use them
  };
  struct Load {
    int way = 0;
    int index = 0;  // micro-batch or bucket
    double start = 0;
  };
  // The ranks of one stage, which run their passes together: instructions without the reductions, which each rank ends
  // by itself before its step.
  struct Lane {
    int pipeline = 0;
    int stage = 0;
    const std::vector<Instruction>* list = nullptr;
    size_t next = 0;
    int to_next = -1;  // ways
    int to_previous = -1;
    std::vector<double> activations;  // by micro-batch: when it arrives, infinity while that is unknown
    std::vector<double> gradients;

    const Instruction& instruction() const { return (*list)[next]; }
  };
  // What a rank has had reduced. Buckets that have their gradients and those that are done are a prefix of its list.
  struct Sync {
    std::vector<int> buckets;  // in order
    size_t has_gradients = 0;
    size_t joined = 0;
    size_t done = 0;
    double joined_at = 0;  // the last of them
  };
  struct Reduce {
    size_t arrived = 0;
    int rings_left = 0;
    bool is_crossing_zones = false;
  };

  void AddLane(int pipeline, int stage, bool paired_sends) {
    const int micro_batches = plan_.pipelines[pipeline].micro_batches;
    const auto [list, is_new] = lists_.try_emplace({Depth(pipeline), stage, micro_batches});
    if (is_new) {
      list->second = InstructionsOf(plan_, costs_.placement, /*buckets=*/{}, costs_.placement.rank(pipeline, stage, 0),
                                    paired_sends);
    }
    Lane& lane = lanes_.emplace_back();
    lane.pipeline = pipeline;
    lane.stage = stage;
    lane.list = &list->second;
    lane.activations.assign(micro_batches, kInfinity);
    lane.gradients.assign(micro_batches, kInfinity);
  }

  // Between stage `s` and the next.
  void AddBoundary(int pipeline, int s) {
    const Boundary& boundary = costs_.boundaries[pipeline][s];
    const Hop hop = boundary.activation_hop;
    const int lane = LaneOf(pipeline, s);
    lanes_[lane].to_next = AddWay(boundary, boundary.activation, Op::kSendActivation, lane + 1, hop);
    lanes_[lane + 1].to_previous =
        AddWay(boundary, boundary.gradient, Op::kSendGradient, lane, {.from = hop.to, .to = hop.from});
  }

  int AddWay(const Boundary& boundary, const Transfer& transfer, Op op, int lane, Hop hop) {
    ways_.push_back({.op = op,
                     .lane = lane,
                     .hops = {hop},
                     .route = boundary.same_node ? -1 : flows_.AddRoute({hop}),
                     .weight = transfer.slices,
                     .latency = boundary.same_node ? transfer.SecondsAlone() : transfer.latency,
                     .rate = transfer.rate,
                     .bytes = transfer.bytes,
                     .gather = boundary.same_node ? 0 : transfer.gather});
    return static_cast<int>(ways_.size()) - 1;
  }

  const std::vector<ir::Rank>& Ranks(const Lane& lane) const {
    return costs_.placement.tensor_group(lane.pipeline, lane.stage);
  }
  int LaneOf(int pipeline, int stage) const { return first_lane_[pipeline] + stage; }
  int LaneOf(ir::Rank rank) const {
    const ir::RankPlace& place = costs_.placement.place(rank);
    return LaneOf(place.pipeline, place.stage);
  }

  void At(double time, Kind kind, int subject) { events_.Push(time, {.kind = kind, .subject = subject}); }

  void Handle(const Event& event, double now) {
    switch (event.kind) {
      case Kind::kComputed:
        OnComputed(event.subject, now);
        return;
      case Kind::kStepped:
        OnStepped(event.subject, now);
        return;
      case Kind::kMoving: {
        const Way& way = ways_[loads_[event.subject].way];
        flows_.Start(way.route, way.weight, way.rate, way.bytes, now, event.subject);
        return;
      }
      case Kind::kReceived:
        Run(event.subject, now);
        return;
      case Kind::kReduceRings:
        StartZoneRings(event.subject, now);
        return;
      case Kind::kHasGradients:
        ++syncs_[event.subject].has_gradients;
        Join(event.subject, now);
        return;
    }
  }

  // Runs the lane's instructions from `now` until one takes time or has to wait.
  void Run(int id, double now) {
    Lane& lane = lanes_[id];
    const StageTimes& stage = costs_.stages[lane.pipeline][lane.stage];
    for (; lane.next < lane.list->size(); ++lane.next) {
      const Instruction& instruction = lane.instruction();
      switch (instruction.op) {
        case Op::kReceiveActivation:
        case Op::kReceiveGradient: {
          const double arrival = Arrival(lane, instruction);
          if (arrival <= now) break;
          if (arrival < kInfinity) At(arrival, Kind::kReceived, id);
          return;
        }
        case Op::kSendActivation:
          Carry({.way = lane.to_next, .index = instruction.index, .start = now});
          break;
        case Op::kSendGradient:
          Carry({.way = lane.to_previous, .index = instruction.index, .start = now});
          break;
        case Op::kForward:
          if (instruction.index == 0 && lane.stage + 1 == Depth(lane.pipeline)) {
            times_.pipelines[lane.pipeline].last_stage_start = now;
          }
          return Compute(id, now, stage.forward);
        case Op::kBackward:
          if (overlap_ && IsLastBackward(lane)) ScheduleGradients(lane, now + stage.backward);
          return Compute(id, now, stage.backward);
        case Op::kReduce:
          SAIL_CHECK(false) << "reductions are in no lane's list";
          break;
        case Op::kStep:
          for (const ir::Rank rank : Ranks(lane)) StepIfReduced(rank, now);
          return;
      }
    }
  }

  void Compute(int id, double now, double seconds) {
    const Lane& lane = lanes_[id];
    if (recording_ != nullptr) {
      for (const ir::Rank rank : Ranks(lane)) Record(rank.index(), lane.instruction(), now, now + seconds);
    }
    At(now + seconds, Kind::kComputed, id);
  }

  void OnComputed(int id, double now) {
    Lane& lane = lanes_[id];
    const Op done = lane.instruction().op;
    PipelineTime& pipeline = times_.pipelines[lane.pipeline];
    if (done == Op::kBackward) {
      pipeline.backward_end[lane.stage] = now;
      if (lane.stage + 1 == Depth(lane.pipeline)) pipeline.last_stage_end = now;
      if (!overlap_ && IsLastBackward(lane)) {
        for (const ir::Rank rank : Ranks(lane)) {
          syncs_[rank.index()].has_gradients = syncs_[rank.index()].buckets.size();
          Join(rank.index(), now);
        }
      }
    }
    ++lane.next;
    Run(id, now);
  }

  // The rank's lane has come to the step.
  void StepIfReduced(ir::Rank rank, double now) {
    const Sync& sync = syncs_[rank.index()];
    if (sync.done < sync.buckets.size()) return;
    const double end = now + OptimizerOf(rank);
    Record(rank.index(), {.op = Op::kStep, .index = 0}, now, end);
    At(end, Kind::kStepped, rank.index());
  }

  void OnStepped(int rank, double now) {
    ++steps_;
    if (now <= times_.iteration) return;
    times_.iteration = now;
    times_.optimizer = OptimizerOf(ir::Rank(rank));
  }

  double OptimizerOf(ir::Rank rank) const {
    const ir::RankPlace& place = costs_.placement.place(rank);
    return costs_.stages[place.pipeline][place.stage].optimizer;
  }

  static double& Arrival(Lane& lane, const Instruction& receive) {
    return (receive.op == Op::kReceiveActivation ? lane.activations : lane.gradients)[receive.index];
  }

  void Carry(Load load) {
    const Way& way = ways_[load.way];
    if (way.route < 0) return Deliver(load, load.start + way.latency);
    loads_.push_back(load);
    At(load.start + way.latency, Kind::kMoving, static_cast<int>(loads_.size()) - 1);
  }

  void CarryRing(const Flow& ring, int bucket, double now) {
    const Flow flow = ring.For(BytesOf(bucket));
    ways_.push_back({.hops = flow.hops,
                     .route = flows_.AddRoute(flow.hops),
                     .weight = flow.weight,
                     .latency = flow.latency,
                     .rate = flow.rate,
                     .bytes = flow.factor * BytesOf(bucket)});
    Carry({.way = static_cast<int>(ways_.size()) - 1, .index = bucket, .start = now});
  }

  void OnFlowEnd(Load load, double now) {
    if (ways_[load.way].op != Op::kReduce) return Deliver(load, now);
    RecordLoad(load, now);
    if (--reduce_[load.index].rings_left == 0) EndRings(load.index, now);
  }

  // The last byte of a micro-batch is there.
  void Deliver(Load load, double now) {
    RecordLoad(load, now);
    const Way& way = ways_[load.way];
    const Op receive = way.op == Op::kSendActivation ? Op::kReceiveActivation : Op::kReceiveGradient;
    const Instruction awaited{.op = receive, .index = load.index};
    Lane& lane = lanes_[way.lane];
    Arrival(lane, awaited) = now + way.gather;
    if (lane.instruction() == awaited) At(now + way.gather, Kind::kReceived, way.lane);
  }

  // Whether the lane is at its last backward.
  bool IsLastBackward(const Lane& lane) const {
    const Instruction& instruction = lane.instruction();
    return instruction.op == Op::kBackward && instruction.index + 1 == plan_.pipelines[lane.pipeline].micro_batches;
  }

  // `end` is that of the lane's last backward. A bucket waits for those before it.
  void ScheduleGradients(const Lane& lane, double end) {
    for (const ir::Rank rank : Ranks(lane)) {
      double lead = kInfinity;
      for (const int bucket : syncs_[rank.index()].buckets) {
        lead = std::min(lead, GradientLead(plan_, costs_, rank, sync_.buckets[bucket].layer));
        At(end - lead, Kind::kHasGradients, rank.index());
      }
    }
  }

  // Takes part in the rank's next all-reduce if it can; the last owner starts it.
  void Join(int rank, double now) {
    Sync& sync = syncs_[rank];
    if (sync.joined > sync.done || sync.joined == sync.has_gradients) return;
    const int bucket = sync.buckets[sync.joined++];
    sync.joined_at = now;
    if (++reduce_[bucket].arrived < SetOf(bucket).owners.size()) return;
    const AllReduce& shape = SetOf(bucket).shape;
    const double inside = shape.intra_latency + shape.intra_seconds_per_byte * BytesOf(bucket);
    At(now + inside, Kind::kReduceRings, bucket);
  }

  void StartZoneRings(int bucket, double now) {
    const std::vector<Flow>& rings = SetOf(bucket).shape.zone_rings;
    if (rings.empty()) return EndRings(bucket, now);
    reduce_[bucket].rings_left = static_cast<int>(rings.size());
    for (const Flow& ring : rings) CarryRing(ring, bucket, now);
  }

  // After the rings of the zones those between zones; after these the owners go on.
  void EndRings(int bucket, double now) {
    Reduce& reduce = reduce_[bucket];
    if (!reduce.is_crossing_zones && !SetOf(bucket).shape.cross_ring.empty()) {
      reduce.is_crossing_zones = true;
      reduce.rings_left = 1;
      return CarryRing(SetOf(bucket).shape.cross_ring.front(), bucket, now);
    }
    for (const ir::Rank owner : SetOf(bucket).owners) {
      const int rank = owner.index();
      Record(rank, {.op = Op::kReduce, .index = bucket}, syncs_[rank].joined_at, now);
      ++syncs_[rank].done;
      Join(rank, now);
      if (lanes_[LaneOf(owner)].instruction().op == Op::kStep) StepIfReduced(owner, now);
    }
  }

  void Record(int rank, const Instruction& done, double start, double end) {
    if (recording_ == nullptr) return;
    recording_->ranks.push_back({.rank = rank, .op = done.op, .index = done.index, .start = start, .end = end});
  }

  void RecordLoad(const Load& load, double end) {
    if (recording_ == nullptr) return;
    const Way& way = ways_[load.way];
    for (const Hop hop : way.hops) {
      recording_->transfers.push_back({.from = hop.from,
                                       .to = hop.to,
                                       .op = way.op,
                                       .index = load.index,
                                       .pipeline = way.lane < 0 ? -1 : lanes_[way.lane].pipeline,
                                       .bytes = way.bytes,
                                       .start = load.start,
                                       .end = end});
    }
  }

  const OwnerSet& SetOf(int bucket) const { return sync_.sets[sync_.buckets[bucket].set]; }
  double BytesOf(int bucket) const { return sync_.buckets[bucket].bytes; }
  int Depth(int pipeline) const { return static_cast<int>(plan_.pipelines[pipeline].stages.size()); }

  const ir::Plan& plan_;
  const PlanCosts& costs_;
  const GradientSync& sync_;
  const bool overlap_;
  Recording* const recording_;  // or null

  std::map<std::tuple<int, int, int>, std::vector<Instruction>> lists_;  // by depth, stage, micro-batches
  std::vector<Lane> lanes_;
  std::vector<int> first_lane_;  // by pipeline: of its stage 0
  std::vector<Way> ways_;
  std::vector<Load> loads_;
  std::vector<Reduce> reduce_;  // by bucket
  std::vector<Sync> syncs_;     // by rank
  SharedFlows flows_;
  TimeQueue<Event> events_;
  int steps_ = 0;  // ranks that have stepped
  PlanTimes times_;
};

}  // namespace

PlanTimes PlayTimeline(const TimelineInput& input) { return Player(input).Play(); }

}  // namespace sail::sim
