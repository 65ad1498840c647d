// `assert` and `warn`: conditions on the specification, checked with it, and conditions on the plan, which name `plan`.
#pragma once

#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/ir/plan.h"
#include "compiler/ir/problem.h"
#include "compiler/ir/report.h"
#include "compiler/passes/analysis.h"
#include "compiler/passes/value.h"

namespace sail {

// Checks the assertions that do not name `plan`, and that those that do stand where a plan will be known: in a job or
// at the top level. A false one is SAIL0510 (SAIL0511 for `warn`) with the value of each side of its comparisons.
void CheckAssertions(Analysis& analysis, const SourceManager& sources, DiagnosticSink& sink);

// The assertions about a plan that hold for `job`: its own, and those at the top level.
void CheckPlanAssertions(Analysis& analysis, const CheckedBlock& job, const Value& plan, const SourceManager& sources,
                         DiagnosticSink& sink);

// What `plan` stands for. Numbers are exact where the plan has integers and rounded to twelve digits elsewhere:
//   regions, zones: texts;  pools: a map of { nodes, gpus, zone, machine, market } by name, used or not;
//   links: a list of { from, to, latency, bandwidth, egress, bytes }, one for each pair of zones that talk to each
//   other; pipelines: a list of { stages, micro_batch, micro_batches };  nodes, gpus, and every metric of objectives.
Value PlanValue(const ir::Problem& problem, const ir::Plan& plan, const ir::Report& report);

}  // namespace sail
