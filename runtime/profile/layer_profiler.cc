#include "runtime/profile/layer_profiler.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <utility>

#include "ATen/Parallel.h"
#include "ATen/ops/arange.h"
#include "ATen/ops/full.h"
#include "ATen/ops/zeros_like.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "runtime/comm/gloo_communicator.h"
#include "runtime/engine/adamw.h"
#include "runtime/engine/gradient_sync.h"
#include "runtime/engine/rank_groups.h"
#include "runtime/model/gpt.h"
#include "runtime/torch_boundary.h"

namespace sail::rt {
namespace {

constexpr int kMostBlocks = 4;
constexpr double kRoundSeconds = 0.3;  // enough repetitions to fill it, within
constexpr int kMostRepetitions = 8;
constexpr Seconds kDeadline(600);  // of a collective: another rank may be in its first iteration of a large case

class Stopwatch {
 public:
  double Seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// One layer as a stage of its own, with everything that its optimizer step touches.
class Layer {
 public:
  Layer(const ir::Problem& problem, int layer, int degree, ir::Rank rank, Communicator* group)
      : kind_(problem.model.kind(layer)),
        optimizer_(problem.job.optimizer),
        group_(group),
        stage_(problem.model,
               {.first_layer = layer,
                .last_layer = layer,
                .degree = degree,
                .tensor_rank = group == nullptr ? 0 : group->index(),
                .shards = std::vector<int>(problem.model.layer_count(), degree)},
               problem.job.seed, at::kFloat, group),
        sync_({.model = problem.model,
               .groups = no_groups_,
               .buckets = no_buckets_,
               .communicators = no_communicators_,
               .rank = rank,
               .tensor = group},
              stage_.parameters()) {
    for (const Parameter& parameter : stage_.parameters()) {
      first_moments_.push_back(at::zeros_like(parameter.value.detach()));
      second_moments_.push_back(at::zeros_like(parameter.value.detach()));
    }
  }

  ir::LayerKind kind() const { return kind_; }
  LayerSeconds seconds() const { return seconds_; }

  void ClearGradients() {
    const Stopwatch watch;
    for (const Parameter& parameter : stage_.parameters()) parameter.value.grad().zero_();
    seconds_.optimizer = watch.Seconds();
  }
  // Returns what the next layer sees, the summed loss after the head.
  absl::StatusOr<at::Tensor> Forward(const at::Tensor& input, const at::Tensor& targets) {
    const Stopwatch watch;
    input_ = kind_ == ir::LayerKind::kEmbedding ? input : input.detach().requires_grad_();
    output_ = stage_.Forward(input_, targets);
    if (kind_ == ir::LayerKind::kHead) loss_ += output_.item<double>();
    seconds_.forward = watch.Seconds();
    if (group_ != nullptr) SAIL_RETURN_IF_ERROR(group_->status());
    return output_;
  }
  // Returns the gradient of the input, nothing after the embedding.
  absl::StatusOr<at::Tensor> Backward(const at::Tensor& output_gradient) {
    const Stopwatch watch;
    output_.backward(output_gradient);
    output_ = at::Tensor();
    const at::Tensor input = std::exchange(input_, at::Tensor());
    seconds_.backward = watch.Seconds();
    if (group_ != nullptr) SAIL_RETURN_IF_ERROR(group_->status());
    return kind_ == ir::LayerKind::kEmbedding ? at::Tensor() : input.grad();
  }
  absl::Status Update() {
    const Stopwatch watch;
    SAIL_RETURN_IF_ERROR(sync_.ShareReplicated());
    ++updates_;
    for (size_t i = 0; i < stage_.parameters().size(); ++i) {
      const Parameter& parameter = stage_.parameters()[i];
      AdamWUpdate<float>(optimizer_, parameter.spec.decays, updates_, parameter.value.numel(),
                         parameter.value.grad().data_ptr<float>(), parameter.value.data_ptr<float>(),
                         first_moments_[i].data_ptr<float>(), second_moments_[i].data_ptr<float>());
    }
    seconds_.optimizer += watch.Seconds();
    return absl::OkStatus();
  }

 private:
  ir::LayerKind kind_;
  ir::AdamW optimizer_;
  Communicator* group_;
  GptStage stage_;
  const std::vector<ir::GradientGroup> no_groups_;
  const std::vector<sim::Bucket> no_buckets_;
  const RankGroups no_communicators_;
  GradientSync sync_;
  std::vector<at::Tensor> first_moments_, second_moments_;
  int64_t updates_ = 0;
  double loss_ = 0;
  at::Tensor input_, output_;
  LayerSeconds seconds_;
};

// The layers that one tensor rank measures.
class Chain {
 public:
  Chain(const ir::Problem& problem, int degree, ir::Rank rank, Communicator* group) : model_(problem.model) {
    const int blocks = std::min(model_.blocks, kMostBlocks);
    for (int layer = 0; layer <= blocks; ++layer) Add(problem, layer, degree, rank, group);
    Add(problem, model_.layer_count() - 1, degree, rank, group);
  }

  // One iteration of one micro-batch.
  absl::Status Iterate(int micro_batch) {
    const at::Tensor tokens = at::arange(model_.seq_len * micro_batch, at::kLong)
                                  .mul_(7919)
                                  .remainder_(model_.vocab)
                                  .view({model_.seq_len, micro_batch});
    for (const auto& layer : layers_) layer->ClearGradients();
    at::Tensor state = tokens;
    for (const auto& layer : layers_) {
      SAIL_ASSIGN_OR_RETURN(state, layer->Forward(state, tokens));
    }
    state = at::full({}, 1.0 / static_cast<double>(tokens.numel()), at::kFloat);
    for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) {
      SAIL_ASSIGN_OR_RETURN(state, (*layer)->Backward(state));
    }
    for (const auto& layer : layers_) SAIL_RETURN_IF_ERROR(layer->Update());
    return absl::OkStatus();
  }
  void AddSamples(RoundSamples& samples) const {
    for (const auto& layer : layers_) samples.layers[layer->kind()].push_back(layer->seconds());
  }

