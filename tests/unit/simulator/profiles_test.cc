#include "simulator/profiles.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "simulator/backend_constants.h"
#include "simulator/compute_cost.h"
#include "simulator/sail_cost_model.h"
#include "simulator/simulate.h"
#include "simulator/stage_costs.h"
#include "tests/support/builders.h"

namespace sail::sim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

ir::Problem BareProblem() {
  return {.job = test::TinyJob(), .model = test::TinyModel(), .cluster = test::TinyCluster(), .profile = {}};
}

constexpr char kHeader[] =
    R"({"format":"1.0","kind":"sailprofile","gpu":"fast_cpu","precision":"fp32",
        "model":{"hidden":32,"heads":4,"feed_forward":128,"seq_len":16,"vocab":37,"embedding_width":32},"entries":[)";

std::string Entry(absl::string_view layer, int tensor, int micro_batch, double forward, double backward,
                  double optimizer) {
  return absl::StrCat(R"({"layer":")", layer, R"(","tensor":)", tensor, R"(,"micro_batch":)", micro_batch,
                      R"(,"forward_s":)", forward, R"(,"backward_s":)", backward, R"(,"optimizer_s":)", optimizer, "}");
}

// Micro-batches 1 and 4 of every layer and degree 1, 2, 4.
std::string Measured() {
  std::string text = kHeader;
  absl::string_view comma = "";
  for (const char* layer : {"embedding", "block", "head"}) {
    for (const int tensor : {1, 2, 4}) {
      absl::StrAppend(&text, comma, Entry(layer, tensor, 1, 1, 2, 0.5), ",", Entry(layer, tensor, 4, 4, 11, 0.5));
      comma = ",";
    }
  }
  return text + "]}";
}

ir::LayerTime TimeOf(const ir::Problem& problem, ir::LayerKind kind, int gpu, int tensor, int micro_batch) {
  return *problem.profile.Get({.kind = kind, .gpu = ir::GpuId(gpu), .tensor = tensor, .micro_batch = micro_batch},
                              problem.cluster);
}

// Micro-batch 2 lies a third of the way from 1 to 4: forward 1 + 3/3, backward 2 + 9/3. The other gpu is derived.
TEST(MeasuredProfile, InterpolatesBetweenMicroBatches) {
  ir::Problem problem = BareProblem();
  ASSERT_EQ(AddMeasuredProfile(Measured(), "p.json", ir::GpuId(0), problem), absl::OkStatus());
  ASSERT_EQ(CompleteProfile(problem), absl::OkStatus());
  const ir::LayerTime time = TimeOf(problem, ir::LayerKind::kBlock, 0, 2, 2);
  EXPECT_DOUBLE_EQ(time.forward.value(), 2);
  EXPECT_DOUBLE_EQ(time.backward.value(), 5);
  EXPECT_DOUBLE_EQ(time.optimizer.value(), 0.5);
  EXPECT_EQ(time.provenance, ir::Provenance::kMeasured);
  EXPECT_EQ(TimeOf(problem, ir::LayerKind::kBlock, 1, 2, 2).provenance, ir::Provenance::kDerived);
}

TEST(MeasuredProfile, NeverExtrapolates) {
  ir::Problem problem = BareProblem();
  problem.job.micro_batches = {1, 8};
  ASSERT_EQ(AddMeasuredProfile(Measured(), "p.json", ir::GpuId(0), problem), absl::OkStatus());
  const absl::Status status = CompleteProfile(problem);
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("embedding on fast_cpu, tensor 1, micro-batch 8"));
}

TEST(MeasuredProfile, NamesTheMissingEntry) {
  ir::Problem problem = BareProblem();
  const std::string text = kHeader + Entry("embedding", 1, 1, 1, 1, 0) + "," + Entry("block", 1, 1, 1, 1, 0) + "]}";
  problem.job.tensor_degrees = {1};
  problem.job.micro_batches = {1};
  ASSERT_EQ(AddMeasuredProfile(text, "p.json", ir::GpuId(0), problem), absl::OkStatus());
  const absl::Status status = CompleteProfile(problem);
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("no profile entry for head on fast_cpu, tensor 1, micro-batch 1"));
}

TEST(MeasuredProfile, CompletingTwiceChangesNothing) {
  ir::Problem problem = BareProblem();
  ASSERT_EQ(AddMeasuredProfile(Measured(), "p.json", ir::GpuId(0), problem), absl::OkStatus());
  ASSERT_EQ(CompleteProfile(problem), absl::OkStatus());
  const ir::Problem once = problem;
  ASSERT_EQ(CompleteProfile(problem), absl::OkStatus());
  EXPECT_EQ(problem, once);
}

struct BadProfile {
  const char* name;
  const char* from;  // replaced in the good text …
  const char* to;    // … by this
  std::vector<const char*> expected;
};

