// The runs of sailor/validation/runs*.json: DeepSpeed pipelines in fp32 with Adam, nothing recomputed, on GH200 nodes
// ("clariden") and on nodes of older GPUs with one slow card ("mit"). Predicted from the measured layers of
// layer_times.json and layer_memory.json and the bandwidths of network/.
#pragma once

#include "simulator/public_plan.h"
#include "tests/bench/accuracy/run.h"
#include "tests/bench/accuracy/sailor_data.h"

namespace sail::bench {

// One run as the file has it.
struct SailorRun {
  std::string id;
  std::string cluster;
  std::string model;
  sim::PublicPlan plan;
  std::optional<double> seconds;  // absent: not measured
  std::optional<double> bytes;
  std::optional<double> published_seconds;  // what the published simulator says
};

// The problem and plan of a run. Every node is a zone of its own, because rates differ from pair to pair and because
// the trainer's rings go from node to node. An error names what the data lacks or a plan cannot express.
absl::StatusOr<Case> BuildSailorCase(const SailorRun& run, const SailorData& data, const Calibration& calibration);

// Sets sailor/gh200-neo, gh200-opt350, mixed-a and mixed-v1. `data` must outlive the runs; it is filled here.
Runs ReadSailorRuns(const std::string& data_directory, SailorData& data, std::vector<SailorRun>& raw);

}  // namespace sail::bench
