#include "compiler/passes/pipeline.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/passes/check_source.h"

namespace sail {
namespace {

using test::CheckSource;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Two pools in one zone: the first example of the language.
constexpr char kSmoke[] = R"(sail 1

gpu A100_40 { memory = 40 GiB, peak_fp16 = 312 TFLOP/s }
gpu V100_16 { memory = 16 GiB, peak_fp16 = 125 TFLOP/s }

machine a100x4 {
  gpu           = A100_40
  gpus_per_node = 4 GPUs
  host_memory   = 340 GiB
  intra_node    = 600 GB/s           # NVLink, per GPU, one direction
  price { on_demand = 14.40 USD/h, spot = 4.41 USD/h }
}

machine v100x4 {
  gpu           = V100_16
  gpus_per_node = 4 GPUs
  intra_node    = 150 GB/s
  price { on_demand = 9.92 USD/h, spot = 0.72 USD/GPU/h }
}

resources lab {
  region "us-central1" {
    zone "us-central1-a" {
      pool fast { machine = a100x4, quota = 4 nodes, market = on_demand }
      pool slow { machine = v100x4, quota = 32 GPUs, market = spot }
    }
  }
  link * <-> * within zone { bandwidth = 100 Gbps, latency = 30 us, egress = 0.01 USD/GB }
}

model opt350 {
  family = gpt
  layers = 24 layers
  hidden = 1024
  heads = 16
  seq_len = 2048 tokens
  vocab = 50_272
  profile { A100_40 = "profiles/opt350.a100-40.json" }
}

job smoke {
  model     = opt350
  resources = lab
  batch     { global = 1024 samples, micro = [8, 1, 2, 4] }
  precision = fp16
  optimizer = adam
  steps     = 500 iters
  parallelism { tensor = [1, 2, 4], pipeline = 1..8, data = any }

  maximize throughput then minimize cost_per_iter
    subject to {
      memory_headroom: peak_memory <= 90% * gpu.memory
      price_cap:       cost_rate   <= 90 USD/h
      speed:           0.1 iters/s <= throughput
    }
}
)";

ir::Problem ProblemOf(const std::string& text) {
  const auto checked = CheckSource(text);
  EXPECT_THAT(checked.diagnostics, IsEmpty());
  if (!checked.spec.ok() || checked.spec->jobs.empty()) return {};
  return checked.spec->jobs.front().problem;
}

TEST(CheckFile, LowersTheCluster) {
  const ir::Cluster cluster = ProblemOf(kSmoke).cluster;
  ASSERT_EQ(cluster.pools.size(), 2u);
  EXPECT_EQ(cluster.name, "lab");
  EXPECT_EQ(cluster.pools[0].name, "fast");
  EXPECT_EQ(cluster.pools[0].quota, 4);
  EXPECT_DOUBLE_EQ(cluster.pools[0].price.value(), 0.004);       // 14.40 USD/h / 3600 s
  EXPECT_EQ(cluster.pools[1].quota, 8);                          // 32 GPUs in nodes of 4
  EXPECT_DOUBLE_EQ(cluster.pools[1].price.value(), 4 * 0.0002);  // 0.72 USD/GPU/h on 4 GPUs
  EXPECT_EQ(cluster.gpu(ir::PoolId(0)).name, "A100_40");
  EXPECT_EQ(cluster.gpu(ir::PoolId(1)).memory.value(), int64_t{16} << 30);
  EXPECT_DOUBLE_EQ(cluster.machine(ir::PoolId(0)).intra_node.value(), 600e9);
  ASSERT_EQ(cluster.links.size(), 1u);
  EXPECT_DOUBLE_EQ(cluster.links[0][0].bandwidth.value(), 12.5e9);
  EXPECT_DOUBLE_EQ(cluster.links[0][0].latency.value(), 30e-6);
  EXPECT_DOUBLE_EQ(cluster.links[0][0].egress.value(), 1e-11);
}

TEST(CheckFile, LowersTheModelWithItsDefaults) {
  const ir::Model model = ProblemOf(kSmoke).model;
  EXPECT_EQ(model.blocks, 24);
  EXPECT_EQ(model.feed_forward, 4096);
  EXPECT_EQ(model.embedding_width, 1024);
  EXPECT_EQ(model.position_rows, 2048);
  EXPECT_EQ(model.vocab, 50272);
  EXPECT_TRUE(model.tied_head);
}

TEST(CheckFile, LowersTheJob) {
  const ir::Job job = ProblemOf(kSmoke).job;
  EXPECT_EQ(job.global_batch, 1024);
  EXPECT_THAT(job.micro_batches, ElementsAre(1, 2, 4, 8));
  EXPECT_THAT(job.tensor_degrees, ElementsAre(1, 2, 4));
  EXPECT_THAT(job.pipeline_depths, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_EQ(job.precision, ir::Precision::kFp16);
  EXPECT_EQ(job.steps, 500);
  EXPECT_DOUBLE_EQ(job.memory_limit, 0.9);
  EXPECT_THAT(job.objective, ElementsAre(ir::ObjectiveTerm{.metric = ir::Metric::kThroughput, .maximize = true},
                                         ir::ObjectiveTerm{.metric = ir::Metric::kCostPerIter, .maximize = false}));
  EXPECT_THAT(
      job.constraints,
      ElementsAre(
          ir::Constraint{.name = "memory_headroom", .metric = ir::Metric::kPeakMemory, .at_most = true, .limit = 0.9},
          ir::Constraint{.name = "price_cap", .metric = ir::Metric::kCostRate, .at_most = true, .limit = 0.025},
          ir::Constraint{.name = "speed", .metric = ir::Metric::kThroughput, .at_most = false, .limit = 0.1}));
}

std::string WithObjective(const std::string& objective) {
  const std::string text = kSmoke;
  const size_t begin = text.find("  maximize throughput");
  return absl::StrCat(text.substr(0, begin), "  ", objective, "\n}\n");
}

// The job has 500 steps: a limit on its 500 iterations is one on the whole job, on other numbers one on an iteration.
TEST(CheckFile, LowersMetricsOfTheWholeJob) {
  const ir::Job job = ProblemOf(WithObjective("minimize total_cost then minimize job_time(7 iters) subject to { "
                                              "a: total_cost(500 iters) <= 100 USD, b: job_time <= 2 h, "
                                              "c: total_cost(50 iters) <= 20 USD, d: job_time(3_600 iters) <= 1 h }"))
                          .job;
  EXPECT_THAT(job.objective, ElementsAre(ir::ObjectiveTerm{.metric = ir::Metric::kTotalCost, .maximize = false},
                                         ir::ObjectiveTerm{.metric = ir::Metric::kJobTime, .maximize = false}));
  EXPECT_THAT(job.constraints,
              ElementsAre(ir::Constraint{.name = "a", .metric = ir::Metric::kTotalCost, .limit = 100},
                          ir::Constraint{.name = "b", .metric = ir::Metric::kJobTime, .limit = 7200},
                          ir::Constraint{.name = "c", .metric = ir::Metric::kCostPerIter, .limit = 0.4},
                          ir::Constraint{.name = "d", .metric = ir::Metric::kIterTime, .limit = 1}));
}

TEST(CheckFile, LowersMetricsOfMoneyAndPreemptions) {
  const ir::Job job = ProblemOf(WithObjective("maximize tokens_per_usd then maximize goodput subject to { "
                                              "value: tokens_per_usd >= 5_000 tokens/USD, alive: goodput >= 0.1 "
                                              "iters/s, out: egress_cost_per_iter <= 0.25 USD/iter }"))
                          .job;
  EXPECT_THAT(job.objective, ElementsAre(ir::ObjectiveTerm{.metric = ir::Metric::kTokensPerUsd},
                                         ir::ObjectiveTerm{.metric = ir::Metric::kGoodput}));
  EXPECT_THAT(
      job.constraints,
      ElementsAre(
          ir::Constraint{.name = "alive", .metric = ir::Metric::kGoodput, .at_most = false, .limit = 0.1},
          ir::Constraint{.name = "out", .metric = ir::Metric::kEgressCost, .limit = 0.25},
          ir::Constraint{.name = "value", .metric = ir::Metric::kTokensPerUsd, .at_most = false, .limit = 5000}));
}

TEST(CheckFile, LowersCandidatesOfRecomputationAndSharding) {
  const ir::Job plain = ProblemOf(kSmoke).job;
  EXPECT_THAT(plain.recomputes, ElementsAre(ir::Recompute::kNone));
  EXPECT_THAT(plain.optimizer_shardings, ElementsAre(ir::OptimizerSharding::kNone));
  const ir::Job job = ProblemOf(absl::StrReplaceAll(kSmoke, {{"data = any }",
                                                              "data = any, recompute = [full, none, full], "
                                                              "optimizer_sharding = zero1 }"}}))
                          .job;
  EXPECT_THAT(job.recomputes, ElementsAre(ir::Recompute::kNone, ir::Recompute::kFull));
  EXPECT_THAT(job.optimizer_shardings, ElementsAre(ir::OptimizerSharding::kZero1));
}

TEST(CheckFile, ReportsWhereThingsWereSaid) {
  const auto checked = CheckSource(kSmoke);
  ASSERT_TRUE(checked.spec.ok());
  const LoweredJob& job = checked.spec->jobs.front();
  for (const char* key : {"model", "resources", "batch", "pool.fast", "pool.slow", "speed", "price_cap"}) {
    EXPECT_TRUE(job.ranges.contains(key)) << key;
  }
  ASSERT_EQ(job.profiles.size(), 1u);
  EXPECT_EQ(job.profiles[0].path, "profiles/opt350.a100-40.json");
  EXPECT_EQ(job.problem.cluster.gpus[job.profiles[0].gpu.index()].name, "A100_40");
}

// Case diff-null: neither the order of declarations nor a spelt-out default changes what is asked.
TEST(CheckFile, CaseDiffNull) {
  const ir::Problem problem = ProblemOf(kSmoke);
  const std::string fast = "      pool fast { machine = a100x4, quota = 4 nodes, market = on_demand }\n";
  const std::string slow = "      pool slow { machine = v100x4, quota = 32 GPUs, market = spot }\n";
  EXPECT_EQ(ProblemOf(absl::StrReplaceAll(kSmoke, {{fast + slow, slow + fast}})), problem);
  EXPECT_EQ(ProblemOf(absl::StrReplaceAll(kSmoke, {{", market = on_demand }", " }"}})), problem);
  EXPECT_EQ(
      ProblemOf(absl::StrReplaceAll(kSmoke, {{"hidden = 1024\n", "hidden = 1024, feed_forward = 4096, norm = pre\n"}})),
      problem);
  EXPECT_EQ(ProblemOf(absl::StrReplaceAll(kSmoke, {{"latency = 30 us", "latency = 0.03 ms, per = node"}})), problem);
}

constexpr char kGeo[] = R"(sail 1
gpu G { memory = 16 GiB, peak_fp32 = 10 TFLOP/s }
machine box { gpu = G, gpus_per_node = 1 GPU, price { on_demand = 3.6 USD/h } }
resources world {
  discount = 25%
  region "us" {
    zone "1" { pool a { machine = box, quota = 1 node } }
    zone "2" { pool b { machine = box, quota = 1 node } }
    zone "unused" { }
  }
  region "eu" {
    zone "2" { pool c { machine = box, quota = 1 node, price = 7.2 USD/h } }
  }
  link * <-> * within zone   { bandwidth = 100 Gbps, latency = 10 us, egress = 0 USD/GB }
  link * <-> * within region { bandwidth = 32 Gbps,  latency = 1 ms,  egress = 0.01 USD/GB }
  link * <-> * across region { bandwidth = 8 Gbps,   latency = 40 ms, egress = 0.02 USD/GB }
  link us."1" -> eu."2" { bandwidth = 4 Gbps, latency = 50 ms, egress = 0.05 USD/GB, per = flow }
}
model m { family = gpt, layers = 2 layers, hidden = 64, heads = 4, seq_len = 32 tokens, vocab = 256 }
job j {
  model = m, resources = world, precision = fp32
  batch { global = 4 samples, micro = 1 }
  minimize cost_per_iter
}
)";

// Case zone-labels: zone "2" of two regions are two zones.
TEST(CheckFile, CaseZoneLabels) {
  const ir::Cluster cluster = ProblemOf(kGeo).cluster;
  EXPECT_THAT(cluster.regions, ElementsAre("eu", "us"));
  ASSERT_EQ(cluster.zones.size(), 3u);  // the unused zone is not part of the problem
  EXPECT_EQ(cluster.zones[0].name, "eu/2");
  EXPECT_EQ(cluster.zones[1].name, "1");
  EXPECT_EQ(cluster.zones[2].name, "us/2");
  EXPECT_NE(cluster.pools[1].zone, cluster.pools[2].zone);
}

TEST(CheckFile, TheMostSpecificLinkRuleWins) {
  const auto links = ProblemOf(kGeo).cluster.links;  // zones: eu/2, us/1, us/2
  const auto gbps = [&](int from, int to) { return links[from][to].bandwidth.value() * 8 / 1e9; };
  EXPECT_DOUBLE_EQ(gbps(0, 0), 100);  // within zone
  EXPECT_DOUBLE_EQ(gbps(1, 2), 32);   // within region
  EXPECT_DOUBLE_EQ(gbps(2, 0), 8);    // across region
  EXPECT_DOUBLE_EQ(gbps(1, 0), 4);    // the pair, in its direction only
  EXPECT_DOUBLE_EQ(gbps(0, 1), 8);
  EXPECT_EQ(links[1][0].share, ir::LinkShare::kPerFlow);
}

TEST(CheckFile, DiscountAppliesToEveryPrice) {
  const ir::Cluster cluster = ProblemOf(kGeo).cluster;
  EXPECT_DOUBLE_EQ(cluster.pools[0].price.value(), 0.00075);  // 3.6 USD/h / 3600 s * 75 %
  EXPECT_DOUBLE_EQ(cluster.pools[2].price.value(), 0.0015);   // its own price, 7.2 USD/h
}

TEST(CheckFile, NamesAreOrderIndependentAndLetsAreExact) {
  const ir::Problem problem =
      ProblemOf(absl::StrReplaceAll(kGeo, {{"quota = 1 node }", "quota = all - 1 node }"},
                                           {"sail 1\n", "sail 1\nlet all = half * 2\nlet half: nodes = 3 nodes\n"}}));
  EXPECT_EQ(problem.cluster.pools[0].quota, 5);
}

TEST(CheckFile, MembersOfBlocksAreValues) {
  const ir::Problem problem = ProblemOf(absl::StrReplaceAll(kGeo, {{"vocab = 256", "vocab = 4 * m.hidden"}}));
  EXPECT_EQ(problem.model.vocab, 256);
}

TEST(CheckFile, ImportsReadOtherFilesBesideTheImportingOne) {
  const std::string main = R"(sail 1
import "./parts/hardware.sail" as hw
resources lab {
  region "r" { zone "z" { pool p { machine = hw.box, quota = hw.size } } }
  link * <-> * within zone { bandwidth = 1 Gbps, latency = 10 us, egress = 0 USD/GB }
}
)";
  const auto good =
      CheckSource(main, {{"dir/parts/hardware.sail",
                          "sail 1\nimport \"./gpus.sail\" as gpus\nlet size = 2 nodes\n"
                          "machine box { gpu = gpus.G, gpus_per_node = 1 GPU, price.on_demand = 1 USD/h }\n"},
                         {"dir/parts/gpus.sail", "sail 1\ngpu G { memory = 1 GiB }\n"}});
  EXPECT_THAT(good.diagnostics, IsEmpty());
  const auto missing = CheckSource(main);
  EXPECT_THAT(missing.diagnostics, ElementsAre("SAIL0306 2:8 cannot find `./parts/hardware.sail`"));
}

