#include "runtime/profile/measurements.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "simulator/profiles.h"
#include "tests/support/builders.h"

namespace sail::rt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Degrees 1, 2, 4 and micro-batches 1, 2, 4; fast machines have 4 gpus, slow ones 2.
ir::Problem Bare() {
  return {.job = test::TinyJob(), .model = test::TinyModel(), .cluster = test::TinyCluster(), .profile = {}};
}
constexpr ir::GpuId kFast(0);
constexpr ir::GpuId kSlow(1);

std::string ErrorOf(const ir::Problem& problem, absl::string_view names) {
  const auto gpus = GpusToProfile(problem, names);
  EXPECT_TRUE(absl::IsInvalidArgument(gpus.status())) << gpus.status().ToString();
  return std::string(gpus.status().message());
}

TEST(CasesOf, DegreesThatAMachineOfTheGpuHoldsTimesMicroBatches) {
  EXPECT_THAT(CasesOf(Bare(), {kSlow}), ElementsAre(ProfileCase{1, 1}, ProfileCase{1, 2}, ProfileCase{1, 4},
                                                    ProfileCase{2, 1}, ProfileCase{2, 2}, ProfileCase{2, 4}));
  EXPECT_EQ(CasesOf(Bare(), {kSlow, kFast}).back(), (ProfileCase{4, 4}));
}

TEST(CasesOf, AMachineWithoutQuotaDoesNotCount) {
  ir::Problem problem = Bare();
  problem.cluster.pools[0].quota = 0;
  EXPECT_EQ(CasesOf(problem, {kSlow, kFast}).back(), (ProfileCase{2, 4}));
}

TEST(GpusToProfile, NamesInTheOrderGiven) {
  const auto gpus = GpusToProfile(Bare(), "slow_cpu,fast_cpu");
  ASSERT_TRUE(gpus.ok()) << gpus.status().ToString();
  EXPECT_THAT(*gpus, ElementsAre(kSlow, kFast));
}

TEST(GpusToProfile, TheOnlyOneNeedsNoName) {
  ir::Problem problem = Bare();
  problem.cluster.pools[0].quota = 0;
  const auto gpus = GpusToProfile(problem, "");
  ASSERT_TRUE(gpus.ok()) << gpus.status().ToString();
  EXPECT_THAT(*gpus, ElementsAre(kSlow));
}

TEST(GpusToProfile, SaysWhatIsWrong) {
  EXPECT_THAT(ErrorOf(Bare(), ""), HasSubstr("the plan's pools have the gpus fast_cpu, slow_cpu; --gpu says which"));
  EXPECT_THAT(ErrorOf(Bare(), "H100"),
              HasSubstr("no pool of the plan has a gpu 'H100'; its gpus are fast_cpu, slow_cpu"));
  EXPECT_THAT(ErrorOf(Bare(), "slow_cpu,"), HasSubstr("no pool of the plan has a gpu ''"));
  EXPECT_THAT(ErrorOf(Bare(), "slow_cpu,slow_cpu"), HasSubstr("'slow_cpu' is listed twice"));
  ir::Problem problem = Bare();
  problem.cluster.gpus[0].backend = ir::Backend::kCuda;
  EXPECT_THAT(ErrorOf(problem, "fast_cpu"), HasSubstr("gpu 'fast_cpu' has backend cuda"));
}

TEST(RoundSamples, ReadBackAsPrinted) {
  const RoundSamples samples{
      .size = {.tensor = 2, .micro_batch = 4},
      .layers = {{ir::LayerKind::kBlock, {{0.5, 1.25, 0.125}, {0.25, 1, 0}}}, {ir::LayerKind::kHead, {{1, 2, 3}}}}};
  const std::string line = PrintRoundSamples(samples);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto read = ParseRoundSamples(line);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(*read, samples);
}

