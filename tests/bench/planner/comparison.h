// One scenario: the published planner's plan and ours, each under the published cost model and under our own.
#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "tests/bench/planner/problem.h"

namespace sail::bench {

// A plan under one cost model.
struct Judgement {
  double throughput = 0;  // iterations per second
  double usd = 0;         // per iteration, as the published simulator counts
  std::string fault;      // empty: the plan is valid
};

struct Search {
  Judgement found;
  std::string plan;           // its pipelines, in words
  double seconds = 0;         // wall time of everything: tables, search, verification
  std::optional<double> gap;  // share of the value; absent where the planner certifies none
};

// The cheapest plan that is as fast as the published one.
struct AsFast {
  double usd = 0;     // per iteration
  std::string fault;  // empty: the plan is valid
};

// What one cost model says.
struct Comparison {
  Judgement published;
  Search ours;
};

struct Result {
  Scenario scenario;
  Comparison published_model;
  Comparison own_model;
  std::optional<AsFast> as_fast;  // under the published model; absent where cost is the objective
  std::string fault_of_ours;      // empty, or why the scenario counts as failed
};

// Of the scenario's objective.
double ValueOf(const Scenario& scenario, const Judgement& judgement);
// How many times better than `other`, above 1: better.
double Ratio(const Scenario& scenario, const Judgement& judgement, const Judgement& other);

// An error when the scenario cannot be expressed or the published cost model does not reproduce what the published
// simulator says of its plan within 0.5 %.
absl::StatusOr<Result> Compare(const Scenario& scenario, const PlannerData& data, const Calibration& calibration);

}  // namespace sail::bench
