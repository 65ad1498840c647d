// The nodes of a plan and what each is told: its environment file and its start script.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/ir/placement.h"
#include "runtime/bundle/bundle.h"

namespace sail::rt {

struct Node {
  std::string name;
  std::vector<ir::Rank> ranks;  // ascending; one process per GPU the plan uses on this node
};

// In rank order, so the first node holds rank 0. Nodes without ranks are not listed.
std::vector<Node> NodesOf(const ir::Cluster& cluster, const ir::Placement& placement);

// KEY=VALUE lines, sorted. RANK, LOCAL_RANK and SAIL_GPU list one value per process, in rank order. Values only known
// at start are placeholders: @{ip:controller}, @{port:controller}. Rank 0 need not be on the controller's machine.
std::string NodeEnvironment(const Bundle& bundle, const ir::Placement& placement, const std::vector<Node>& nodes,
                            int node);
// A POSIX shell script that starts `sailrun agent` for this node; needs SAIL_STORE=HOST:PORT.
std::string LaunchScript(const Bundle& bundle, const Node& node);

// The environment of each process of a node, in rank order, from the text of its env file. InvalidArgument for a line
// that is not KEY=VALUE, an unknown placeholder or a list that does not have `processes` values.
absl::StatusOr<std::vector<std::map<std::string, std::string>>> ProcessEnvironments(absl::string_view env_text,
                                                                                    int processes,
                                                                                    absl::string_view controller_host,
                                                                                    int controller_port);

}  // namespace sail::rt