TEST(CheckFile, DataFilesAreReadRelativeToTheSpec) {
  const std::string job =
      absl::StrReplaceAll(kGeo, {{"  minimize", "  data { text = [\"a.txt\", \"b.txt\"] }\n  minimize"}});
  const std::string half(17, 'x');  // a sample needs 32 + 1 bytes, both together hold 34
  EXPECT_THAT(CheckSource(job, {{"dir/a.txt", half}, {"dir/b.txt", half}}).diagnostics, IsEmpty());
  EXPECT_THAT(CheckSource(job, {{"dir/a.txt", half}, {"dir/b.txt", "tiny"}}).diagnostics,
              ElementsAre(HasSubstr("SAIL0422 23:17 the text has 21 bytes but one sample of `m` needs 33")));
  EXPECT_THAT(CheckSource(job, {{"dir/a.txt", half + "\xff"}, {"dir/b.txt", half}}).diagnostics,
              ElementsAre(HasSubstr("`a.txt` is not UTF-8 text: byte 17")));
}

TEST(CheckFile, SeveralMistakesAreReportedInOneRun) {
  const auto checked = CheckSource(R"(sail 1
gpu G { memory = 16 gib, usable_memory = 120% }
machine box { gpu = G, gpus_per_node = 2.5 GPUs, price { on_demand = 1 USD } }
model m { family = gpt, layers = 2 layers, hidden = 65, heads = 4, seq_len = 32 tokens, vocab = 256 }
job j { model = m, resources = lab, precision = fp8, batch { global = 4 samples, micro = 1 }, maximize speed }
)");
  EXPECT_THAT(checked.diagnostics,
              ElementsAre(HasSubstr("SAIL0202 2:21"), HasSubstr("SAIL0213 2:42"), HasSubstr("SAIL0210 3:40"),
                          HasSubstr("SAIL0204 3:70"), HasSubstr("SAIL0420 4:"), HasSubstr("SAIL0304 5:32"),
                          HasSubstr("SAIL0314 5:49"), HasSubstr("SAIL0504 5:")));
}

