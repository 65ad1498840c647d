#include "runtime/bundle/bundle_json.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/json.h"
#include "compiler/base/number_text.h"
#include "compiler/base/status_macros.h"
#include "compiler/ir/print.h"
#include "compiler/ir/verify_plan.h"
#include "runtime/bundle/fallbacks.h"
#include "runtime/bundle/nodes.h"
#include "runtime/bundle/trainable.h"

namespace sail::rt {
namespace {

constexpr absl::string_view kFormat = "1.0";
constexpr absl::string_view kKind = "sail-bundle";

struct RankRow {
  int rank = 0;
  std::string node;
  int gpu = 0;
  int pipeline = 0;
  int stage = 0;
  int tensor_rank = 0;
  friend bool operator==(const RankRow&, const RankRow&) = default;
};

std::vector<RankRow> RankTable(const Bundle& bundle) {
  const ir::Placement placement(bundle.plan);
  std::vector<RankRow> table;
  for (int i = 0; i < placement.rank_count(); ++i) {
    const ir::RankPlace& place = placement.place(ir::Rank(i));
    table.push_back({i, NodeName(bundle.problem.cluster, place.pool, place.node), place.gpu, place.pipeline,
                     place.stage, place.tensor_rank});
  }
  return table;
}

absl::Status ParseRankTable(const Json& json, std::vector<RankRow>* table) {
  if (!json.is_array()) return absl::InvalidArgumentError("bundle.ranks: expected a list");
  for (size_t i = 0; i < json.size(); ++i) {
    ObjectReader reader(json[i], absl::StrCat("bundle.ranks[", i, "]"));
    RankRow row;
    reader.Get("rank", &row.rank);
    reader.Get("node", &row.node);
    reader.Get("gpu", &row.gpu);
    reader.Get("pipeline", &row.pipeline);
    reader.Get("stage", &row.stage);
    reader.Get("tensor_rank", &row.tensor_rank);
    SAIL_RETURN_IF_ERROR(reader.Finish());
    table->push_back(row);
  }
  return absl::OkStatus();
}

// GPUs of the node called `name`, or -1 if the cluster has no such node.
int GpusOfNode(const ir::Cluster& cluster, absl::string_view name) {
  for (size_t i = 0; i < cluster.pools.size(); ++i) {
    const ir::PoolId pool(static_cast<int>(i));
    for (int node = 0; node < cluster.pool(pool).quota; ++node) {
      if (NodeName(cluster, pool, node) == name) return cluster.machine(pool).gpus_per_node;
    }
  }
  return -1;
}

absl::Status CheckRankTable(const Bundle& bundle, const std::vector<RankRow>& table) {
  std::map<std::string, int> processes;
  for (const RankRow& row : table) ++processes[row.node];
  for (const auto& [node, count] : processes) {
    const int gpus = GpusOfNode(bundle.problem.cluster, node);
    if (gpus < 0) return absl::InvalidArgumentError(absl::StrCat("bundle.ranks: the cluster has no node '", node, "'"));
    if (count > gpus) {
      return absl::InvalidArgumentError(
          absl::StrCat("bundle.ranks: ", count, " processes on node '", node, "', which has ", gpus, " GPUs"));
    }
  }
  if (table != RankTable(bundle)) return absl::InvalidArgumentError("bundle.ranks: differs from the plan's ranks");
  return absl::OkStatus();
}

bool IsFileName(absl::string_view name) {
  if (name.empty() || name[0] == '.' || name[0] == '-') return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-'; });
}

absl::Status CheckTokens(const Bundle& bundle) {
  const int64_t needed = bundle.problem.model.seq_len + 1;  // a sample and its targets, shifted by one
  const int64_t present = static_cast<int64_t>(bundle.tokens.size());
  if (present < needed) {
    return absl::InvalidArgumentError(
        absl::StrCat("the text has ", CountText(present, "token"), ", one sample needs ", needed));
  }
  const uint16_t largest = *std::max_element(bundle.tokens.begin(), bundle.tokens.end());
  if (largest >= bundle.problem.model.vocab) {
    return absl::InvalidArgumentError(absl::StrCat("the text holds token ", largest, ", model '",
                                                   bundle.problem.model.name, "' has a vocabulary of ",
                                                   bundle.problem.model.vocab));
  }
  return absl::OkStatus();
}

absl::Status CheckPositive(absl::string_view name, Seconds value) {
  constexpr Seconds kMost(1e7);  // four months; larger values are mistakes and would overflow the clocks
  if (value > Seconds(0) && value <= kMost) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("bundle.", name, ": expected seconds above 0 and up to ", kMost.value()));
}

}  // namespace

