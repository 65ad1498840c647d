// The independent checker. Shares no code with planner/: the thing that searches never decides what is valid.
#pragma once

#include "absl/status/status.h"
#include "compiler/ir/plan.h"
#include "compiler/ir/problem.h"
#include "compiler/ir/report.h"

namespace sail::ir {

// Structure: every pipeline covers layers 0..L-1 once and in order; samples add up to the global batch; micro-batch,
// tensor degree, depth, recomputation and optimizer sharding are candidates of the job; a tensor group lies in one
// existing node of its pool and names ascending, existing GPUs; no GPU is used twice; degrees divide heads and
// feed-forward; the backend of all GPUs is the same. InvalidArgument naming the first fault and its place.
absl::Status VerifyPlanStructure(const Problem& problem, const Plan& plan);

// Structure, and then: `report` describes this plan (its stages, nodes and GPUs match), every stage's memory is within
// its limit, every constraint of the job is in the report and holds.
absl::Status VerifyPlan(const Problem& problem, const Plan& plan, const Report& report);

}  // namespace sail::ir