TEST(CheckFile, AFileWithoutJobsIsACatalogue) {
  const auto checked = CheckSource("sail 1\ngpu G { memory = 16 GiB }\n");
  ASSERT_TRUE(checked.spec.ok());
  EXPECT_THAT(checked.spec->jobs, IsEmpty());
}

TEST(CheckFile, AMissingFileIsAnEnvironmentError) {
  SourceManager sources;
  DiagnosticSink sink;
  const auto checked = CheckFile("none.sail", MemoryFileSystem(), ParseLimits(), sources, sink);
  EXPECT_EQ(checked.status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(sink.has_errors());
}

// Lists of lists that double in every line, and a chain of twenty thousand names: bounded work, one report.
TEST(CheckFile, EvaluationIsBounded) {
  std::string doubling = "sail 1\nlet l0 = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (int i = 1; i < 40; ++i) {
    absl::StrAppend(&doubling, "let l", i, " = [l", i - 1, ", l", i - 1, "]\n");
  }
  EXPECT_THAT(CheckSource(doubling).diagnostics, ElementsAre(HasSubstr("SAIL0119")));
  std::string chain = "sail 1\n";
  for (int i = 0; i < 20'000; ++i) absl::StrAppend(&chain, "let x", i, " = x", i + 1, "\n");
  EXPECT_THAT(CheckSource(chain + "let x20000 = 1\n").diagnostics, ElementsAre(HasSubstr("SAIL0119")));
}

}  // namespace
}  // namespace sail
