// What preemptions cost (docs/cost_model.md §6).
#pragma once

#include "compiler/ir/plan.h"
#include "compiler/ir/problem.h"
#include "compiler/ir/report.h"

namespace sail::sim {

// Writing state goes to a store at this pace from each node, and a preemption stops the job for this long until it runs
// again from the checkpoint. Assumed: a network disk; detecting, planning, moving and starting.
inline constexpr BytesPerSecond kCheckpointBandwidth(1e9);
inline constexpr Seconds kReconfiguration(60);

// The interval between checkpoints that loses least, √(2 · checkpoint · mtbf) (Young 1974; Daly 2006).
Seconds CheckpointInterval(Seconds checkpoint, Seconds mtbf);

// Share of the time that makes progress when failures come at random with mean `mtbf`, each costing the work since the
// last checkpoint and `restart`:  τ / (M · e^(R/M) · (e^((τ + C)/M) − 1))  (Daly 2006, complete model). In (0, 1).
double Goodput(Seconds interval, Seconds checkpoint, Seconds restart, Seconds mtbf);

// Bytes of weights and moments of a stage that a checkpoint holds, in fp32 or wider.
double CheckpointBytes(const ir::Problem& problem, int first_layer, int last_layer, int tensor);

// Preemptions per second of `nodes` nodes of the pool; 0 where none is known to be taken away.
double FailuresPerSecond(const ir::Pool& pool, int nodes);

// Without money. `fullest_node`: CheckpointBytes of the node that writes most. Failures must be more than zero.
ir::SpotForecast Forecast(double failures_per_second, double fullest_node);

// Fills report.spot if the plan uses a spot pool with a mean lifetime. Nodes fail independently: M = 1 / Σ nodes /
// lifetime. One pipeline writes the checkpoint, its nodes side by side: parameters and optimizer state of the fullest.
// Which pipeline, nobody says: the slowest of them is assumed.
// Expects AddMoney to have filled pools and cost.
void AddSpot(const ir::Problem& problem, const ir::Plan& plan, ir::Report& report);

}  // namespace sail::sim
