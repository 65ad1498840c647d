#include "simulator/schedule.h"

#include <algorithm>
#include <map>

namespace sail::sim {

int64_t GradientElements(const ir::Model& model, const ir::GradientGroup& group) {
  switch (group.scope) {
    case ir::GradientScope::kLayerSharded:
      return ir::ParametersOnRank(model, model.kind(group.layer), /*tensor=*/1, group.shards).sharded / group.shards;
    case ir::GradientScope::kLayerReplicated:
      return ir::ParametersOnRank(model, model.kind(group.layer), /*tensor=*/1, /*vocab_multiple=*/1).replicated;
    case ir::GradientScope::kTiedEmbedding:
      return ir::PaddedVocab(model, group.shards) * model.embedding_width / group.shards;
  }
  SAIL_CHECK(false) << "gradient scope " << static_cast<int>(group.scope);
}

int ReducedBytesPerElement(const ir::Job& job, ir::OptimizerSharding sharding) {
  const int parameter = ir::BytesPerElement(job.precision);
  const bool is_fp32 = parameter < 4 && job.trainer.gradients != ir::GradientPrecision::kParameter;
  const int gradient = is_fp32 ? 4 : parameter;
  return sharding == ir::OptimizerSharding::kZero1 ? (gradient + parameter) / 2 : gradient;
}

std::vector<Bucket> GradientBuckets(const ir::Model& model, int bytes_per_element,
                                    const std::vector<ir::GradientGroup>& groups) {
  std::vector<Bucket> buckets;                   // in the order in which they were opened
  std::map<std::vector<ir::Rank>, size_t> open;  // owners -> bucket that still takes groups
  for (size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].owners.size() < 2) continue;
    std::vector<ir::Rank> owners;
    for (const ir::GradientOwner& owner : groups[g].owners) owners.push_back(owner.rank);
    const Bytes bytes = Bytes(GradientElements(model, groups[g])) * bytes_per_element;
    const auto [it, is_new] = open.try_emplace(owners, buckets.size());
    if (is_new || (buckets[it->second].bytes + bytes).value() > kBucketBytes) {
      it->second = buckets.size();
      buckets.push_back({.owners = std::move(owners), .groups = {}, .layer = groups[g].layer, .bytes = Bytes::Zero()});
    }
    Bucket& bucket = buckets[it->second];
    bucket.groups.push_back(static_cast<int>(g));
    bucket.bytes += bytes;
  }
  return buckets;
}

namespace {

// Appends the instructions of one rank of stage `stage` in a pipeline of `depth` stages.
class Writer {
 public:
  Writer(int stage, int depth) : is_first_(stage == 0), is_last_(stage == depth - 1) {}

  void Forward(int k) {
    if (!is_first_) Add(Op::kReceiveActivation, k);
    Add(Op::kForward, k);
  }
  void SendActivation(int k) {
    if (!is_last_) Add(Op::kSendActivation, k);
  }
  void ReceiveGradient(int k) {
    if (!is_last_) Add(Op::kReceiveGradient, k);
  }
  void Backward(int k) {
    Add(Op::kBackward, k);
    if (!is_first_) Add(Op::kSendGradient, k);
  }
  void Add(Op op, int index) { list_.push_back({.op = op, .index = index}); }
  std::vector<Instruction> Take() { return std::move(list_); }

 private:
  bool is_first_;
  bool is_last_;
  std::vector<Instruction> list_;
};

}  // namespace

std::vector<Instruction> InstructionsOf(const ir::Plan& plan, const ir::Placement& placement,
                                        const std::vector<Bucket>& buckets, ir::Rank rank, bool paired_sends) {
  const ir::RankPlace& place = placement.place(rank);
  const ir::Pipeline& pipeline = plan.pipelines[place.pipeline];
  const int depth = static_cast<int>(pipeline.stages.size());
  const int count = pipeline.micro_batches;
  const int warm_up = std::min(count, depth - 1 - place.stage);

  Writer writer(place.stage, depth);
  for (int k = 0; k < warm_up; ++k) {
    writer.Forward(k);
    writer.SendActivation(k);
  }
  for (int k = 0; k < count - warm_up; ++k) {
    writer.Forward(k + warm_up);
    if (!paired_sends) writer.SendActivation(k + warm_up);
    writer.ReceiveGradient(k);
    if (paired_sends) writer.SendActivation(k + warm_up);
    writer.Backward(k);
  }
  for (int k = count - warm_up; k < count; ++k) {
    writer.ReceiveGradient(k);
    writer.Backward(k);
  }
  for (size_t b = 0; b < buckets.size(); ++b) {
    const std::vector<ir::Rank>& owners = buckets[b].owners;
    if (std::binary_search(owners.begin(), owners.end(), rank)) writer.Add(Op::kReduce, static_cast<int>(b));
  }
  writer.Add(Op::kStep, 0);
  return writer.Take();
}

}  // namespace sail::sim
