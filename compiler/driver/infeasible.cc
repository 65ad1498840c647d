#include "compiler/driver/infeasible.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiler/driver/quantity_text.h"

namespace sail::driver {
namespace {

const ir::Constraint* FindConstraint(const ir::Job& job, const std::string& name) {
  for (const ir::Constraint& constraint : job.constraints) {
    if (constraint.name == name) return &constraint;
  }
  return nullptr;
}

// A limit that is no constraint of the job belongs to what it is about.
SourceRange PlaceOf(const LoweredJob& job, const std::string& name) {
  for (const std::string& key : {name, std::string(name == "memory" ? "model" : "resources")}) {
    const auto it = job.ranges.find(key);
    if (it != job.ranges.end()) return it->second;
  }
  return job.job;
}

void DescribeConstraint(const LoweredJob& job, const ir::Constraint& constraint, const planner::ConflictingLimit& found,
                        Diagnostic& diagnostic) {
  const absl::string_view relation = constraint.at_most ? " <= " : " >= ";
  const std::string limit = MetricText(constraint.metric, constraint.limit);
  if (!std::isfinite(found.best)) {
    diagnostic.secondary.push_back({PlaceOf(job, constraint.name), absl::StrCat("no plan reaches ", limit)});
    return;
  }
  const std::string best = MetricText(constraint.metric, found.best);
  diagnostic.secondary.push_back({PlaceOf(job, constraint.name), absl::StrCat("best reachable in this conflict: ", best,
                                                                              " (needs", relation, limit, ")")});
  if (!std::isfinite(found.relaxed)) return;
  diagnostic.helps.push_back(absl::StrCat("this removes the conflict: ", constraint.name, ": ",
                                          ir::ToString(constraint.metric), relation,
                                          MetricText(constraint.metric, found.relaxed),
                                          constraint.metric == ir::Metric::kPeakMemory ? " * gpu.memory" : ""));
}

}  // namespace

Diagnostic DiagnoseInfeasible(const LoweredJob& job, const planner::Infeasible& infeasible,
                              const std::vector<Relief>& relief) {
  const std::string& name = job.problem.job.name;
  const planner::ConflictingLimit& first = infeasible.limits.front();
  const bool memory_alone = infeasible.limits.size() == 1 && !first.is_constraint && first.name == "memory";
  const std::string count = absl::StrCat("searched ", infeasible.candidates, " plans, none feasible");
  Diagnostic diagnostic;
  diagnostic.code = memory_alone ? DiagnosticCode::kOutOfMemory : DiagnosticCode::kInfeasible;
  diagnostic.message = memory_alone ? absl::StrCat("no plan of job `", name, "` fits in the memory of its GPUs")
                                    : absl::StrCat("no plan satisfies all limits of job `", name, "`");
  diagnostic.primary = memory_alone ? Label{PlaceOf(job, "memory"), first.detail} : Label{job.objective, count};

  std::string conflict;
  for (const planner::ConflictingLimit& limit : infeasible.limits) {
    absl::StrAppend(&conflict, conflict.empty() ? "" : ", ", limit.name);
    if (limit.is_constraint) {
      DescribeConstraint(job, *FindConstraint(job.problem.job, limit.name), limit, diagnostic);
    } else if (!memory_alone) {
      diagnostic.secondary.push_back({PlaceOf(job, limit.name), limit.detail});
    }
  }
  if (memory_alone) {
    diagnostic.notes.push_back(count);
  } else {
    diagnostic.notes.push_back(absl::StrCat("limits in conflict: ", conflict));
  }
  for (const Relief& change : relief) {
    diagnostic.helps.push_back(absl::StrCat("this removes the conflict: ", change.text));
  }
  return diagnostic;
}

std::string ConflictText(const ir::Job& job, const planner::Infeasible& infeasible) {
  std::string text;
  for (const planner::ConflictingLimit& limit : infeasible.limits) {
    absl::StrAppend(&text, "    ", limit.name, ": ");
    const ir::Constraint* constraint = limit.is_constraint ? FindConstraint(job, limit.name) : nullptr;
    if (constraint == nullptr) {
      absl::StrAppend(&text, limit.detail, "\n");
    } else if (std::isfinite(limit.best)) {
      absl::StrAppend(&text, "best reachable with the others kept: ", MetricText(constraint->metric, limit.best),
                      " (needs ",
                      constraint->at_most ? "<= " : ">= ", MetricText(constraint->metric, constraint->limit), ")\n");
    } else {
      absl::StrAppend(&text, "no plan reaches ", MetricText(constraint->metric, constraint->limit), "\n");
    }
  }
  return text;
}

}  // namespace sail::driver
