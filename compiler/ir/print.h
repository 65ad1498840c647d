// Canonical JSON of every IR value (base units in the key: "bandwidth_bytes_per_s") and its strict reader.
// Pools, zones, gpus … are written by name. Same value, same bytes; Parse…(ToJson(x)) == x.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/base/json.h"
#include "compiler/ir/plan.h"
#include "compiler/ir/problem.h"
#include "compiler/ir/report.h"

namespace sail::ir {

Json ToJson(const Job& job);
Json ToJson(const Model& model);
Json ToJson(const Cluster& cluster);
Json ToJson(const Profile& profile, const Cluster& cluster);
Json ToJson(const Problem& problem);
Json ToJson(const Plan& plan, const Cluster& cluster);
Json ToJson(const Report& report, const Cluster& cluster);
Json ToJson(const std::vector<FrontPoint>& front);

absl::StatusOr<Job> ParseJob(const Json& json, std::string path);
absl::StatusOr<Model> ParseModel(const Json& json, std::string path);
absl::StatusOr<Cluster> ParseCluster(const Json& json, std::string path);
absl::StatusOr<Profile> ParseProfile(const Json& json, const Cluster& cluster, std::string path);
absl::StatusOr<Problem> ParseProblem(const Json& json, std::string path);
absl::StatusOr<Plan> ParsePlan(const Json& json, const Cluster& cluster, std::string path);
absl::StatusOr<std::vector<FrontPoint>> ParseFront(const Json& json, std::string path);

}  // namespace sail::ir
