#include "simulator/transfer_cost.h"

#include <algorithm>

#include "simulator/backend_constants.h"
#include "simulator/link_curve.h"
#include "simulator/network.h"

namespace sail::sim {

Bytes BoundaryBytes(const ir::Model& model, ir::Precision precision, int micro_batch) {
  return Bytes(micro_batch) * model.seq_len * model.hidden * ir::BytesPerElement(precision);
}

Transfer MakeTransfer(const ir::Problem& problem, ir::PoolId from, ir::PoolId to, int from_tensor, int to_tensor,
                      int micro_batch, bool same_node) {
  const ir::Cluster& cluster = problem.cluster;
  const double bytes = static_cast<double>(BoundaryBytes(problem.model, problem.job.precision, micro_batch).value());
  const bool is_whole = problem.job.trainer.whole_boundaries;
  Transfer transfer{.bytes = bytes, .slices = is_whole ? 1 : std::max(from_tensor, to_tensor)};
  const double receiver_intra = cluster.machine(to).intra_node.value();
  const double receiver_latency = ConstantsOf(cluster.gpu(to).backend).intra_node_latency.value();
  if (same_node) {
    transfer.latency = receiver_latency;
    transfer.rate = (is_whole ? 1 : std::min(from_tensor, to_tensor)) * receiver_intra;
  } else {
    const ir::Link& link = cluster.link(from, to);
    transfer.latency = link.latency.value();
    transfer.rate = HopRate(cluster, from, to, transfer.slices);
    if (!link.sends.empty()) {
      // A flow carries one slice; flows that share a node's part of the link take as long as one with all of them.
      const double message = link.share == ir::LinkShare::kPerFlow ? bytes / transfer.slices : bytes;
      transfer.latency = std::max(0.0, CurveSeconds(link.sends, message) - bytes / transfer.rate);
    }
  }
  if (to_tensor > 1) {
    const double others = to_tensor - 1;
    transfer.gather = others * receiver_latency + others / to_tensor * bytes / receiver_intra;
  }
  return transfer;
}

}  // namespace sail::sim
