#include "compiler/ir/plan_file.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/sha256.h"
#include "compiler/base/status_macros.h"
#include "compiler/ir/print.h"

namespace sail::ir {
namespace {

constexpr absl::string_view kFormat = "1.0";
constexpr absl::string_view kMajor = "1.";

std::string HashOf(const Json& json) { return absl::StrCat("sha256:", Sha256Hex(DumpJson(json))); }

std::string HashOfPlan(const Json& inputs, const Json& decisions) {
  return HashOf({{"inputs", inputs}, {"decisions", decisions}});
}

std::string HashOfPredictions(const Json& predictions, const Json* front) {
  return HashOf(front == nullptr ? predictions : Json{{"predictions", predictions}, {"front", *front}});
}

absl::Status CheckHash(absl::string_view name, absl::string_view field, const std::string& stated,
                       const std::string& actual) {
  if (stated == actual) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("plan '", name, "': ", field, " does not match its content; make the plan again with `sailc plan`"));
}

// {"semantics", "nodes": {pool: [number before, …]}}
Json ReplanJson(const PlanOrigin& origin, const Cluster& cluster) {
  Json nodes = Json::object();
  for (size_t p = 0; p < origin.was.size(); ++p) nodes[cluster.pools[p].name] = origin.was[p];
  return {{"semantics", origin.semantics}, {"nodes", nodes}};
}

absl::StatusOr<PlanOrigin> ParseOrigin(std::string plan_hash, const Json& json, const Cluster& cluster,
                                       const std::string& what) {
  PlanOrigin origin{.plan_hash = std::move(plan_hash), .was = {}};
  ObjectReader reader(json, what);
  reader.Get("semantics", &origin.semantics);
  const Json& nodes = reader.Raw("nodes");
  SAIL_RETURN_IF_ERROR(reader.Finish());
  ObjectReader node_reader(nodes, absl::StrCat(what, ".nodes"));
  for (const Pool& pool : cluster.pools) {
    std::vector<int>& was = origin.was.emplace_back();
    node_reader.Get(pool.name, &was);
    if (was.size() != static_cast<size_t>(pool.quota)) node_reader.Fail(pool.name, "expected a number for each node");
  }
  SAIL_RETURN_IF_ERROR(node_reader.Finish());
  return origin;
}

}  // namespace

std::string PlanHash(const Problem& problem, const Plan& plan) {
  return HashOfPlan(ToJson(problem), ToJson(plan, problem.cluster));
}

std::string PrintPlanFile(const Problem& problem, const Plan& plan, const Report& report,
                          const std::vector<FrontPoint>& front, const std::optional<PlanOrigin>& origin) {
  Json file = {{"format", std::string(kFormat)},
               {"kind", "sailplan"},
               {"inputs", ToJson(problem)},
               {"decisions", ToJson(plan, problem.cluster)},
               {"predictions", ToJson(report, problem.cluster)}};
  file["plan_hash"] = HashOfPlan(file["inputs"], file["decisions"]);
  if (!front.empty()) file["front"] = ToJson(front);
  if (origin) {
    file["from"] = origin->plan_hash;
    file["replan"] = ReplanJson(*origin, problem.cluster);
  }
  file["prediction_hash"] = HashOfPredictions(file["predictions"], front.empty() ? nullptr : &file["front"]);
  return DumpJson(file);
}

absl::StatusOr<PlanFile> ParsePlanFile(absl::string_view text, absl::string_view name) {
  const std::string what = absl::StrCat("plan '", name, "'");
  SAIL_ASSIGN_OR_RETURN(const Json json, ParseJson(text, what));
  ObjectReader reader(json, what);
  std::string format, kind, plan_hash, prediction_hash;
  reader.Get("kind", &kind);
  reader.Get("format", &format);
  if (kind != "sailplan") reader.Fail("kind", "not a sailplan file");
  if (!absl::StartsWith(format, kMajor)) {
    reader.Fail("format", absl::StrCat("version ", format, " is not readable; this sailc reads ", kFormat));
  }
  reader.Get("plan_hash", &plan_hash);
  reader.Get("prediction_hash", &prediction_hash);
  const Json& inputs = reader.Raw("inputs");
  const Json& decisions = reader.Raw("decisions");
  const Json& predictions = reader.Raw("predictions");
  const Json* front = reader.Has("front") ? &reader.Raw("front") : nullptr;
  std::string from;
  const Json* replan = nullptr;
  if (reader.Has("from") || reader.Has("replan")) {
    reader.Get("from", &from);
    replan = &reader.Raw("replan");
  }
  SAIL_RETURN_IF_ERROR(reader.Finish());
  SAIL_RETURN_IF_ERROR(CheckHash(name, "plan_hash", plan_hash, HashOfPlan(inputs, decisions)));
  SAIL_RETURN_IF_ERROR(CheckHash(name, "prediction_hash", prediction_hash, HashOfPredictions(predictions, front)));

  PlanFile file;
  file.plan_hash = std::move(plan_hash);
  SAIL_ASSIGN_OR_RETURN(file.problem, ParseProblem(inputs, absl::StrCat(what, " inputs")));
  SAIL_ASSIGN_OR_RETURN(file.plan, ParsePlan(decisions, file.problem.cluster, absl::StrCat(what, " decisions")));
  if (front != nullptr) {
    SAIL_ASSIGN_OR_RETURN(file.front, ParseFront(*front, absl::StrCat(what, " front")));
  }
  if (replan != nullptr) {
    SAIL_ASSIGN_OR_RETURN(file.origin,
                          ParseOrigin(std::move(from), *replan, file.problem.cluster, absl::StrCat(what, " replan")));
  }
  return file;
}

}  // namespace sail::ir
