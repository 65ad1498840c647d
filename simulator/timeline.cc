#include "simulator/timeline.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <tuple>

#include "compiler/base/check.h"
#include "simulator/shared_flows.h"

namespace sail::sim {
namespace {

enum class Direction { kActivation, kGradient };

// One micro-batch over one boundary. `to` is the receiving stage.
struct Crossing {
  int pipeline = 0;
  int to = 0;
  int micro_batch = 0;
  Direction direction = Direction::kActivation;
};

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
    size_t crossings = 0;
    for (int p = 0; p < static_cast<int>(plan_.pipelines.size()); ++p) {
      const int depth = Depth(p);
      times_.pipelines[p].backward_end.resize(depth, 0.0);
      first_lane_.push_back(static_cast<int>(lanes_.size()));
      for (int s = 0; s < depth; ++s) AddLane(p, s, input.trainer.paired_sends);
      crossings += static_cast<size_t>(plan_.pipelines[p].micro_batches) * 2 * (depth - 1);
    }
    crossings_.reserve(crossings);
    gather_.reserve(crossings);
    carried_.reserve(crossings + sync_.buckets.size());
  }

  PlanTimes Play() {
    for (int lane = 0; lane < static_cast<int>(lanes_.size()); ++lane) Run(lane, 0);
    while (!events_.empty() || !flows_.empty()) {
      // At equal times events go first; either order gives the same times.
      if (flows_.empty() || (!events_.empty() && events_.top().time <= flows_.NextEnd())) {
        const Event event = events_.top();
        events_.pop();
        Handle(event);
      } else {
        const double now = flows_.NextEnd();
        OnFlowEnd(flows_.Finish(), now);
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
    kFlowReady,     // flow `subject` of the list below has its latency behind it
    kArrived,       // crossing `subject` is complete
    kReduceRings,   // bucket `subject` has its intra-node part behind it
    kHasGradients,  // rank `subject` has those of its next bucket
  };
  struct Event {
    double time;
    int64_t sequence;
    Kind kind;
    int subject;
    friend bool operator>(const Event& a, const Event& b) {
      return std::tie(a.time, a.sequence) > std::tie(b.time, b.sequence);
    }
  };
  // A flow that was started or will be: of a crossing or of a bucket.
  struct Carried {
    Flow flow;
    double payload = 0;
    int crossing = -1;
    int bucket = -1;
    double start = 0;
  };
  // The ranks of one stage, which run their passes together: instructions without the reductions, which each rank ends
  // by itself before its step.
  struct Lane {
    int pipeline = 0;
    int stage = 0;
    const std::vector<Instruction>* list = nullptr;
    size_t next = 0;
    std::vector<char> arrived[2];  // [direction][micro-batch]

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
    for (std::vector<char>& arrived : lane.arrived) arrived.assign(micro_batches, 0);
  }

  const std::vector<ir::Rank>& Ranks(const Lane& lane) const {
    return costs_.placement.tensor_group(lane.pipeline, lane.stage);
  }
  int LaneOf(int pipeline, int stage) const { return first_lane_[pipeline] + stage; }
  int LaneOf(ir::Rank rank) const {
    const ir::RankPlace& place = costs_.placement.place(rank);
    return LaneOf(place.pipeline, place.stage);
  }

  void At(double time, Kind kind, int subject) {
    events_.push({.time = time, .sequence = sequence_++, .kind = kind, .subject = subject});
  }

  void Handle(const Event& event) {
    switch (event.kind) {
      case Kind::kComputed:
        OnComputed(event.subject, event.time);
        return;
      case Kind::kStepped:
        OnStepped(event.subject, event.time);
        return;
      case Kind::kFlowReady: {
        const Carried& carried = carried_[event.subject];
        flows_.Start(carried.flow, carried.payload, event.time, event.subject);
        return;
      }
      case Kind::kArrived:
        OnArrived(crossings_[event.subject], event.time);
        return;
      case Kind::kReduceRings:
        StartZoneRings(event.subject, event.time);
        return;
      case Kind::kHasGradients:
        ++syncs_[event.subject].has_gradients;
        Join(event.subject, event.time);
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
          if (!lane.arrived[0][instruction.index]) return;
          break;
        case Op::kReceiveGradient:
          if (!lane.arrived[1][instruction.index]) return;
          break;
        case Op::kSendActivation:
        case Op::kSendGradient:
          Send(lane, instruction, now);
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

  void Send(const Lane& lane, const Instruction& instruction, double now) {
    const bool forward = instruction.op == Op::kSendActivation;
    const Boundary& boundary = costs_.boundaries[lane.pipeline][forward ? lane.stage : lane.stage - 1];
    const Transfer& transfer = forward ? boundary.activation : boundary.gradient;
    const int crossing = static_cast<int>(crossings_.size());
    crossings_.push_back({.pipeline = lane.pipeline,
                          .to = forward ? lane.stage + 1 : lane.stage - 1,
                          .micro_batch = instruction.index,
                          .direction = forward ? Direction::kActivation : Direction::kGradient});
    gather_.push_back(transfer.gather);
    if (boundary.same_node) {
      const int node = costs_.network.NodeOf(costs_.placement.rank(lane.pipeline, lane.stage, 0));
      RecordCrossing(crossing, {.from = node, .to = node}, transfer.bytes, now, now + transfer.SecondsAlone());
      return At(now + transfer.SecondsAlone(), Kind::kArrived, crossing);
    }
    const Hop hop = boundary.activation_hop;
    Carry({.flow = {.hops = {forward ? hop : Hop{.from = hop.to, .to = hop.from}},
                    .weight = transfer.slices,
                    .latency = transfer.latency,
                    .rate = transfer.rate},
           .payload = transfer.bytes,
           .crossing = crossing},
          now);
  }

  void Carry(Carried carried, double now) {
    const double latency = carried.flow.latency;
    carried.start = now;
    carried_.push_back(std::move(carried));
    At(now + latency, Kind::kFlowReady, static_cast<int>(carried_.size()) - 1);
  }

  void CarryRing(const Flow& ring, int bucket, double now) {
    const double payload = BytesOf(bucket);
    Carry({.flow = ring.For(payload), .payload = payload, .bucket = bucket}, now);
  }

  void OnFlowEnd(int flow, double now) {
    const Carried& carried = carried_[flow];
    if (carried.crossing >= 0) {
      RecordCrossing(carried.crossing, carried.flow.hops.front(), carried.payload, carried.start, now);
      return At(now + gather_[carried.crossing], Kind::kArrived, carried.crossing);
    }
    const int bucket = carried.bucket;
    RecordRing(carried, now);
    if (--reduce_[bucket].rings_left == 0) EndRings(bucket, now);
  }

  void OnArrived(const Crossing crossing, double now) {
    const bool forward = crossing.direction == Direction::kActivation;
    const int id = LaneOf(crossing.pipeline, crossing.to);
    Lane& lane = lanes_[id];
    lane.arrived[forward ? 0 : 1][crossing.micro_batch] = 1;
    const Op awaited = forward ? Op::kReceiveActivation : Op::kReceiveGradient;
    if (lane.instruction() == Instruction{.op = awaited, .index = crossing.micro_batch}) Run(id, now);
  }

  // Whether the lane is at its last backward.
  bool IsLastBackward(const Lane& lane) const {
    const Instruction& instruction = lane.instruction();
    return instruction.op == Op::kBackward && instruction.index + 1 == plan_.pipelines[lane.pipeline].micro_batches;
  }

  // `end` is that of the lane's last backward. A bucket waits for those before it.
  void ScheduleGradients(const Lane& lane, double end) {
    for (const ir::Rank rank : Ranks(lane)) {
      double lead = std::numeric_limits<double>::infinity();
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

  void RecordCrossing(int crossing, Hop hop, double bytes, double start, double end) {
    if (recording_ == nullptr) return;
    const Crossing& what = crossings_[crossing];
    recording_->transfers.push_back(
        {.from = hop.from,
         .to = hop.to,
         .op = what.direction == Direction::kActivation ? Op::kSendActivation : Op::kSendGradient,
         .index = what.micro_batch,
         .pipeline = what.pipeline,
         .bytes = bytes,
         .start = start,
         .end = end});
  }

  void RecordRing(const Carried& carried, double end) {
    if (recording_ == nullptr) return;
    for (const Hop hop : carried.flow.hops) {
      recording_->transfers.push_back({.from = hop.from,
                                       .to = hop.to,
                                       .op = Op::kReduce,
                                       .index = carried.bucket,
                                       .bytes = carried.flow.factor * carried.payload,
                                       .start = carried.start,
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
  std::vector<Crossing> crossings_;
  std::vector<double> gather_;  // by crossing
  std::vector<Carried> carried_;
  std::vector<Reduce> reduce_;  // by bucket
  std::vector<Sync> syncs_;     // by rank
  SharedFlows flows_;
  std::priority_queue<Event, std::vector<Event>, std::greater<Event>> events_;
  int64_t sequence_ = 0;
  int steps_ = 0;  // ranks that have stepped
  PlanTimes times_;
};

}  // namespace

PlanTimes PlayTimeline(const TimelineInput& input) { return Player(input).Play(); }

}  // namespace sail::sim
