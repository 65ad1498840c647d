// What crosses the boundary between two stages (docs/cost_model.md §3; runtime.md's slicing).
//
// A micro-batch's activation (micro_batch · seq_len · hidden elements) is cut along the sequence into max(s, r) slices
// between tensor degrees s (sender) and r (receiver); every byte crosses once, then the receivers all-gather inside
// their node. A trainer with whole boundaries sends one slice, over one card or one GPU's link. The gradient returns
// the same way.
#pragma once

#include "compiler/ir/problem.h"

namespace sail::sim {

Bytes BoundaryBytes(const ir::Model& model, ir::Precision precision, int micro_batch);

struct Transfer {
  double bytes = 0;
  double latency = 0;  // seconds before the first byte arrives
  double rate = 0;     // bytes per second while nothing else moves
  double gather = 0;   // seconds of the receivers' all-gather
  int slices = 1;      // parallel streams
  double SecondsAlone() const { return latency + bytes / rate + gather; }
};

// One direction: from a stage of degree `from_tensor` on `from` to one of degree `to_tensor` on `to`. On one node the
// slices move over the GPUs' own links, elsewhere over the nodes' cards, which all slices share (network.h).
Transfer MakeTransfer(const ir::Problem& problem, ir::PoolId from, ir::PoolId to, int from_tensor, int to_tensor,
                      int micro_batch, bool same_node);

}  // namespace sail::sim
