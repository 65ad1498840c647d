// Shares the global batch among the pipelines of a plan that has its nodes. All slots must be in the table.
#pragma once

#include <vector>

#include "planner/pipeline_shapes.h"
#include "planner/stage_table.h"

namespace sail::planner {

// The rate of a placed pipeline; max_micro_batches 0 if it does not fit in memory.
PipelineRate RateOf(const StageTable& table, const ir::Pipeline& pipeline);

// By pipeline.
std::vector<PipelineRate> RatesOf(const StageTable& table, const ir::Plan& plan);

// Shares the global batch by the pipelines' rates (ShareBatch). False if that is impossible.
bool ShareByRates(const StageTable& table, const std::vector<PipelineRate>& rates, ir::Plan& plan);
bool Share(const StageTable& table, ir::Plan& plan);

}  // namespace sail::planner
