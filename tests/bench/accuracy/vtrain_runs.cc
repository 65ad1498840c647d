#include "tests/bench/accuracy/vtrain_runs.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "compiler/base/status_macros.h"
#include "simulator/profiles.h"
#include "tests/bench/accuracy/data_files.h"

namespace sail::bench {
namespace {

constexpr int kNode = 8;  // GPUs
constexpr int64_t kVocab = 51200;
constexpr int kLargest = 1 << 20;  // of any column

struct Row {
  int gpus = 0, global_batch = 0, micro_batch = 0, hidden = 0, heads = 0, layers = 0, sequence = 0;
  int tensor = 0, data = 0, pipeline = 0;
  double milliseconds = 0;
};
struct Column {
  const char* name;
  const char* symbol;
  int Row::*field;
};
constexpr Column kColumns[] = {{"# GPUs", "G", &Row::gpus},
                               {"global batch", "B", &Row::global_batch},
                               {"micro batch", "b", &Row::micro_batch},
                               {"hidden size", "h", &Row::hidden},
                               {"attention heads", "a", &Row::heads},
                               {"# layers", "L", &Row::layers},
                               {"sequence length", "s", &Row::sequence},
                               {"tensor parallelism", "t", &Row::tensor},
                               {"data parallelism", "d", &Row::data},
                               {"pipeline parallelism", "P", &Row::pipeline}};
constexpr char kTime[] = "iteration time (ms)";

// A machine. A tensor group of more than eight GPUs spans several nodes; it is described as one machine, with their
// cards together, whose links take as long for the all-reduce of a block's output as rings in the nodes and between
// them.
ir::Machine MachineOf(const Row& row, const Calibration& constants) {
  const double inside = constants("a100.intra_node");
  const double card = constants("a100.card");
  ir::Machine machine{.name = "a100_node",
                      .gpu = ir::GpuId(0),
                      .gpus_per_node = std::max(kNode, row.tensor),
                      .intra_node = BytesPerSecond(inside),
                      .nic = BytesPerSecond(card)};
  if (row.tensor > kNode) {
    const double nodes = row.tensor / kNode;
    const auto ring = [](double n) { return 2 * (n - 1) / n; };
    machine.intra_node = BytesPerSecond(ring(row.tensor) / (ring(kNode) / inside + ring(nodes) / card));
    machine.nic = BytesPerSecond(nodes * card);
  }
  return machine;
}

ir::Cluster ClusterOf(const Row& row, const Calibration& constants) {
  ir::Cluster cluster;
  cluster.name = "a100";
  cluster.gpus = {{.name = "A100_80",
                   .memory = Bytes(int64_t{80} << 30),
                   .peak_fp16 = FlopsPerSecond(312e12),
                   .memory_bandwidth = BytesPerSecond(2039e9),
                   .efficiency = ir::Efficiency{.matmul = constants("a100.matmul"),
                                                .ramp = Seconds(constants("a100.ramp")),
                                                .memory = constants("a100.memory")}}};
  cluster.machines = {MachineOf(row, constants)};
  cluster.regions = {"r"};
  cluster.zones = {{.name = "z", .region = ir::RegionId(0)}};
  const int per_node = cluster.machines[0].gpus_per_node;
  cluster.pools = {{.name = "nodes",
                    .zone = ir::ZoneId(0),
                    .machine = ir::MachineId(0),
                    .quota = (row.gpus + per_node - 1) / per_node}};
  cluster.links = {{{.bandwidth = *cluster.machines[0].nic, .latency = Seconds(10e-6)}}};
  return cluster;
}

// Ranks are numbered tensor first, then data, then pipeline, and fill the nodes in this order.
ir::Plan PlanOf(const Row& row, int per_node) {
  ir::Plan plan;
  for (int d = 0; d < row.data; ++d) {
    ir::Pipeline& pipeline = plan.pipelines.emplace_back();
    pipeline.micro_batch = row.micro_batch;
    pipeline.micro_batches = row.global_batch / row.data / row.micro_batch;
    for (int p = 0; p < row.pipeline; ++p) {
      const int rank = (p * row.data + d) * row.tensor;
      ir::Stage& stage = pipeline.stages.emplace_back();
      stage.first_layer = p == 0 ? 0 : 1 + row.layers * p / row.pipeline;
      stage.last_layer = p + 1 == row.pipeline ? row.layers + 1 : row.layers * (p + 1) / row.pipeline;
      stage.group.pool = ir::PoolId(0);
      stage.group.node = rank / per_node;
      for (int t = 0; t < row.tensor; ++t) stage.group.gpus.push_back(rank % per_node + t);
      stage.recompute = ir::Recompute::kFull;
    }
  }
  return plan;
}

// This trainer computes the head again, too; in a plan only blocks do that.
void RecomputeHead(ir::Profile& profile) {
  const ir::Profile derived = profile;
  for (const auto& [key, time] : derived.times()) {
    if (key.kind != ir::LayerKind::kHead) continue;
    ir::LayerTime recomputed = time;
    recomputed.backward += time.forward;
    profile.Set(key, recomputed);
  }
}

absl::StatusOr<Case> BuildCase(const Row& row, const Calibration& constants) {
  if (int64_t{row.tensor} * row.data * row.pipeline != row.gpus) {
    return absl::InvalidArgumentError("tensor · data · pipeline is not the number of GPUs");
  }
  if (row.global_batch % (int64_t{row.data} * row.micro_batch) != 0) {
    return absl::InvalidArgumentError("the global batch is no multiple of data · micro batch");
  }
  Case result;
  ir::Problem& problem = result.problem;
  problem.cluster = ClusterOf(row, constants);
  problem.model = {.name = "megatron",
                   .blocks = row.layers,
                   .hidden = row.hidden,
                   .heads = row.heads,
                   .feed_forward = int64_t{4} * row.hidden,
                   .seq_len = row.sequence,
                   .vocab = kVocab,
                   .embedding_width = row.hidden,
                   .position_rows = row.sequence};
  problem.job.name = "run";
  problem.job.global_batch = row.global_batch;
  problem.job.micro_batches = {row.micro_batch};
  problem.job.recomputes = {ir::Recompute::kFull};
  problem.job.tensor_degrees = {row.tensor};
  problem.job.pipeline_depths = {row.pipeline};
  problem.job.precision = ir::Precision::kFp16;
  problem.job.trainer = {
      .dropout = true, .gradients = ir::GradientPrecision::kParameter, .dispatch = Seconds(constants("a100.dispatch"))};
  result.plan = PlanOf(row, problem.cluster.machines[0].gpus_per_node);
  SAIL_RETURN_IF_ERROR(sim::CompleteProfile(problem));
  RecomputeHead(problem.profile);
  return result;
}

// The row of one line; `index` says where the file has the columns.
absl::StatusOr<Row> ParseRow(absl::string_view line, const std::map<std::string, size_t>& index) {
  const std::vector<absl::string_view> cells = absl::StrSplit(line, ',');
  const auto cell = [&](const char* name) {
    const size_t i = index.at(name);
    return i < cells.size() ? absl::StripAsciiWhitespace(cells[i]) : absl::string_view();
  };
  Row row;
  for (const Column& column : kColumns) {
    if (!absl::SimpleAtoi(cell(column.name), &(row.*column.field)) || row.*column.field < 1 ||
        row.*column.field > kLargest) {
      return absl::InvalidArgumentError(absl::StrCat("'", cell(column.name), "' is no ", column.name));
    }
  }
  if (!absl::SimpleAtod(cell(kTime), &row.milliseconds) || !std::isfinite(row.milliseconds) || row.milliseconds <= 0) {
    return absl::InvalidArgumentError(absl::StrCat("'", cell(kTime), "' is no ", kTime));
  }
  return row;
}

std::string NameOf(const std::string& kind, const Row& row) {
  std::string name = kind;
  for (const Column& column : kColumns) absl::StrAppend(&name, " ", column.symbol, row.*column.field);
  return name;
}

absl::StatusOr<std::map<std::string, size_t>> ColumnsOf(absl::string_view header) {
  std::map<std::string, size_t> index;
  for (const absl::string_view name : absl::StrSplit(header, ',')) {
    index.emplace(std::string(absl::StripAsciiWhitespace(name)), index.size());
  }
  for (const Column& column : kColumns) {
    if (!index.contains(column.name)) return absl::NotFoundError(absl::StrCat("has no column '", column.name, "'"));
  }
  if (!index.contains(kTime)) return absl::NotFoundError(absl::StrCat("has no column '", kTime, "'"));
  return index;
}

absl::Status AddFile(const std::string& path, const std::string& kind, const Calibration& calibration, Runs& runs) {
  SAIL_ASSIGN_OR_RETURN(const std::string text, ReadDataFile(path));
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  SAIL_ASSIGN_OR_RETURN(const auto index, ColumnsOf(lines.front()));
  for (size_t i = 1; i < lines.size(); ++i) {
    if (absl::StripAsciiWhitespace(lines[i]).empty()) continue;
    const absl::StatusOr<Row> row = ParseRow(lines[i], index);
    if (!row.ok()) {
      runs.messages.push_back(absl::StrCat(path, " line ", i + 1, " left out: ", row.status().message()));
      continue;
    }
    const std::string name = NameOf(kind, *row);
    runs.runs.push_back({.name = name,
                         .set = absl::StrCat("a100/", kind),
                         .fold = name,
                         .seconds = row->milliseconds / 1e3,
                         .bytes = std::nullopt,
                         .is_calibration = calibration.a100_runs.contains(name),
                         .build = [row = *row](const Calibration& constants) { return BuildCase(row, constants); }});
  }
  return absl::OkStatus();
}

}  // namespace

Runs ReadVtrainRuns(const std::string& data_directory, const Calibration& calibration) {
  Runs runs;
  for (const char* kind : {"single", "multi"}) {
    const std::vector<std::string> files = FilesIn(absl::StrCat(data_directory, "/vtrain"), kind, ".csv");
    if (files.empty()) {
      runs.messages.push_back(absl::StrCat("a100/", kind, " skipped: no ", data_directory, "/vtrain/", kind, "*.csv"));
    }
    for (const std::string& file : files) {
      const absl::Status added = AddFile(file, kind, calibration, runs);
      if (!added.ok()) runs.messages.push_back(absl::StrCat(file, " skipped: ", added.message()));
    }
  }
  return runs;
}

}  // namespace sail::bench