std::string PrintBundleJson(const Bundle& bundle, const FileHashes& files) {
  Json ranks = Json::array();
  for (const RankRow& row : RankTable(bundle)) {
    ranks.push_back({{"rank", row.rank},
                     {"node", row.node},
                     {"gpu", row.gpu},
                     {"pipeline", row.pipeline},
                     {"stage", row.stage},
                     {"tensor_rank", row.tensor_rank}});
  }
  Json json;
  json["format"] = std::string(kFormat);
  json["kind"] = std::string(kKind);
  json["plan_hash"] = bundle.plan_hash;
  json["problem"] = ir::ToJson(bundle.problem);
  json["plan"] = ir::ToJson(bundle.plan, bundle.problem.cluster);
  json["predicted_iteration_s"] = bundle.predicted_iteration.value();
  json["limits"] = {{"rendezvous_timeout_s", bundle.limits.rendezvous_timeout.value()},
                    {"collective_timeout_s", bundle.limits.collective_timeout.value()},
                    {"stop_grace_s", bundle.limits.stop_grace.value()}};
  json["ranks"] = ranks;
  if (!bundle.fallbacks.empty()) json["fallbacks"] = FallbacksJson(bundle.fallbacks);
  json["files"] = files;
  return DumpJson(json);
}

absl::StatusOr<Bundle> ParseBundleJson(absl::string_view text, const FileHashes& files) {
  SAIL_ASSIGN_OR_RETURN(const Json json, ParseJson(text, kBundleJson));
  ObjectReader reader(json, "bundle");
  std::string format, kind;
  reader.Get("format", &format);
  reader.Get("kind", &kind);
  // The version decides what the other fields mean, so nothing else is reported before it.
  if (kind != kKind) reader.Fail("kind", absl::StrCat("expected \"", kKind, "\""));
  if (format != kFormat) reader.Fail("format", absl::StrCat("version '", format, "' is unknown; this is ", kFormat));
  Bundle bundle;
  double predicted = 0;
  reader.Get("plan_hash", &bundle.plan_hash);
  reader.Get("predicted_iteration_s", &predicted);
  const Json& problem = reader.Raw("problem");
  const Json& plan = reader.Raw("plan");
  const Json& limits = reader.Raw("limits");
  const Json& ranks = reader.Raw("ranks");
  const Json& listed = reader.Raw("files");
  const Json* fallbacks = reader.Has("fallbacks") ? &reader.Raw("fallbacks") : nullptr;
  SAIL_RETURN_IF_ERROR(reader.Finish());
  bundle.predicted_iteration = Seconds(predicted);

  double rendezvous = 0, collective = 0, grace = 0;
  ObjectReader limit_reader(limits, "bundle.limits");
  limit_reader.Get("rendezvous_timeout_s", &rendezvous);
  limit_reader.Get("collective_timeout_s", &collective);
  limit_reader.Get("stop_grace_s", &grace);
  SAIL_RETURN_IF_ERROR(limit_reader.Finish());
  bundle.limits = {Seconds(rendezvous), Seconds(collective), Seconds(grace)};

  SAIL_ASSIGN_OR_RETURN(bundle.problem, ir::ParseProblem(problem, "bundle.problem"));
  SAIL_ASSIGN_OR_RETURN(bundle.plan, ir::ParsePlan(plan, bundle.problem.cluster, "bundle.plan"));
  // Structure first: ranks can only be derived from a plan that uses no GPU twice.
  SAIL_RETURN_IF_ERROR(ir::VerifyPlanStructure(bundle.problem, bundle.plan));
  std::vector<RankRow> table;
  SAIL_RETURN_IF_ERROR(ParseRankTable(ranks, &table));
  SAIL_RETURN_IF_ERROR(CheckRankTable(bundle, table));
  if (listed != Json(files)) return absl::FailedPreconditionError("bundle.files: differs from MANIFEST.sha256");
  if (fallbacks != nullptr) {
    SAIL_ASSIGN_OR_RETURN(bundle.fallbacks, ParseFallbacks(*fallbacks));
  }
  return bundle;
}

absl::Status CheckBundle(const Bundle& bundle) {
  SAIL_RETURN_IF_ERROR(ir::VerifyPlanStructure(bundle.problem, bundle.plan));
  SAIL_RETURN_IF_ERROR(CheckTrainable(bundle.problem, bundle.plan));
  if (!bundle.problem.job.data) {
    return absl::InvalidArgumentError(absl::StrCat("job '", bundle.problem.job.name, "' names no data to train on"));
  }
  for (const RankRow& row : RankTable(bundle)) {
    if (!IsFileName(row.node)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "node '", row.node, "': nodes are named after pools; only letters, digits, '.', '_' and '-' can be used"));
    }
  }
  SAIL_RETURN_IF_ERROR(CheckTokens(bundle));
  SAIL_RETURN_IF_ERROR(CheckFallbacks(bundle));
  SAIL_RETURN_IF_ERROR(CheckPositive("limits.rendezvous_timeout_s", bundle.limits.rendezvous_timeout));
  SAIL_RETURN_IF_ERROR(CheckPositive("limits.collective_timeout_s", bundle.limits.collective_timeout));
  SAIL_RETURN_IF_ERROR(CheckPositive("limits.stop_grace_s", bundle.limits.stop_grace));
  return CheckPositive("predicted_iteration_s", bundle.predicted_iteration);
}

}  // namespace sail::rt