TEST(RoundSamples, RefusesOtherText) {
  for (const char* text :
       {"[W socket.cpp:601] cannot connect", R"({"tensor":1})", R"({"tensor":1,"micro_batch":1,"block":[[1,2]]})",
        R"({"tensor":1,"micro_batch":1,"block":[[1,2,-3]]})", R"({"tensor":1,"micro_batch":1,"block":3})",
        R"({"tensor":1,"micro_batch":1,"body":[[1,2,3]]})"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseRoundSamples(text).status())) << text;
  }
}

TEST(Median, OfOddAndEvenCounts) {
  EXPECT_EQ(Median({3, 1, 2}), 2);
  EXPECT_EQ(Median({4, 1, 3, 2}), 2.5);
}

// Nine values keep all: 45 / 9. Of ten, 0 and 100 go: 36 / 8.
TEST(TrimmedMean, DropsTheTenthAtEitherEnd) {
  EXPECT_EQ(TrimmedMean({3}), 3);
  EXPECT_EQ(TrimmedMean({9, 1, 8, 2, 7, 3, 6, 4, 5}), 5);
  EXPECT_EQ(TrimmedMean({100, 1, 8, 2, 7, 3, 6, 4, 5, 0}), 4.5);
}

// Forward of the block at (1, 2): 1, 2, 9 of one rank, 3, 4 of another, 19 / 5 in the mean; backward has ten times as
// much. Forward + backward is 11, 22, 33, 44, 99: quartiles 22 and 44, median 33, spread 22 / 33.
TEST(EntriesOf, MeansOverAllRanksWhateverTheirOrder) {
  const RoundSamples a{.size = {1, 2}, .layers = {{ir::LayerKind::kBlock, {{1, 10, 5}, {2, 20, 5}, {9, 90, 5}}}}};
  const RoundSamples b{.size = {1, 2}, .layers = {{ir::LayerKind::kBlock, {{3, 30, 5}, {4, 40, 5}}}}};
  const RoundSamples other{.size = {1, 1}, .layers = {{ir::LayerKind::kBlock, {{7, 7, 7}}}}};
  for (const auto& samples : {std::vector{a, b, other}, std::vector{other, b, a}}) {
    const std::vector<ProfileEntry> entries = EntriesOf(samples);
    ASSERT_EQ(entries.size(), 2u);
    EXPECT_EQ(entries[0].size, (ProfileCase{1, 1}));
    EXPECT_EQ(entries[1].seconds, (LayerSeconds{3.8, 38, 5}));
    EXPECT_DOUBLE_EQ(entries[1].spread, 22.0 / 33);
  }
}

// What is written is what the compiler reads: complete for the gpu, and measured.
TEST(ProfileText, IsReadAsAMeasuredProfile) {
  ir::Problem problem = Bare();
  std::vector<RoundSamples> samples;
  for (const ProfileCase& size : CasesOf(problem, {kSlow})) {
    const std::vector<LayerSeconds> times = {{1e-3 * size.micro_batch, 2e-3, 5e-4}};
    samples.push_back(
        {.size = size,
         .layers = {
             {ir::LayerKind::kEmbedding, times}, {ir::LayerKind::kBlock, times}, {ir::LayerKind::kHead, times}}});
  }
  const std::string text = ProfileText(problem, kSlow, EntriesOf(samples));
  ASSERT_EQ(sim::AddMeasuredProfile(text, "slow.json", kSlow, problem), absl::OkStatus());
  ASSERT_EQ(sim::CompleteProfile(problem), absl::OkStatus());
  const auto time =
      problem.profile.Get({.kind = ir::LayerKind::kHead, .gpu = kSlow, .tensor = 2, .micro_batch = 4}, problem.cluster);
  ASSERT_TRUE(time.ok()) << time.status().ToString();
  EXPECT_EQ(*time, (ir::LayerTime{.forward = Seconds(4e-3),
                                  .backward = Seconds(2e-3),
                                  .optimizer = Seconds(5e-4),
                                  .provenance = ir::Provenance::kMeasured}));
}

}  // namespace
}  // namespace sail::rt
