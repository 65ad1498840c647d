#include "runtime/bundle/nodes.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace sail::rt {
namespace {

bool IsPerProcess(absl::string_view key) { return key == "RANK" || key == "LOCAL_RANK" || key == "SAIL_GPU"; }

}  // namespace

std::string NodeName(const ir::Cluster& cluster, ir::PoolId pool, int node) {
  return absl::StrCat(cluster.pool(pool).name, "-", node);
}

std::vector<Node> NodesOf(const ir::Cluster& cluster, const ir::Placement& placement) {
  std::vector<Node> nodes;
  for (int i = 0; i < placement.rank_count(); ++i) {
    const ir::RankPlace& place = placement.place(ir::Rank(i));
    const std::string name = NodeName(cluster, place.pool, place.node);
    if (nodes.empty() || nodes.back().name != name) nodes.push_back({name, {}});  // ranks are numbered node by node
    nodes.back().ranks.push_back(ir::Rank(i));
  }
  return nodes;
}

std::string NodeEnvironment(const Bundle& bundle, const ir::Placement& placement, const std::vector<Node>& nodes,
                            int node) {
  const std::vector<ir::Rank>& ranks = nodes[node].ranks;
  std::vector<int> rank, local_rank, gpu;
  for (const ir::Rank r : ranks) {
    local_rank.push_back(static_cast<int>(rank.size()));
    rank.push_back(r.index());
    gpu.push_back(placement.place(r).gpu);
  }
  std::map<std::string, std::string> values = {
      {"GROUP_RANK", absl::StrCat(node)},
      {"LOCAL_RANK", absl::StrJoin(local_rank, ",")},
      {"LOCAL_WORLD_SIZE", absl::StrCat(ranks.size())},
      {"MASTER_ADDR", "@{ip:controller}"},
      {"MASTER_PORT", "@{port:controller}"},
      {"RANK", absl::StrJoin(rank, ",")},
      {"SAIL_GPU", absl::StrJoin(gpu, ",")},
      {"SAIL_NODE", nodes[node].name},
      {"SAIL_PLAN_HASH", bundle.plan_hash},
      {"WORLD_SIZE", absl::StrCat(placement.rank_count())},
  };
  // A CPU core stands in for a GPU: more threads than that would share cores with the other ranks.
  const ir::PoolId pool = placement.place(ranks[0]).pool;
  if (bundle.problem.cluster.gpu(pool).backend == ir::Backend::kCpu) values["OMP_NUM_THREADS"] = "1";
  std::string text = absl::StrCat("# plan ", bundle.plan_hash, "\n");
  for (const auto& [key, value] : values) absl::StrAppend(&text, key, "=", value, "\n");
  return text;
}

std::string LaunchScript(const Bundle& bundle, const Node& node) {
  return absl::StrCat("#!/bin/sh\n# plan ", bundle.plan_hash, "\n# Starts the ranks of node ", node.name,
                      "; SAIL_STORE is the address that `sailrun controller` prints.\n"
                      "set -eu\n"
                      ": \"${SAIL_STORE:?set SAIL_STORE to HOST:PORT of the controller}\"\n"
                      "bundle=$(cd \"$(dirname \"$0\")/../..\" && pwd)\n"
                      "exec \"${SAILRUN:-sailrun}\" agent \"$bundle\" --node ",
                      node.name, " --store \"$SAIL_STORE\" \"$@\"\n");
}

absl::StatusOr<std::vector<std::map<std::string, std::string>>> ProcessEnvironments(absl::string_view env_text,
                                                                                    int processes,
                                                                                    absl::string_view controller_host,
                                                                                    int controller_port) {
  std::vector<std::map<std::string, std::string>> environments(processes);
  for (const absl::string_view line : absl::StrSplit(env_text, '\n', absl::SkipEmpty())) {
    if (line[0] == '#') continue;
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits('=', 1));
    if (parts.size() != 2 || parts[0].empty()) {
      return absl::InvalidArgumentError(absl::StrCat("'", line, "' is not KEY=VALUE"));
    }
    const std::string value = absl::StrReplaceAll(parts[1], {{"@{ip:controller}", std::string(controller_host)},
                                                             {"@{port:controller}", absl::StrCat(controller_port)}});
    if (absl::StrContains(value, "@{"))
      return absl::InvalidArgumentError(absl::StrCat("unknown placeholder in '", line, "'"));
    const std::vector<std::string> list = absl::StrSplit(value, ',');
    if (IsPerProcess(parts[0]) && list.size() != static_cast<size_t>(processes)) {
      return absl::InvalidArgumentError(
          absl::StrCat(parts[0], " lists ", list.size(), " processes, the plan has ", processes, " on this node"));
    }
    for (int i = 0; i < processes; ++i) environments[i][parts[0]] = IsPerProcess(parts[0]) ? list[i] : value;
  }
  return environments;
}

}  // namespace sail::rt
