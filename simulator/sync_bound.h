// How long gradients take at least, for a certificate that no plan is better.
#pragma once

#include "compiler/ir/problem.h"
#include "simulator/cost_model.h"

namespace sail::sim {

// Seconds that the closed form adds, at least, between the last backward and the step of tensor rank 0 of the stage in
// any plan of at least `replicas` pipelines. Zero for a trainer that overlaps, for one replica, and where all-reduces
// were measured: a measured curve need not be concave.
//
// The rank takes part in buckets one after the other from the end of its last backward, so they add up. Together they
// hold its gradients b of the stage's layers: with T shards of which the rank has T/t, each 1/T, no fewer than 1/t (a
// vocabulary is padded to T, which is no less than padded to t). One all-reduce of b takes at least, where n is the
// number of nodes with owners in the rank's zone and w the least number of owners on these:
//   all owners on the rank's node    R owners inside it, if that many fit: the pipeline's t GPUs and
//                                    one of the smallest degree for each other
//   n > 1                            w inside the node, w ≤ as many as fit, and a ring over n nodes with w streams,
//                                    whose rate is no more than that of the rank's own card and zone; n ≥ 2, and if
//                                    there is one zone, n ≥ R / what fits on a node
//   n = 1 and other zones            a ring between zones, no faster than that over two of them on the fastest link
// Each is affine in b or, with the double tree, the lesser of two that are: the least of all is concave and 0 or more
// at 0, so buckets take no less than one of their sum. More owners take no less time in any of the three.
double LeastSyncSeconds(const ir::Problem& problem, const StageShape& stage, int replicas);

}  // namespace sail::sim
