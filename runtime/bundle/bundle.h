// A bundle is a directory, a pure function of plan and job: everything the nodes need to run their ranks.
//
//   bundle.json            problem, plan, prediction, limits, rank table, file list with sha256
//   data/tokens.bin        the text as little-endian uint16 tokens (one per byte)
//   nodes/<node>/env       KEY=VALUE, sorted        nodes/<node>/launch.sh
//   fallbacks/*.sailplan   plans for what may be lost, if they were asked for
//   MANIFEST.sha256        "<sha256>  <path>" of every other file, sorted; written last, so a directory without it is
//   an
//                          interrupted write
//
// No host names, no time stamps, no absolute paths of the building machine. Readers check the version and every hash
// first and reject unknown fields and files. A node is "<pool>-<index>".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/base/units.h"
#include "compiler/ir/placement.h"
#include "compiler/ir/plan.h"
#include "compiler/ir/problem.h"

namespace sail::rt {

struct Limits {
  Seconds rendezvous_timeout = Seconds(60);  // until all ranks are connected
  Seconds collective_timeout = Seconds(60);  // one send, receive or all-reduce
  Seconds stop_grace = Seconds(3);           // between SIGTERM and SIGKILL
};

// A plan for the loss of any one of some nodes, or of a whole zone. sailrun verifies it and does not act on it yet.
struct Fallback {
  std::vector<std::string> nodes;  // that play equal parts; the plan is for the loss of the first. Empty: of the zone
  std::optional<int> zone;         // index into the cluster's zones
  std::string plan_file;           // as ir::PrintPlanFile writes it; empty: no plan keeps the limits then
  friend bool operator==(const Fallback&, const Fallback&) = default;
};

struct Bundle {
  ir::Problem problem;
  ir::Plan plan;
  std::string plan_hash;
  Seconds predicted_iteration = Seconds(0);
  Limits limits;
  std::vector<uint16_t> tokens;
  std::vector<Fallback> fallbacks;
};

std::string NodeName(const ir::Cluster& cluster, ir::PoolId pool, int node);

// Refuses plans that fail VerifyPlanStructure, jobs without data, models that the runtime does not train.
// Writes into a temporary directory beside `directory` and renames it; an existing bundle with equal bytes is left
// alone, any other existing directory is an error unless it is a bundle (then replaced).
absl::Status WriteBundle(const Bundle& bundle, const std::string& directory);
// FailedPrecondition (exit code 6) naming the file for a missing or mismatching hash; InvalidArgument for other faults.
absl::StatusOr<Bundle> ReadBundle(const std::string& directory);

// The tokens of text files: their bytes, one after the other.
std::vector<uint16_t> TokensOfText(absl::string_view text);

}  // namespace sail::rt
