// What is predicted of a plan, as tables: for the terminal (render.h) and for the page (report_page.h).
#pragma once

#include "compiler/driver/alike_pipelines.h"
#include "compiler/driver/table.h"
#include "compiler/ir/plan.h"
#include "compiler/ir/problem.h"
#include "compiler/ir/report.h"

namespace sail::driver {

// Where the stages of a group run, how full and how busy they are.
Table StageTable(const ir::Problem& problem, const ir::Plan& plan, const ir::Report& report, const Alike& group);

// The parts of an iteration along the slowest pipeline, and their sum.
Table PartsTable(const ir::Report& report);

// Seconds that each stage computes and waits.
Table BusyTable(const ir::Plan& plan, const ir::Report& report);

// A row for each term, a column for each of the stages first..last of a group; their sums, limits and what is left.
Table MemoryTable(const ir::Plan& plan, const ir::Report& report, const Alike& group, int first, int last);

// What an iteration costs, item by item: nodes by pool, egress by link, each with the sum so far.
Table MoneyTable(const ir::Problem& problem, const ir::Report& report);

// Bytes between different nodes, by zones, with the price of the link.
Table TrafficTable(const ir::Problem& problem, const ir::Report& report);

// The limits of the job, what is predicted, and the share that is left.
Table LimitsTable(const ir::Problem& problem, const ir::Report& report);

}  // namespace sail::driver
