// One rank's share of the training: its stage, its communicators, its part of the schedule.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/placement.h"
#include "runtime/bundle/bundle.h"
#include "runtime/comm/communicator.h"
#include "runtime/engine/boundary.h"
#include "runtime/engine/gradient_sync.h"
#include "runtime/engine/rank_groups.h"
#include "runtime/engine/sample_order.h"
#include "runtime/model/gpt.h"
#include "simulator/schedule.h"

namespace sail::rt {

class RankTrainer {
 public:
  // Connects to all peers, then builds the stage. `bundle` must outlive the trainer; its plan must be sound and its
  // model trainable. Unavailable: a peer did not come in time.
  static absl::StatusOr<std::unique_ptr<RankTrainer>> Create(const Bundle& bundle, ir::Rank rank,
                                                             const ConnectGroup& connect);

  // One iteration: plays the instruction list, updates the parameters. Returns the mean loss over the tokens of the
  // global batch before the update, the same on every rank. After an error the trainer is of no further use.
  absl::StatusOr<double> Step();

  // As this rank holds them. Until the next step the gradients are those of the last one, of the whole global batch.
  const std::vector<Parameter>& parameters() { return stage_->parameters(); }

 private:
  RankTrainer(const Bundle& bundle, ir::Rank rank);

  void BuildStage();
  absl::Status Play(const sim::Instruction& instruction);
  absl::Status Forward(int k);
  absl::Status Backward(int k);
  absl::Status Update();
  absl::StatusOr<double> ShareLoss() const;
  // Inputs (shift 0) or targets (shift 1) of micro-batch k: [sequence, micro-batch] int64.
  at::Tensor Tokens(int k, int64_t shift) const;
  bool is_first() const { return place_.stage == 0; }
  bool is_last() const { return place_.stage + 1 == static_cast<int>(pipeline_.stages.size()); }

  // What one micro-batch leaves for its backward pass.
  struct Stash {
    at::Tensor input;   // leaf whose gradient is wanted; undefined on the first stage
    at::Tensor output;  // activation, or summed loss on the last stage
    at::Tensor output_gradient;
  };

  const Bundle& bundle_;
  ir::Placement placement_;
  ir::Rank rank_;
  ir::RankPlace place_;
  const ir::Pipeline& pipeline_;
  SampleOrder order_;
  double scale_;  // 1 / tokens of the global batch: with it a plain sum is the gradient of the mean

  std::vector<ir::GradientGroup> groups_;
  std::vector<sim::Bucket> buckets_;
  std::vector<sim::Instruction> instructions_;

  RankGroups communicators_;
  Communicator* tensor_ = nullptr;
  std::unique_ptr<GptStage> stage_;
  std::optional<GradientSync> sync_;
  std::optional<Boundary> before_;                          // to the previous stage
  std::optional<Boundary> after_;                           // to the next stage
  std::vector<at::Tensor> first_moments_, second_moments_;  // by parameter

  int64_t step_ = 0;          // finished
  std::vector<Stash> stash_;  // by micro-batch, emptied by its backward pass
  double loss_ = 0;           // of this rank's micro-batches so far
};

}  // namespace sail::rt
