// What recomputation, ZeRO-1 and the trainer change about memory; every number is derived from the published formulas.
#include "gtest/gtest.h"
#include "simulator/memory_model.h"
#include "tests/support/builders.h"

namespace sail::sim {
namespace {

// The shape of a 7 G-parameter GPT (h 4096, 32 blocks).
constexpr int64_t kHidden = 4096;
constexpr int64_t kHeads = 32;
constexpr int64_t kSequence = 2048;
constexpr int64_t kMicroBatch = 2;

ir::Model LargeModel() {
  ir::Model model = test::TinyModel();
  model.blocks = 32;
  model.hidden = model.embedding_width = kHidden;
  model.heads = kHeads;
  model.feed_forward = 4 * kHidden;
  model.seq_len = model.position_rows = kSequence;
  model.vocab = 50304;
  return model;
}

ir::Job Bf16Job() {
  ir::Job job;
  job.precision = ir::Precision::kBf16;
  return job;
}

const ir::Gpu kGpu{.name = "gpu", .backend = ir::Backend::kCuda};

// One block, one micro-batch.
MemoryShape Block(int tensor, ir::Recompute recompute = ir::Recompute::kNone) {
  return {.first_layer = 1,
          .last_layer = 1,
          .tensor = tensor,
          .vocab_multiple = tensor,
          .micro_batch = kMicroBatch,
          .recompute = recompute};
}

int64_t Activations(const ir::Job& job, const MemoryShape& shape) {
  return ComputeMemory(LargeModel(), job, kGpu, shape).activations.value();
}

// Korthikanti et al. 2022, equation 2: s·b·h·(10 + 24/t + 5as/(ht)); 34 + 5as/h at t = 1 (equation 1).
TEST(Activations, AreThoseOfThePaperWithDropout) {
  ir::Job job = Bf16Job();
  job.trainer.dropout = true;
  for (const int64_t t : {1, 2, 4, 8}) {
    const int64_t row = 10 * kHidden + 24 * kHidden / t + 5 * kHeads * kSequence / t;
    EXPECT_EQ(Activations(job, Block(static_cast<int>(t))), kSequence * kMicroBatch * row);
  }
}

// Equation 4: s·b·h/t · (34 + 5as/h) with sequence parallelism.
TEST(Activations, SequenceParallelismDividesAllOfThem) {
  ir::Job job = Bf16Job();
  job.trainer.dropout = true;
  job.trainer.sequence_parallel = true;
  for (const int64_t t : {1, 2, 4, 8}) {
    const int64_t row = (34 * kHidden + 5 * kHeads * kSequence) / t;
    EXPECT_EQ(Activations(job, Block(static_cast<int>(t))), kSequence * kMicroBatch * row);
  }
}

// Equation 6: selective recomputation leaves s·b·h·34/t; without tensor parallelism 34 h.
TEST(Activations, SelectiveRecomputationDropsTheScores) {
  ir::Job job = Bf16Job();
  job.trainer.dropout = true;
  EXPECT_EQ(Activations(job, Block(1, ir::Recompute::kSelective)), kSequence * kMicroBatch * 34 * kHidden);
  job.trainer.sequence_parallel = true;
  EXPECT_EQ(Activations(job, Block(4, ir::Recompute::kSelective)), kSequence * kMicroBatch * 34 * kHidden / 4);
}

// Full recomputation keeps the block's input: 2·s·b·h.
TEST(Activations, FullRecomputationKeepsTheInput) {
  ir::Job job = Bf16Job();
  job.trainer.dropout = true;
  EXPECT_EQ(Activations(job, Block(4, ir::Recompute::kFull)), 2 * kSequence * kMicroBatch * kHidden);
}

// What is dropped lives again while its block runs backward: never less than keeping it for one micro-batch.
TEST(Activations, WhatIsComputedAgainIsWorkingSet) {
  ir::Job job = Bf16Job();
  for (const bool dropout : {false, true}) {
    job.trainer.dropout = dropout;
    const MemoryBreakdown kept = ComputeMemory(LargeModel(), job, kGpu, Block(2));
    for (const ir::Recompute recompute : {ir::Recompute::kSelective, ir::Recompute::kFull}) {
      const MemoryBreakdown again = ComputeMemory(LargeModel(), job, kGpu, Block(2, recompute));
      EXPECT_EQ(again.activations + again.working_set, kept.activations + kept.working_set);
    }
  }
}

TEST(Activations, FusedAttentionKeepsNoScores) {
  ir::Job job = Bf16Job();
  job.trainer.attention = ir::AttentionKernel::kFused;
  EXPECT_EQ(Activations(job, Block(1)), Activations(Bf16Job(), Block(1, ir::Recompute::kSelective)));
}

// Two blocks, embedding and head measured at 5, 3 and 2 MB, two micro-batches in flight: 2 · (10 + 3 + 2) MB kept, and
// a block's once more while it runs. The head's scores are among what it keeps.
TEST(Activations, MeasuredOnesReplaceTheFormula) {
  ir::Model model = LargeModel();
  model.blocks = 2;
  const MeasuredActivations measured{
      .embedding = Bytes(3'000'000), .block = Bytes(5'000'000), .head = Bytes(2'000'000)};
  const MemoryShape shape{.first_layer = 0, .last_layer = 3, .in_flight = 2};
  const MemoryBreakdown memory = ComputeMemory(model, Bf16Job(), kGpu, shape, measured);
  EXPECT_EQ(memory.activations, Bytes(30'000'000));
  EXPECT_EQ(memory.working_set, Bytes(5'000'000));
  EXPECT_EQ(memory.logits, Bytes::Zero());
  EXPECT_EQ(memory.logits_gradient, Bytes(4 * kSequence * model.vocab));
  EXPECT_EQ(MemoryTerms(memory)[4].provenance, ir::Provenance::kMeasured);
}

// A measurement without recomputation says nothing about a stage that recomputes.
TEST(Activations, MeasuredOnesDoNotCountForRecomputingStages) {
  const MeasuredActivations measured{.embedding = std::nullopt, .block = Bytes(5'000'000), .head = std::nullopt};
  const MemoryShape shape = Block(2, ir::Recompute::kFull);
  EXPECT_EQ(ComputeMemory(LargeModel(), Bf16Job(), kGpu, shape, measured).activations,
            ComputeMemory(LargeModel(), Bf16Job(), kGpu, shape).activations);
}

// Bytes of the states of one parameter, by term.
struct StateBytes {
  ir::GradientPrecision gradients;
  int64_t gradient;
  int64_t main_gradient;
  int64_t total;
};

// case opt-18: 2 weight + 4 master + 8 moments, and a gradient of 2, of 4, or of both.
TEST(Cases, Opt18EachTermIsListed) {
  const int64_t n = ParametersOfStage(LargeModel(), 1, 1, 1, 1);
  for (const auto& [gradients, gradient, main_gradient, total] :
       {StateBytes{ir::GradientPrecision::kParameter, 2, 0, 16}, StateBytes{ir::GradientPrecision::kFp32, 0, 4, 18},
        StateBytes{ir::GradientPrecision::kBoth, 2, 4, 20}}) {
    ir::Job job = Bf16Job();
    job.trainer.gradients = gradients;
    const MemoryBreakdown memory = ComputeMemory(LargeModel(), job, kGpu, Block(1));
    EXPECT_EQ(memory.parameters, Bytes(2 * n));
    EXPECT_EQ(memory.gradients, Bytes(gradient * n));
    EXPECT_EQ(memory.main_gradients, Bytes(main_gradient * n));
    EXPECT_EQ(memory.master_weights, Bytes(4 * n));
    EXPECT_EQ(memory.optimizer_states, Bytes(8 * n));
    EXPECT_EQ(
        memory.parameters + memory.gradients + memory.main_gradients + memory.master_weights + memory.optimizer_states,
        Bytes(total * n));
  }
}

// case opt-copy: the step goes tensor by tensor, so its fp32 copy of a 16-bit gradient is that of the largest tensor
// (h·4h), beside the step's denominator; with fp32 gradients there is nothing to copy.
TEST(Cases, OptCopyIsOfOneTensor) {
  ir::Job job = Bf16Job();
  EXPECT_EQ(ComputeMemory(LargeModel(), job, kGpu, Block(1)).optimizer_step, Bytes((4 + 4) * 4 * kHidden * kHidden));
  job.trainer.gradients = ir::GradientPrecision::kFp32;
  EXPECT_EQ(ComputeMemory(LargeModel(), job, kGpu, Block(1)).optimizer_step, Bytes(4 * 4 * kHidden * kHidden));
}

// Rajbhandari et al. 2020, P_os: 2 + 2 + 12/N bytes per parameter.
TEST(Zero1, DividesMasterWeightsAndMoments) {
  const int64_t n = ParametersOfStage(LargeModel(), 1, 1, 1, 1);
  MemoryShape shape = Block(1);
  shape.optimizer_shards = 4;
  const MemoryBreakdown memory = ComputeMemory(LargeModel(), Bf16Job(), kGpu, shape);
  EXPECT_EQ(memory.parameters + memory.gradients, Bytes(4 * n));
  EXPECT_EQ(memory.master_weights + memory.optimizer_states, Bytes(12 * ((n + 3) / 4)));
}

// case zero2-more: the bucket that the reduction copies into is in the forecast, of 25 MB (here the largest tensor is
// larger), or of all gradients where a trainer flattens them.
TEST(Cases, Zero2MoreTheBucketCounts) {
  ir::Job job = Bf16Job();
  const int64_t n = ParametersOfStage(LargeModel(), 1, 1, 1, 1);
  const int64_t boundaries = 2 * 2 * (kMicroBatch * kSequence * kHidden * 2);
  EXPECT_EQ(ComputeMemory(LargeModel(), job, kGpu, Block(1)).communication,
            Bytes(boundaries + 2 * 4 * kHidden * kHidden));
  job.trainer.flat_gradients = true;
  EXPECT_EQ(ComputeMemory(LargeModel(), job, kGpu, Block(1)).communication, Bytes(boundaries + 2 * n));
}

// case logits-spike: 8192 tokens of 151936 words in fp32 are 4.637 GiB, beside their bf16 copy and their gradient.
TEST(Cases, LogitsSpike) {
  ir::Model model = LargeModel();
  model.seq_len = model.position_rows = 8192;
  model.vocab = 151936;
  const MemoryShape last{.first_layer = 33, .last_layer = 33};
  const MemoryBreakdown memory = ComputeMemory(model, Bf16Job(), kGpu, last);
  EXPECT_EQ(memory.logits, Bytes(4'978'638'848));
  EXPECT_NEAR(static_cast<double>(memory.logits.value()) / (1 << 30), 4.637, 0.001);
  EXPECT_EQ(memory.logits_copy, Bytes(4'978'638'848 / 2));
  EXPECT_EQ(memory.logits_gradient, memory.logits);
}

// case seq-2049: a sample of 2048 inputs and shifted targets counts 2048 tokens: ids of 8 bytes each.
TEST(Cases, Seq2049CountsInputs) {
  const MemoryShape embedding{.first_layer = 0, .last_layer = 0};
  EXPECT_EQ(ComputeMemory(LargeModel(), Bf16Job(), kGpu, embedding).activations, Bytes(2048 * 8));
}

// On GPUs every byte that lives costs 5.86 % of slack; the framework is the gpu's own where it is declared.
TEST(MemoryModel, SlackAndFrameworkComeOnTop) {
  ir::Gpu gpu = kGpu;
  gpu.framework_memory = Bytes(4'540'000'000);
  const MemoryBreakdown memory = ComputeMemory(LargeModel(), Bf16Job(), gpu, Block(1));
  const int64_t live = memory.Total().value() - memory.framework.value() - memory.allocator_slack.value();
  EXPECT_EQ(memory.allocator_slack.value(), static_cast<int64_t>(0.0586 * static_cast<double>(live)));
  EXPECT_EQ(memory.framework, Bytes(4'540'000'000));
}

}  // namespace
}  // namespace sail::sim
