// A certificate: what no plan of the problem can beat under its cost model, and so how far from the best a plan can be.
//
// A plan with iteration time T is a set of pipelines, each of which ends within T: x_c pipelines of kind c with u_c
// GPUs by class of pools and v_c samples, Σ x_c·v_c = global batch, Σ x_c·u_c <= GPUs, Σ x_c <= R. Let V(T) be the most
// samples of any such set when x and the micro-batches of columns may be any numbers and kinds are what pricing.h knows
// of them. V(T) < global batch shows that no plan needs T or less. Weak duality bounds V from above: with prices π of
// GPUs and μ of a pipeline, if v_c <= ρ·(π·u_c + μ) for every c, which is what Pricing::FindBetter shows, then
//   V(T) <= ρ · (π·GPUs + μ·R)       (Farley 1990)
// whatever the prices are, so no rounding inside the linear programme can break the bound. Column generation finds good
// prices: while FindBetter finds a pipeline, it becomes a column. The columns say for every T what they reach, so T
// falls to where they just reach the batch; a little below it is then proven, or there is one more column. Limits on
// money per second, nodes and GPUs are more rows: a GPU takes its share of a node. A limit of C on money per iteration
// is a row, too: plans with T >= T1 pay at most C / T1 per second.
//
// Boxes. Gradient synchronisation grows with the number of pipelines, and in the classic form with the layers of the
// plan's largest stage. A box holds plans of one backend and optimizer sharding with R1 to R2 pipelines and a largest
// stage of K1 to K2 layers: they synchronise as R1 and K1 do at least, share the optimizer's state among R2 at most,
// and have the rows R1 <= Σ x <= R2 (the price of the first counts against Σ π·GPUs) and stages of at most K2 layers.
// The bound is the least of all boxes; the box that has it is improved first and cut in two when it cannot be, until
// all are within kGoodGap of the plan found or the work is used up. What is proven comes in steps: coarse ones for all
// boxes, then fine ones.
//
// Money per iteration: first the least T of each box. Then boxes have a range of T, in which they are cut, too: a plan
// with T in [T1, T2] that costs C pays C / T1 per second at most and ends within T2; whether any does is the same
// question with a row for money, and C is what is raised.
//
// Left out, so the bound may be loose: whole numbers, nodes as units, egress, where stages lie (each boundary and each
// all-reduce is the cheapest there is), `keep`, limits that are not linear in GPUs, preemptions.
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/ir/problem.h"
#include "planner/judge.h"
#include "planner/plan_outcome.h"
#include "simulator/cost_model.h"

namespace sail::planner {

// The share by which the plan's value of the term can be improved at most.
double GapTo(double bound, const ir::ObjectiveTerm& term, double value);

// Of the first term of the objective, given the best plan found; `work` counts states of shortest paths (pricing.h).
// nullopt where the term is neither a time, a rate or money, nor a value of 0 that cannot fall; and where nothing was
// proven.
std::optional<Certificate> Bound(const ir::Problem& problem, const sim::CostModel& costs, const SearchScope& scope,
                                 const ir::Report& found, int64_t work);

}  // namespace sail::planner
