#include "runtime/bundle/fallbacks.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "compiler/ir/placement.h"
#include "compiler/ir/plan_file.h"
#include "compiler/ir/verify_plan.h"
#include "runtime/bundle/nodes.h"
#include "runtime/bundle/trainable.h"

namespace sail::rt {
namespace {

absl::Status CheckLoss(const Bundle& bundle, const Fallback& fallback, const std::set<std::string>& nodes) {
  if (fallback.zone.has_value() != fallback.nodes.empty()) {
    return absl::InvalidArgumentError("expected nodes or a zone that is lost");
  }
  const int zones = static_cast<int>(bundle.problem.cluster.zones.size());
  if (fallback.zone && (*fallback.zone < 0 || *fallback.zone >= zones)) {
    return absl::InvalidArgumentError(absl::StrCat("the cluster has no zone ", *fallback.zone));
  }
  for (const std::string& node : fallback.nodes) {
    if (!nodes.contains(node)) return absl::InvalidArgumentError(absl::StrCat("no rank is on node '", node, "'"));
  }
  return absl::OkStatus();
}

absl::Status CheckPlan(const Bundle& bundle, const Fallback& fallback) {
  SAIL_ASSIGN_OR_RETURN(ir::PlanFile file, ir::ParsePlanFile(fallback.plan_file, FallbackPath(fallback)));
  if (!file.origin || file.origin->plan_hash != bundle.plan_hash) {
    return absl::InvalidArgumentError("was not made from the plan of the bundle");
  }
  SAIL_RETURN_IF_ERROR(ir::VerifyPlanStructure(file.problem, file.plan));
  SAIL_RETURN_IF_ERROR(CheckTrainable(file.problem, file.plan));
  std::vector<ir::Pool>& pools = file.problem.cluster.pools;
  for (size_t p = 0; p < std::min(pools.size(), bundle.problem.cluster.pools.size()); ++p) {
    pools[p].quota = bundle.problem.cluster.pools[p].quota;
  }
  if (file.problem != bundle.problem) return absl::InvalidArgumentError("is of another problem than the bundle");
  return absl::OkStatus();
}

}  // namespace

std::string FallbackPath(const Fallback& fallback) {
  return fallback.zone ? absl::StrCat(kFallbackDirectory, "zone-", *fallback.zone, ".sailplan")
                       : absl::StrCat(kFallbackDirectory, "node-", fallback.nodes.front(), ".sailplan");
}

Json FallbacksJson(const std::vector<Fallback>& fallbacks) {
  Json list = Json::array();
  for (const Fallback& fallback : fallbacks) {
    Json entry = Json::object();
    if (fallback.zone) {
      entry["zone"] = *fallback.zone;
    } else {
      entry["nodes"] = fallback.nodes;
    }
    if (!fallback.plan_file.empty()) entry["file"] = FallbackPath(fallback);
    list.push_back(std::move(entry));
  }
  return list;
}

absl::StatusOr<std::vector<Fallback>> ParseFallbacks(const Json& json) {
  if (!json.is_array()) return absl::InvalidArgumentError("bundle.fallbacks: expected a list");
  std::vector<Fallback> fallbacks;
  for (size_t i = 0; i < json.size(); ++i) {
    const std::string what = absl::StrCat("bundle.fallbacks[", i, "]");
    ObjectReader reader(json[i], what);
    Fallback& fallback = fallbacks.emplace_back();
    if (reader.Has("zone")) {
      reader.Get("zone", &fallback.zone.emplace());
    } else {
      reader.Get("nodes", &fallback.nodes);
    }
    if (reader.Has("file")) reader.Get("file", &fallback.plan_file);
    SAIL_RETURN_IF_ERROR(reader.Finish());
    if (!fallback.zone && fallback.nodes.empty()) return absl::InvalidArgumentError(absl::StrCat(what, ": no node"));
    if (!fallback.plan_file.empty() && fallback.plan_file != FallbackPath(fallback)) {
      return absl::InvalidArgumentError(absl::StrCat(what, ".file: expected '", FallbackPath(fallback), "'"));
    }
  }
  return fallbacks;
}

absl::Status CheckFallbacks(const Bundle& bundle) {
  std::set<std::string> nodes;
  for (const Node& node : NodesOf(bundle.problem.cluster, ir::Placement(bundle.plan))) nodes.insert(node.name);
  for (size_t i = 0; i < bundle.fallbacks.size(); ++i) {
    const Fallback& fallback = bundle.fallbacks[i];
    absl::Status status = CheckLoss(bundle, fallback, nodes);
    if (status.ok() && !fallback.plan_file.empty()) status = CheckPlan(bundle, fallback);
    if (!status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("bundle.fallbacks[", i, "]: ", status.message()));
    }
  }
  return absl::OkStatus();
}

}  // namespace sail::rt