class BadProfiles : public ::testing::TestWithParam<BadProfile> {};

TEST_P(BadProfiles, AreRefusedWithAMessageAndAddNothing) {
  const BadProfile& bad = GetParam();
  ir::Problem problem = BareProblem();
  const std::string text = absl::StrReplaceAll(Measured(), {{bad.from, bad.to}});
  ASSERT_NE(text, Measured());
  const absl::Status status = AddMeasuredProfile(text, "p.json", ir::GpuId(0), problem);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("p.json"));
  for (const char* part : bad.expected) EXPECT_THAT(std::string(status.message()), HasSubstr(part));
  EXPECT_TRUE(problem.profile.times().empty());
}

INSTANTIATE_TEST_SUITE_P(
    Files, BadProfiles,
    ::testing::Values(BadProfile{"gpu", "\"fast_cpu\"", "\"A100_40\"", {"A100_40", "fast_cpu"}},
                      BadProfile{"precision", "\"fp32\"", "\"bf16\"", {"bf16", "fp32"}},
                      BadProfile{"hidden", "\"hidden\":32", "\"hidden\":2048", {"hidden", "2048", "32"}},
                      BadProfile{"format", "\"1.0\"", "\"2.0\"", {"2.0", "1.0"}},
                      BadProfile{"kind", "sailprofile", "sailplan", {"sailplan"}},
                      BadProfile{"unknown", "\"kind\"", "\"colour\":1,\"kind\"", {"colour"}},
                      BadProfile{"layer", "\"head\"", "\"tail\"", {"tail"}},
                      BadProfile{"negative", "\"forward_s\":4", "\"forward_s\":-4", {"entries[1]"}},
                      BadProfile{"zero", "\"tensor\":1", "\"tensor\":0", {"entries[0]", "1.."}},
                      BadProfile{"twice", "\"micro_batch\":4", "\"micro_batch\":1", {"second entry"}},
                      BadProfile{"cut", "]}", "]", {}}),
    [](const auto& info) { return info.param.name; });

// One block on fast_cpu (20 GFLOP/s · 0.6, 10 GB/s · 0.6), one sample of 16 tokens:
//   linear products    2·16·(4·32² + 2·32·128) = 393216 FLOPs / 12e9
//   scores and values  4·16²·32 = 32768 FLOPs / 12e9, as long as their 2 · 16 · (4·16 + 2·32) elements · 4 / 6e9
//   other kernels      16 · (8·32 + 2·128 + 4·64 = 768) elements · 4 = 49152 bytes / 6e9
//   dispatch           20 · 5 us, on a CPU added
// Backward has twice the products and kernels, and 16 · (8·32 + 2.5·128 + 6.5·64 = 992) · 4 = 63488 bytes. The step
// moves 7 words per parameter (gradient, parameter and two moments, the last three in and out).
TEST(DerivedProfile, BlockIsItsProductsItsOtherKernelsAndTheirDispatch) {
  const ir::LayerTime time = TimeOf(test::TinyProblem(), ir::LayerKind::kBlock, 0, 1, 1);
  EXPECT_NEAR(time.forward.value(), 425984 / 12e9 + 49152 / 6e9 + 100e-6, 1e-12);
  EXPECT_NEAR(time.backward.value(), 2 * 425984 / 12e9 + 63488 / 6e9 + 200e-6, 1e-12);
  EXPECT_NEAR(time.optimizer.value(), 12704 * 28 / 6e9 + 5e-6, 1e-12);
  EXPECT_EQ(time.provenance, ir::Provenance::kDerived);
}

// Degree 2 halves products and what lies inside the group, 16 · (256 + 512/2) · 4 = 32768 bytes forward, 16 · (256 +
// 736/2) · 4 = 39936 backward, and adds two all-reduces of 16 · 32 · 4 bytes over 8 GB/s: 2 · (2 · 130 us + 2048 /
// 8e9).
TEST(DerivedProfile, TensorParallelBlockPaysItsAllReduces) {
  const ir::LayerTime time = TimeOf(test::TinyProblem(), ir::LayerKind::kBlock, 0, 2, 1);
  const double collectives = 2 * (260e-6 + 2048 / 8e9);
  EXPECT_NEAR(time.forward.value(), 425984 / 2 / 12e9 + 32768 / 6e9 + 100e-6 + collectives, 1e-12);
  EXPECT_NEAR(time.backward.value(), 425984 / 12e9 + 39936 / 6e9 + 200e-6 + collectives, 1e-12);
}

