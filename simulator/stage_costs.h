// Times of stages from the profile, through a dense table built once per problem.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "compiler/ir/plan.h"
#include "compiler/ir/problem.h"
#include "simulator/cost_model.h"
#include "simulator/memory_model.h"

namespace sail::sim {

struct StageTimes {
  double forward = 0;    // seconds, one micro-batch
  double backward = 0;   // what is computed again included
  double optimizer = 0;  // seconds, once per iteration
  bool is_measured = true;
  double embedding_backward = 0;  // its part of `backward`
  double block_backward = 0;      // of one block

  // Of one micro-batch's backward, the time after `layer` has its gradients: that of the layers before it.
  double BackwardBefore(int first_layer, int layer) const {
    const bool has_embedding = first_layer == 0 && layer > 0;
    return (has_embedding ? embedding_backward : 0) + (layer - first_layer - (has_embedding ? 1 : 0)) * block_backward;
  }
};

class StageCosts {
 public:
  // `problem` must outlive this and have a complete profile.
  explicit StageCosts(const ir::Problem& problem);

  // O(1): a stage is an embedding, a head and a number of equal blocks. A tied word embedding that the stage holds
  // twice is stepped once. Blocks that recompute run their forward again in backward, or the attention's share of it
  // by FLOPs: 4·s²·w of ForwardFlopsPerSample; embedding and head never do.
  StageTimes Times(const StageShape& stage) const;
  // What was measured of them; empty where nothing was.
  MeasuredActivations Activations(ir::PoolId pool, int tensor, int micro_batch) const;
  // NotFound naming the first profile entry that the plan needs and the problem lacks.
  absl::Status CheckProfile(const ir::Plan& plan) const;
  const ir::Problem& problem() const { return problem_; }
  // The multiple to which a vocabulary is padded at most: the largest tensor degree of the job.
  int largest_tensor() const { return largest_tensor_; }

 private:
  // Part of a block's forward that its backward repeats.
  double RepeatedShare(ir::Recompute recompute) const;
  // Null where the profile has no entry.
  const ir::LayerTime* Find(ir::LayerKind kind, ir::GpuId gpu, int tensor, int micro_batch) const;

  const ir::Problem& problem_;
  std::vector<int> tensor_index_;  // by degree; -1: not in the profile
  std::vector<int> micro_index_;   // by micro-batch
  int tensor_count_ = 0;
  int micro_count_ = 0;
  std::vector<const ir::LayerTime*> table_;  // [gpu][tensor][micro][kind], null where the profile has no entry
  bool has_activations_ = false;             // any of them
  int largest_tensor_ = 1;
  double attention_share_ = 0;  // of a block's forward: what selective recomputation repeats
};

}  // namespace sail::sim
