// The cost model of the published simulator (eth-easl/sailor; Strati et al. 2025), so that plans can be compared
// without leaning on our own formulas. It reproduces that simulator's figures; what it leaves out, it leaves out on
// purpose.
//
//   iteration  max over pipelines of  (M − 1) · max_i (t_i + c_i) + Σ c_i + Σ t_i + U,  plus the synchronisation
//     t_i  forward + backward of stage i, layer by layer from the measurements; the largest among pipelines of a shape
//     c_i  transfers that stage i is charged: first stage one activation to the next, two beyond three stages;
//          last stage two gradients to the one before; between them one of each; one stage: none
//     U    update of the first layer of a stage, the largest of all stages
//     a transfer takes bytes / 1e9 / bw(log2(bytes / 1e6)), fp32, machines of min(degree, GPUs per node) GPUs
//   synchronisation  the largest over groups of layers: ring all-reduce of weights / min(4, smallest degree) bytes over
//     its n owners in chunks of 500 MB, 2(n − 1) · the slowest consecutive pair's transfer of bytes / n, machines of
//     one GPU; nothing overlaps. The pair (last, first) is not looked at, though it pays egress.
//   memory     24 bytes per parameter + kept floats · 4 · micro-batch · (P − i) + 2e9 (degree 1) or 3e9 bytes
//
// The published simulator knows one shape per plan. For others: each pipeline has its own M, shapes their own t_i, and
// layers are reduced in the groups that the largest stages form.
// The order of plan.pipelines is the order of the ring.
#pragma once

#include <memory>

#include "simulator/cost_model.h"
#include "simulator/public_data.h"
#include "simulator/public_network.h"

namespace sail::sim {

// `problem`, `model` and `network` must outlive the result. The problem's model has the layers of `model`; gpus and
// zones are found by PublicName; neither the problem's profile nor its links are used, except for the price of egress.
//
// What was not measured ran out of memory: StageTime is infinite there and StageMemory above every limit. Evaluate:
// NotFound naming the times or the link that are missing. InvalidArgument if the numbers of layers differ.
absl::StatusOr<std::unique_ptr<CostModel>> MakePublishedCostModel(const ir::Problem& problem, const PublicModel& model,
                                                                  const PublicNetwork& network);

}  // namespace sail::sim