// One block of TinyLlama on fast_cpu, one sample of 8 tokens: linear products 14848 − 4·8²·16 = 10752 FLOPs; scores and
// values are bound by memory, 2 · 8 · (4·8 + 2·16) · 4 = 4096 bytes; other kernels 8h + 5f + rotation 2w + 2k + 4·a·s =
// 64 + 60 + 48 + 128 = 300 elements a token, 9600 bytes; 24 kernels. Norms of queries and keys: 48 elements a token and
// two kernels more. Embedding: five rows a token.
TEST(DerivedProfile, LlamaBlockReadsAndWritesWhatItsKernelsDo) {
  ir::Problem problem = BareProblem();
  problem.model = test::TinyLlama();
  problem.job.tensor_degrees = {1};
  ASSERT_EQ(CompleteProfile(problem), absl::OkStatus());
  const double forward = 10752 / 12e9 + (4096 + 9600) / 6e9 + 24 * 5e-6;
  EXPECT_NEAR(TimeOf(problem, ir::LayerKind::kBlock, 0, 1, 1).forward.value(), forward, 1e-12);
  EXPECT_NEAR(TimeOf(problem, ir::LayerKind::kEmbedding, 0, 1, 1).forward.value(), 8 * 40 * 4 / 6e9 + 5e-6, 1e-12);
  problem.model.qk_norm = true;
  problem.profile = {};
  ASSERT_EQ(CompleteProfile(problem), absl::OkStatus());
  EXPECT_NEAR(TimeOf(problem, ir::LayerKind::kBlock, 0, 1, 1).forward.value(), forward + 8 * 48 * 4 / 6e9 + 2 * 5e-6,
              1e-12);
}

// On a GPU the longer of work and dispatch counts: 20 kernels forward and 40 backward at 1 ms each hide the tiny block.
TEST(DerivedProfile, GpuHidesWorkBehindASlowHost) {
  ir::Problem problem = BareProblem();
  for (ir::Gpu& gpu : problem.cluster.gpus) gpu.backend = ir::Backend::kCuda;
  problem.job.trainer.dispatch = Seconds(1e-3);
  ASSERT_EQ(CompleteProfile(problem), absl::OkStatus());
  EXPECT_NEAR(TimeOf(problem, ir::LayerKind::kBlock, 0, 1, 1).forward.value(), 20e-3, 1e-12);
  EXPECT_NEAR(TimeOf(problem, ir::LayerKind::kBlock, 0, 1, 1).backward.value(), 40e-3, 1e-12);
}

// A declared efficiency replaces the backend's: products at 0.5 · 20 GFLOP/s and 1 us each (4 linear, 2 of attention),
// other kernels at 0.5 · 10 GB/s. Scores: 16384 / 10e9 + 1 us a product is longer than 8192 / 5e9.
TEST(DerivedProfile, UsesTheEfficiencyOfTheGpu) {
  ir::Problem problem = BareProblem();
  problem.cluster.gpus[0].efficiency = {.matmul = 0.5, .ramp = Seconds(1e-6), .memory = 0.5};
  ASSERT_EQ(CompleteProfile(problem), absl::OkStatus());
  EXPECT_NEAR(TimeOf(problem, ir::LayerKind::kBlock, 0, 1, 1).forward.value(),
              425984 / 10e9 + 6e-6 + 49152 / 5e9 + 100e-6, 1e-12);
}

// FlashAttention computes scores again in backward and writes none: 5 products of 16384 FLOPs, no a·s elements, four
// kernels less forward.
TEST(DerivedProfile, FusedAttentionWritesNoScores) {
  ir::Problem problem = BareProblem();
  problem.job.trainer.attention = ir::AttentionKernel::kFused;
  ASSERT_EQ(CompleteProfile(problem), absl::OkStatus());
  const ir::LayerTime time = TimeOf(problem, ir::LayerKind::kBlock, 0, 1, 1);
  EXPECT_NEAR(time.forward.value(), 425984 / 12e9 + 16 * 512 * 4 / 6e9 + 80e-6, 1e-12);
  EXPECT_NEAR(time.backward.value(), (2 * 393216 + 5 * 16384) / 12e9 + 16 * 576 * 4 / 6e9 + 160e-6, 1e-12);
}

// A profile of a llama says what its attention was.
TEST(MeasuredProfile, OfALlamaNamesItsKeyValueHeads) {
  ir::Problem problem = BareProblem();
  problem.model.family = ir::ModelFamily::kLlama;
  problem.model.kv_heads = 2;
  const absl::Status missing = AddMeasuredProfile(Measured(), "p.json", ir::GpuId(0), problem);
  EXPECT_THAT(std::string(missing.message()), HasSubstr("kv_heads"));
  const std::string other =
      absl::StrReplaceAll(Measured(), {{"\"heads\":4", "\"heads\":4,\"kv_heads\":4,\"head_dim\":8"}});
  const absl::Status wrong = AddMeasuredProfile(other, "p.json", ir::GpuId(0), problem);
  EXPECT_THAT(std::string(wrong.message()), HasSubstr("was measured for kv_heads 4, model tiny has 2"));
}

