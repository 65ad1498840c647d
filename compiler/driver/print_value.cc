#include "compiler/driver/print_value.h"

#include "compiler/ir/print.h"

namespace sail::driver {

std::string PrintJob(const LoweredJob& job, Print print) {
  switch (print) {
    case Print::kJob:
      return DumpJson(ir::ToJson(job.problem.job));
    case Print::kCluster:
      return DumpJson(ir::ToJson(job.problem.cluster));
    case Print::kModel:
      return DumpJson(ir::ToJson(job.problem.model));
    case Print::kNothing:
    case Print::kAst:
    case Print::kPlan:
    case Print::kReport:
      return "";
  }
  SAIL_CHECK(false) << "print " << static_cast<int>(print);
}

std::string PrintSpec(const CheckedSpec& spec, Print print) {
  if (print == Print::kAst) return PrintAst(spec.tree());
  std::string text;
  for (const LoweredJob& job : spec.jobs) text += PrintJob(job, print);
  return text;
}

Json ToJson(const planner::Certificate& certificate) {
  return {{"bound", certificate.bound}, {"gap", certificate.gap}};
}

std::string PrintPlanned(const ir::Problem& problem, const PlannedJob& planned, Print print) {
  if (print == Print::kPlan) return DumpJson(ir::ToJson(planned.plan, problem.cluster));
  if (print == Print::kReport) return DumpJson(ir::ToJson(planned.report, problem.cluster));
  return "";
}

}  // namespace sail::driver
