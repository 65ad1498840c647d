#include "simulator/timeline.h"

#include <algorithm>
#include <functional>
#include <limits>
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
        buckets_(input.buckets),
        reductions_(input.all_reduces),
        overlap_(input.trainer.overlap_gradients),
        recording_(input.recording),
        flows_(input.costs.network) {
    times_.pipelines.resize(plan_.pipelines.size());
    for (size_t p = 0; p < plan_.pipelines.size(); ++p) {
      const ir::Pipeline& pipeline = plan_.pipelines[p];
      times_.pipelines[p].backward_end.resize(pipeline.stages.size(), 0.0);
      const std::vector<char> none(pipeline.micro_batches, 0);
      arrived_[0].emplace_back(pipeline.stages.size(), none);
      arrived_[1].emplace_back(pipeline.stages.size(), none);
    }
    reduce_.resize(buckets_.size());
    for (int rank = 0; rank < costs_.placement.rank_count(); ++rank) {
      lists_.push_back(InstructionsOf(plan_, costs_.placement, buckets_, ir::Rank(rank), input.trainer.paired_sends));
    }
    next_.resize(lists_.size(), 0);
    syncs_.resize(lists_.size());
    for (size_t b = 0; b < buckets_.size(); ++b) {
      for (const ir::Rank owner : buckets_[b].owners) syncs_[owner.index()].buckets.push_back(static_cast<int>(b));
    }
  }

  PlanTimes Play() {
    for (int rank = 0; rank < static_cast<int>(lists_.size()); ++rank) Run(rank, 0);
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
    for (size_t rank = 0; rank < lists_.size(); ++rank) {
      SAIL_CHECK(next_[rank] == lists_[rank].size()) << "rank " << rank << " is stuck at " << next_[rank];
    }
    return std::move(times_);
  }

 private:
  enum class Kind {
    kComputed,      // rank `subject` has finished its instruction
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
  // What a rank has had reduced. Buckets that have their gradients and those that are done are a prefix of its list.
  struct Sync {
    std::vector<int> buckets;  // in order
    size_t has_gradients = 0;
    size_t joined = 0;
    size_t done = 0;
    size_t awaited = 0;    // kReduce instructions passed
    double joined_at = 0;  // the last of them
  };
  struct Reduce {
    size_t arrived = 0;
    int rings_left = 0;
    bool is_crossing_zones = false;
  };

  void At(double time, Kind kind, int subject) {
    events_.push({.time = time, .sequence = sequence_++, .kind = kind, .subject = subject});
  }

  void Handle(const Event& event) {
    switch (event.kind) {
      case Kind::kComputed:
        OnComputed(event.subject, event.time);
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

  // Runs the rank's instructions from `now` until one takes time or has to wait.
  void Run(int rank, double now) {
    const ir::RankPlace& place = costs_.placement.place(ir::Rank(rank));
    const StageTimes& stage = costs_.stages[place.pipeline][place.stage];
    for (size_t& next = next_[rank]; next < lists_[rank].size(); ++next) {
      const Instruction& instruction = lists_[rank][next];
      switch (instruction.op) {
        case Op::kReceiveActivation:
          if (!arrived_[0][place.pipeline][place.stage][instruction.index]) return;
          break;
        case Op::kReceiveGradient:
          if (!arrived_[1][place.pipeline][place.stage][instruction.index]) return;
          break;
        case Op::kSendActivation:
        case Op::kSendGradient:
          if (place.tensor_rank == 0) Send(place, instruction, now);
          break;
        case Op::kForward:
          if (instruction.index == 0 && place.stage + 1 == Depth(place.pipeline)) {
            times_.pipelines[place.pipeline].last_stage_start = now;
          }
          return Compute(rank, instruction, now, stage.forward);
        case Op::kBackward:
          if (overlap_ && IsLastBackward(place, instruction)) ScheduleGradients(rank, now + stage.backward);
          return Compute(rank, instruction, now, stage.backward);
        case Op::kReduce:
          if (syncs_[rank].awaited == syncs_[rank].done) return;
          ++syncs_[rank].awaited;
          break;
        case Op::kStep:
          return Compute(rank, instruction, now, stage.optimizer);
      }
    }
  }

  void Compute(int rank, const Instruction& instruction, double now, double seconds) {
    Record(rank, instruction, now, now + seconds);
    At(now + seconds, Kind::kComputed, rank);
  }

  void OnComputed(int rank, double now) {
    const ir::RankPlace& place = costs_.placement.place(ir::Rank(rank));
    const Instruction& done = lists_[rank][next_[rank]];
    PipelineTime& pipeline = times_.pipelines[place.pipeline];
    if (done.op == Op::kBackward) {
      pipeline.backward_end[place.stage] = now;
      if (place.stage + 1 == Depth(place.pipeline)) pipeline.last_stage_end = now;
    }
    if (!overlap_ && IsLastBackward(place, done)) {
      syncs_[rank].has_gradients = syncs_[rank].buckets.size();
      Join(rank, now);
    }
    if (done.op == Op::kStep && now > times_.iteration) {
      times_.iteration = now;
      times_.optimizer = costs_.stages[place.pipeline][place.stage].optimizer;
    }
    ++next_[rank];
    Run(rank, now);
  }

  void Send(const ir::RankPlace& place, const Instruction& instruction, double now) {
    const bool forward = instruction.op == Op::kSendActivation;
    const Boundary& boundary = costs_.boundaries[place.pipeline][forward ? place.stage : place.stage - 1];
    const Transfer& transfer = forward ? boundary.activation : boundary.gradient;
    const int crossing = static_cast<int>(crossings_.size());
    crossings_.push_back({.pipeline = place.pipeline,
                          .to = forward ? place.stage + 1 : place.stage - 1,
                          .micro_batch = instruction.index,
                          .direction = forward ? Direction::kActivation : Direction::kGradient});
    gather_.push_back(transfer.gather);
    if (boundary.same_node) {
      const int node = costs_.network.NodeOf(costs_.placement.rank(place.pipeline, place.stage, 0));
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
    arrived_[forward ? 0 : 1][crossing.pipeline][crossing.to][crossing.micro_batch] = 1;
    const Op awaited = forward ? Op::kReceiveActivation : Op::kReceiveGradient;
    for (const ir::Rank rank : costs_.placement.tensor_group(crossing.pipeline, crossing.to)) {
      const size_t next = next_[rank.index()];
      if (lists_[rank.index()][next] == Instruction{.op = awaited, .index = crossing.micro_batch})
        Run(rank.index(), now);
    }
  }

  bool IsLastBackward(const ir::RankPlace& place, const Instruction& instruction) const {
    return instruction.op == Op::kBackward && instruction.index + 1 == plan_.pipelines[place.pipeline].micro_batches;
  }

  // `end` is that of the rank's last backward. A bucket waits for those before it.
  void ScheduleGradients(int rank, double end) {
    double lead = std::numeric_limits<double>::infinity();
    for (const int bucket : syncs_[rank].buckets) {
      lead = std::min(lead, GradientLead(plan_, costs_, ir::Rank(rank), buckets_[bucket].layer));
      At(end - lead, Kind::kHasGradients, rank);
    }
  }

  // Takes part in the rank's next all-reduce if it can; the last owner starts it.
  void Join(int rank, double now) {
    Sync& sync = syncs_[rank];
    if (sync.joined > sync.done || sync.joined == sync.has_gradients) return;
    const int bucket = sync.buckets[sync.joined++];
    sync.joined_at = now;
    if (++reduce_[bucket].arrived < buckets_[bucket].owners.size()) return;
    const AllReduce& shape = reductions_[bucket];
    const double inside = shape.intra_latency + shape.intra_seconds_per_byte * BytesOf(bucket);
    At(now + inside, Kind::kReduceRings, bucket);
  }

  void StartZoneRings(int bucket, double now) {
    const std::vector<Flow>& rings = reductions_[bucket].zone_rings;
    if (rings.empty()) return EndRings(bucket, now);
    reduce_[bucket].rings_left = static_cast<int>(rings.size());
    for (const Flow& ring : rings) CarryRing(ring, bucket, now);
  }

  // After the rings of the zones those between zones; after these the owners go on.
  void EndRings(int bucket, double now) {
    Reduce& reduce = reduce_[bucket];
    if (!reduce.is_crossing_zones && !reductions_[bucket].cross_ring.empty()) {
      reduce.is_crossing_zones = true;
      reduce.rings_left = 1;
      return CarryRing(reductions_[bucket].cross_ring.front(), bucket, now);
    }
    for (const ir::Rank owner : buckets_[bucket].owners) {
      const int rank = owner.index();
      Record(rank, {.op = Op::kReduce, .index = bucket}, syncs_[rank].joined_at, now);
      ++syncs_[rank].done;
      Join(rank, now);
      if (lists_[rank][next_[rank]].op == Op::kReduce) Run(rank, now);
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

  double BytesOf(int bucket) const { return static_cast<double>(buckets_[bucket].bytes.value()); }
  int Depth(int pipeline) const { return static_cast<int>(plan_.pipelines[pipeline].stages.size()); }

  const ir::Plan& plan_;
  const PlanCosts& costs_;
  const std::vector<Bucket>& buckets_;
  const std::vector<AllReduce>& reductions_;  // by bucket
  const bool overlap_;
  Recording* const recording_;  // or null

  std::vector<std::vector<Instruction>> lists_;             // by rank
  std::vector<size_t> next_;                                // by rank: the instruction it is at
  std::vector<std::vector<std::vector<char>>> arrived_[2];  // [direction][pipeline][stage][micro-batch]
  std::vector<Crossing> crossings_;
  std::vector<double> gather_;  // by crossing
  std::vector<Carried> carried_;
  std::vector<Reduce> reduce_;  // by bucket
  std::vector<Sync> syncs_;     // by rank
  SharedFlows flows_;
  std::priority_queue<Event, std::vector<Event>, std::greater<Event>> events_;
  int64_t sequence_ = 0;
  PlanTimes times_;
};

}  // namespace

PlanTimes PlayTimeline(const TimelineInput& input) { return Player(input).Play(); }

}  // namespace sail::sim
