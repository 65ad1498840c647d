#include "runtime/engine/rank_trainer.h"

#include <utility>

#include "ATen/ops/empty.h"
#include "ATen/ops/full.h"
#include "ATen/ops/zeros_like.h"
#include "compiler/base/check.h"
#include "compiler/base/status_macros.h"
#include "runtime/engine/adamw.h"

namespace sail::rt {
namespace {

at::ScalarType TypeOf(ir::Precision precision) { return precision == ir::Precision::kFp64 ? at::kDouble : at::kFloat; }

template <class Real>
void UpdateParameter(const ir::AdamW& options, int64_t update, const Parameter& parameter, const at::Tensor& first,
                     const at::Tensor& second) {
  AdamWUpdate<Real>(options, parameter.spec.decays, update, parameter.value.numel(),
                    parameter.value.grad().data_ptr<Real>(), parameter.value.data_ptr<Real>(), first.data_ptr<Real>(),
                    second.data_ptr<Real>());
}

}  // namespace

RankTrainer::RankTrainer(const Bundle& bundle, ir::Rank rank)
    : bundle_(bundle),
      placement_(bundle.plan),
      rank_(rank),
      place_(placement_.place(rank)),
      pipeline_(bundle.plan.pipelines[place_.pipeline]),
      order_(static_cast<int64_t>(bundle.tokens.size()), bundle.problem.model.seq_len, bundle.problem.job.seed),
      scale_(1.0 / static_cast<double>(GlobalBatch(bundle.plan) * bundle.problem.model.seq_len)),
      groups_(ir::GradientGroups(bundle.problem.model, bundle.plan, placement_)),
      buckets_(sim::GradientBuckets(bundle.problem.model, ir::BytesPerElement(bundle.problem.job.precision), groups_)),
      instructions_(sim::InstructionsOf(bundle.plan, placement_, buckets_, rank)),
      stash_(pipeline_.micro_batches) {}

absl::StatusOr<std::unique_ptr<RankTrainer>> RankTrainer::Create(const Bundle& bundle, ir::Rank rank,
                                                                 const ConnectGroup& connect) {
  auto trainer = std::unique_ptr<RankTrainer>(new RankTrainer(bundle, rank));
  SAIL_ASSIGN_OR_RETURN(trainer->communicators_,
                        RankGroups::Connect(trainer->placement_, trainer->buckets_, rank, connect));
  trainer->BuildStage();
  return trainer;
}

void RankTrainer::BuildStage() {
  const ir::Model& model = bundle_.problem.model;
  const ir::Stage& stage = pipeline_.stages[place_.stage];
  const std::vector<ir::Rank>& here = placement_.tensor_group(place_.pipeline, place_.stage);
  const at::ScalarType type = TypeOf(bundle_.problem.job.precision);
  tensor_ = communicators_.Find(here);

  StageShape shape{.first_layer = stage.first_layer,
                   .last_layer = stage.last_layer,
                   .degree = stage.group.degree(),
                   .tensor_rank = place_.tensor_rank,
                   .shards = {}};
  for (int layer = 0; layer < model.layer_count(); ++layer) {
    shape.shards.push_back(ir::ShardCount(model, bundle_.plan, layer));
  }
  stage_ = std::make_unique<GptStage>(model, shape, bundle_.problem.job.seed, type, tensor_);
  for (const Parameter& parameter : stage_->parameters()) {
    first_moments_.push_back(at::zeros_like(parameter.value.detach()));
    second_moments_.push_back(at::zeros_like(parameter.value.detach()));
  }
  sync_.emplace(GradientSync::Inputs{.model = model,
                                     .groups = groups_,
                                     .buckets = buckets_,
                                     .communicators = communicators_,
                                     .rank = rank_,
                                     .tensor = tensor_},
                stage_->parameters());

  const auto boundary = [&](int neighbour, Direction sends) {
    return Boundary({.here = here,
                     .there = placement_.tensor_group(place_.pipeline, neighbour),
                     .sends = sends,
                     .micro_batches = pipeline_.micro_batches,
                     .shape = {model.seq_len, pipeline_.micro_batch, model.hidden},
                     .type = type,
                     .all = communicators_.all(),
                     .tensor = tensor_});
  };
  if (!is_first()) before_.emplace(boundary(place_.stage - 1, Direction::kGradient));
  if (!is_last()) after_.emplace(boundary(place_.stage + 1, Direction::kActivation));
}

at::Tensor RankTrainer::Tokens(int k, int64_t shift) const {
  const int64_t s = bundle_.problem.model.seq_len;
  const int64_t b = pipeline_.micro_batch;
  at::Tensor tokens = at::empty({s, b}, at::kLong);
  auto* out = tokens.data_ptr<int64_t>();
  const int64_t first = step_ * GlobalBatch(bundle_.plan) + FirstSample(bundle_.plan, place_.pipeline, k);
  for (int64_t j = 0; j < b; ++j) {
    const int64_t begin = order_.FirstToken(first + j) + shift;
    for (int64_t i = 0; i < s; ++i) out[i * b + j] = bundle_.tokens[begin + i];
  }
  return tokens;
}

absl::Status RankTrainer::Forward(int k) {
  Stash& stash = stash_[k];
  const at::Tensor targets = is_last() ? Tokens(k, 1) : at::Tensor();
  stash.output = stage_->Forward(is_first() ? Tokens(k, 0) : stash.input, targets);
  if (tensor_ != nullptr) SAIL_RETURN_IF_ERROR(tensor_->status());
  if (is_last()) {
    loss_ += stash.output.item<double>() * scale_;
    stash.output_gradient = at::full({}, scale_, stash.output.options());
  }
  return absl::OkStatus();
}

absl::Status RankTrainer::Backward(int k) {
  Stash& stash = stash_[k];
  stash.output.backward(stash.output_gradient);
  stash = {.input = stash.input, .output = {}, .output_gradient = {}};
  return tensor_ == nullptr ? absl::OkStatus() : tensor_->status();
}

absl::Status RankTrainer::Play(const sim::Instruction& instruction) {
  const int k = instruction.index;
  switch (instruction.op) {
    case sim::Op::kReceiveActivation: {
      SAIL_ASSIGN_OR_RETURN(stash_[k].input, before_->Receive(k));
      stash_[k].input.requires_grad_();
      return absl::OkStatus();
    }
    case sim::Op::kForward:
      return Forward(k);
    case sim::Op::kSendActivation:
      return after_->Send(k, stash_[k].output.detach());
    case sim::Op::kReceiveGradient: {
      SAIL_ASSIGN_OR_RETURN(stash_[k].output_gradient, after_->Receive(k));
      return absl::OkStatus();
    }
    case sim::Op::kBackward:
      return Backward(k);
    case sim::Op::kSendGradient: {
      const at::Tensor input = std::exchange(stash_[k].input, at::Tensor());
      return before_->Send(k, input.grad());
    }
    case sim::Op::kReduce:
      return sync_->Reduce(k);
    case sim::Op::kStep:
      return Update();
  }
  SAIL_CHECK(false) << "instruction " << static_cast<int>(instruction.op);
}

absl::Status RankTrainer::Update() {
  SAIL_RETURN_IF_ERROR(sync_->ShareReplicated());
  ++step_;
  for (size_t i = 0; i < stage_->parameters().size(); ++i) {
    const auto update =
        first_moments_[i].scalar_type() == at::kDouble ? UpdateParameter<double> : UpdateParameter<float>;
    update(bundle_.problem.job.optimizer, step_, stage_->parameters()[i], first_moments_[i], second_moments_[i]);
  }
  return absl::OkStatus();
}

// The ranks of a last stage's tensor group all know its loss; one of them counts.
absl::StatusOr<double> RankTrainer::ShareLoss() const {
  if (communicators_.all() == nullptr) return loss_;
  at::Tensor total = at::full({1}, is_last() && place_.tensor_rank == 0 ? loss_ : 0, at::kDouble);
  SAIL_RETURN_IF_ERROR(communicators_.all()->AllReduce(total, Reduction::kSum));
  return total.item<double>();
}

absl::StatusOr<double> RankTrainer::Step() {
  loss_ = 0;
  for (const Parameter& parameter : stage_->parameters()) parameter.value.grad().zero_();
  if (before_.has_value()) before_->Start();
  if (after_.has_value()) after_->Start();
  for (const sim::Instruction& instruction : instructions_) SAIL_RETURN_IF_ERROR(Play(instruction));
  if (before_.has_value()) SAIL_RETURN_IF_ERROR(before_->Finish());
  if (after_.has_value()) SAIL_RETURN_IF_ERROR(after_->Finish());
  return ShareLoss();
}

}  // namespace sail::rt