// slow_machine has two GPUs: degree 4 does not fit and has no entry; a pool without quota needs none.
TEST(DerivedProfile, CoversWhatFitsTheMachines) {
  ir::Problem problem = test::TinyProblem();
  const ir::ProfileKey key{.kind = ir::LayerKind::kHead, .gpu = ir::GpuId(1), .tensor = 4, .micro_batch = 4};
  EXPECT_EQ(problem.profile.Find(key), nullptr);
  EXPECT_EQ(problem.profile.times().size(), 3u * (3 * 3 + 2 * 3));
  problem.cluster.pools[1].quota = 0;
  problem.profile = {};
  ASSERT_EQ(CompleteProfile(problem), absl::OkStatus());
  EXPECT_EQ(problem.profile.times().size(), 3u * 3 * 3);
}

TEST(DerivedProfile, NamesTheMissingPeak) {
  ir::Problem problem = BareProblem();
  problem.job.precision = ir::Precision::kBf16;
  const absl::Status status = CompleteProfile(problem);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("fast_cpu"), HasSubstr("bf16")));
}

// Without a declared memory bandwidth the backend's assumed 10 GB/s counts, which is what TinyCluster declares.
TEST(DerivedProfile, AssumesAMemoryBandwidthWhereNoneIsGiven) {
  ir::Problem problem = BareProblem();
  for (ir::Gpu& gpu : problem.cluster.gpus) gpu.memory_bandwidth.reset();
  ASSERT_EQ(CompleteProfile(problem), absl::OkStatus());
  EXPECT_EQ(problem.profile, test::TinyProblem().profile);
}

// fp32: 4 + 8 + 16; 16 bit: gradient 2, master 8, moments 16, parameter copy 2.
TEST(DerivedProfile, OptimizerTraffic) {
  EXPECT_EQ(OptimizerTrafficPerParameter(ir::Precision::kFp32), 28);
  EXPECT_EQ(OptimizerTrafficPerParameter(ir::Precision::kBf16), 28);
  EXPECT_EQ(OptimizerTrafficPerParameter(ir::Precision::kFp64), 56);
}

// Faster gpu, smaller share, larger micro-batch: times order accordingly on the whole table.
TEST(DerivedProfile, IsMonotone) {
  const ir::Problem problem = test::TinyProblem();
  for (const auto& [key, time] : problem.profile.times()) {
    ir::ProfileKey larger = key;
    larger.micro_batch *= 2;
    if (const ir::LayerTime* other = problem.profile.Find(larger)) {
      EXPECT_GT(other->forward, time.forward);
      EXPECT_LT(other->forward, 2 * time.forward) << "launches are paid once";
    }
  }
}

TEST(StageCosts, StageIsTheSumOfItsLayers) {
  const ir::Problem problem = test::TinyProblem();
  const StageCosts costs(problem);
  const StageTimes whole = costs.Times({.first_layer = 0, .last_layer = 5, .pool = ir::PoolId(0)});
  const auto of = [&](ir::LayerKind kind) { return TimeOf(problem, kind, 0, 1, 1).forward.value(); };
  EXPECT_NEAR(whole.forward, of(ir::LayerKind::kEmbedding) + 4 * of(ir::LayerKind::kBlock) + of(ir::LayerKind::kHead),
              1e-12);
  EXPECT_FALSE(whole.is_measured);
  const StageTimes blocks = costs.Times({.first_layer = 2, .last_layer = 3, .pool = ir::PoolId(1)});
  EXPECT_NEAR(blocks.backward, 2 * TimeOf(problem, ir::LayerKind::kBlock, 1, 1, 1).backward.value(), 1e-12);
}

TEST(StageCosts, PlanWithoutProfileIsRefusedByName) {
  ir::Problem problem = test::TinyProblem();
  EXPECT_EQ(StageCosts(problem).CheckProfile(test::TinyPlan()), absl::OkStatus());
  problem.profile = {};
  for (const absl::Status& status : {StageCosts(problem).CheckProfile(test::TinyPlan()),
                                     MakeSailCostModel(problem)->Evaluate(test::TinyPlan()).status(),
                                     Simulate(problem, test::TinyPlan()).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
    EXPECT_THAT(std::string(status.message()), HasSubstr("no profile entry for embedding on fast_cpu, tensor 2"));
  }
}

TEST(StageCostsDeathTest, MissingEntryIsNamed) {
  const ir::Problem problem = test::TinyProblem();
  const StageCosts costs(problem);
  EXPECT_EXIT((void)costs.Times({.first_layer = 1, .last_layer = 1, .pool = ir::PoolId(1), .tensor = 4}),
              ::testing::ExitedWithCode(70), "block on slow_cpu, tensor 4, micro-batch 1");
}

}  // namespace
}  // namespace sail::sim