 private:
  void Add(const ir::Problem& problem, int layer, int degree, ir::Rank rank, Communicator* group) {
    layers_.push_back(std::make_unique<Layer>(problem, layer, degree, rank, group));
  }

  const ir::Model& model_;
  std::vector<std::unique_ptr<Layer>> layers_;
};

using OnRound = std::function<absl::Status(const RoundSamples&)>;

// The rounds of one tensor degree, on one rank.
class DegreeProfiler {
 public:
  // `chain` is null on a rank that no group has room for: it takes part in what all ranks agree on.
  DegreeProfiler(Chain* chain, Communicator* all, const OnRound& on_round)
      : chain_(chain), all_(all), on_round_(on_round) {}

  absl::Status Run(const std::vector<ProfileCase>& cases) {
    std::vector<int> repetitions;
    for (const ProfileCase& size : cases) {
      SAIL_ASSIGN_OR_RETURN(repetitions.emplace_back(), Repetitions(size));
    }
    for (int round = 0; round < kProfileRounds; ++round) {
      for (size_t i = 0; i < cases.size(); ++i) SAIL_RETURN_IF_ERROR(Round(cases[i], repetitions[i]));
    }
    return absl::OkStatus();
  }

 private:
  // All ranks repeat equally often, so that all are busy for as long: the slowest decides. The first iteration sets up
  // threads and buffers, so the second is the one that is timed.
  absl::StatusOr<int> Repetitions(const ProfileCase& size) {
    at::Tensor seconds = at::full({1}, 0.0, at::kDouble);
    if (chain_ != nullptr) {
      SAIL_RETURN_IF_ERROR(chain_->Iterate(size.micro_batch));
      const Stopwatch watch;
      SAIL_RETURN_IF_ERROR(chain_->Iterate(size.micro_batch));
      seconds.fill_(watch.Seconds());
    }
    if (all_ != nullptr) SAIL_RETURN_IF_ERROR(all_->AllReduce(seconds, Reduction::kMax));
    return static_cast<int>(std::clamp(kRoundSeconds / seconds.item<double>(), 1.0, double{kMostRepetitions}));
  }

  absl::Status Round(const ProfileCase& size, int repetitions) {
    if (all_ != nullptr) SAIL_RETURN_IF_ERROR(all_->Barrier());
    if (chain_ == nullptr) return absl::OkStatus();
    RoundSamples samples{.size = size, .layers = {}};
    for (int i = 0; i <= repetitions; ++i) {
      SAIL_RETURN_IF_ERROR(chain_->Iterate(size.micro_batch));
      if (i > 0) chain_->AddSamples(samples);
    }
    return on_round_(samples);
  }

  Chain* chain_;
  Communicator* all_;
  const OnRound& on_round_;
};

std::vector<ir::Rank> Ranks(int first, int count) {
  std::vector<ir::Rank> ranks;
  for (int i = 0; i < count; ++i) ranks.emplace_back(first + i);
  return ranks;
}

absl::Status ProfileAll(const ir::Problem& problem, const std::vector<ProfileCase>& cases, const ProfileRank& self,
                        const ConnectGroup& connect, const OnRound& on_round) {
  std::unique_ptr<Communicator> all;
  if (self.ranks > 1) {
    SAIL_ASSIGN_OR_RETURN(all, connect(Ranks(0, self.ranks), self.rank));
  }
  for (auto first = cases.begin(); first != cases.end();) {
    const int degree = first->tensor;
    const auto last = std::find_if(first, cases.end(), [&](const ProfileCase& c) { return c.tensor != degree; });
    const int begin = self.rank.index() / degree * degree;
    const bool takes_part = begin + degree <= self.ranks;
    // The group of all ranks exists already: a store holds one group of the same ranks.
    std::unique_ptr<Communicator> own;
    if (takes_part && degree > 1 && degree < self.ranks) {
      SAIL_ASSIGN_OR_RETURN(own, connect(Ranks(begin, degree), self.rank));
    }
    Communicator* const group = degree == 1 ? nullptr : degree == self.ranks ? all.get() : own.get();
    const auto chain = takes_part ? std::make_unique<Chain>(problem, degree, self.rank, group) : nullptr;
    SAIL_RETURN_IF_ERROR(DegreeProfiler(chain.get(), all.get(), on_round).Run({first, last}));
    first = last;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ProfileLayers(const ir::Problem& problem, const std::vector<ProfileCase>& cases, const ProfileRank& self,
                           const OnRound& on_round) {
  ConnectGroup connect;  // stays empty for a rank that has no peers
  if (self.ranks > 1) {
    SAIL_ASSIGN_OR_RETURN(const GlooNetwork network, GlooNetwork::Create(self.store.host, self.store.port, kDeadline));
    connect = [network](const std::vector<ir::Rank>& members, ir::Rank rank) { return network.Connect(members, rank); };
  }
  return CatchTorch(absl::StatusCode::kInternal, absl::StrCat("rank ", self.rank.index()), [&] {
    at::set_num_threads(1);  // as in TrainRank
    return ProfileAll(problem, cases, self, connect, on_round);
  });
}

}  // namespace sail::rt
