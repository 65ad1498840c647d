#include "simulator/memory_model.h"

#include "gtest/gtest.h"
#include "simulator/sail_cost_model.h"
#include "tests/support/builders.h"

namespace sail::sim {
namespace {

// h 4, a 2, f 16, s 8, v 10, two blocks; layers 0..3.
ir::Model SmallModel() {
  ir::Model model = test::TinyModel();
  model.blocks = 2;
  model.hidden = model.embedding_width = 4;
  model.heads = 2;
  model.feed_forward = 16;
  model.seq_len = model.position_rows = 8;
  model.vocab = 10;
  return model;
}

ir::Model Gpt(int64_t hidden, int64_t heads, int blocks, int64_t seq_len, int64_t vocab) {
  ir::Model model = test::TinyModel();
  model.hidden = model.embedding_width = hidden;
  model.heads = heads;
  model.feed_forward = 4 * hidden;
  model.blocks = blocks;
  model.seq_len = model.position_rows = seq_len;
  model.vocab = vocab;
  return model;
}

ir::Job JobAt(ir::Precision precision) {
  ir::Job job;
  job.precision = precision;
  return job;
}

ir::Gpu GpuOf(ir::Backend backend) { return {.name = "gpu", .backend = backend}; }

MemoryShape Whole(const ir::Model& model, int tensor) {
  return {.first_layer = 0, .last_layer = model.layer_count() - 1, .tensor = tensor, .vocab_multiple = tensor};
}

Bytes TermOf(const std::vector<ir::MemoryTerm>& terms, absl::string_view what) {
  for (const ir::MemoryTerm& term : terms) {
    if (term.what == what) return term.bytes;
  }
  return Bytes::Zero();
}

// A block: 12h² + 13h = 244 parameters; embedding 10·4 + 8·4 = 72; head 10·4 + 2·4 = 48, of which the table's 40 are
// the embedding's.
TEST(MemoryModel, CountsParametersOfAStageAndTiedTablesOnce) {
  const ir::Model model = SmallModel();
  EXPECT_EQ(ParametersOfStage(model, 0, 3, 1, 1), 2 * 244 + 72 + 8);
  EXPECT_EQ(ParametersOfStage(model, 0, 3, 1, 1), ir::TotalParameters(model));
  EXPECT_EQ(ParametersOfStage(model, 0, 1, 1, 1), 244 + 72);
  EXPECT_EQ(ParametersOfStage(model, 2, 3, 1, 1), 244 + 48);
  EXPECT_EQ(ParametersOfStage(model, 1, 2, 1, 1), 2 * 244);
}

// fp32 states: 4 + 4 + 8 bytes per parameter, no master copy.
TEST(MemoryModel, StatesInFp32) {
  const ir::Model model = SmallModel();
  const MemoryBreakdown memory =
      ComputeMemory(model, JobAt(ir::Precision::kFp32), GpuOf(ir::Backend::kCpu), Whole(model, 1));
  EXPECT_EQ(memory.parameters, Bytes(4 * 568));
  EXPECT_EQ(memory.gradients, Bytes(4 * 568));
  EXPECT_EQ(memory.optimizer_states, Bytes(8 * 568));
  EXPECT_EQ(memory.master_weights, Bytes::Zero());
}

// One block, degree 1, two samples, three in flight, fp32. Per token 4h + 4h + 2f + a·s = 16 + 16 + 32 + 16 = 80
// elements; 2 · 8 tokens · 80 · 4 bytes = 5120; three of them.
TEST(MemoryModel, StashedActivationsOfABlock) {
  const ir::Model model = SmallModel();
  MemoryShape shape{.first_layer = 1, .last_layer = 1, .micro_batch = 2, .in_flight = 3};
  EXPECT_EQ(ComputeMemory(model, JobAt(ir::Precision::kFp32), GpuOf(ir::Backend::kCpu), shape).activations,
            Bytes(3 * 5120));
  // Degree 2 halves all but the 4h rows of norms and column-parallel inputs: 16 + 64 / 2 = 48.
  shape.tensor = shape.vocab_multiple = 2;
  EXPECT_EQ(ComputeMemory(model, JobAt(ir::Precision::kFp32), GpuOf(ir::Backend::kCpu), shape).activations,
            Bytes(3 * 16 * 48 * 4));
  // At 16 bit half.
  EXPECT_EQ(ComputeMemory(model, JobAt(ir::Precision::kBf16), GpuOf(ir::Backend::kCuda), shape).activations,
            Bytes(3 * 16 * 48 * 2));
}

// Korthikanti et al.: s·b·h·(10 + 24/t + 5as/(ht)) at 16 bit, dropout included. Without its masks (2 of the 10, and of
// the 5as/h mask 1 and masked copy 2): s·b·h·(8 + 24/t + 2as/(ht)).
TEST(MemoryModel, AgreesWithThePublishedFormulaWithoutDropout) {
  const ir::Model model = Gpt(1024, 16, 24, 2048, 50304);
  for (const int64_t t : {1, 2, 4, 8}) {
    const MemoryShape shape{
        .first_layer = 1, .last_layer = 1, .tensor = static_cast<int>(t), .vocab_multiple = 8, .micro_batch = 4};
    const int64_t published = 2048 * 4 * (8 * 1024 + (24 * 1024 + 2 * 16 * 2048) / t);
    EXPECT_EQ(ComputeMemory(model, JobAt(ir::Precision::kBf16), GpuOf(ir::Backend::kCuda), shape).activations,
              Bytes(published));
  }
}

// Per token 4h + 2w + 2k + 4f + a·s = 32 + 32 + 16 + 48 + 32 = 160 elements: 8 tokens · 160 · 4 bytes. Degree 2 halves
// all but the 4h. Norms of queries and keys keep their inputs, w + k = 24 more. Working: 4h + 3f + 2a·s = 132. Largest
// tensor of a block: h·(w + 2k) = 256.
TEST(MemoryModel, StashedActivationsOfALlamaBlock) {
  ir::Model model = test::TinyLlama();
  MemoryShape shape{.first_layer = 1, .last_layer = 1, .micro_batch = 1, .in_flight = 1};
  const auto memory = [&] {
    return ComputeMemory(model, JobAt(ir::Precision::kFp32), GpuOf(ir::Backend::kCpu), shape);
  };
  EXPECT_EQ(memory().activations, Bytes(8 * 160 * 4));
  EXPECT_EQ(memory().working_set, Bytes(8 * 132 * 4));
  EXPECT_EQ(memory().optimizer_step, Bytes(256 * 4));
  model.qk_norm = true;
  EXPECT_EQ(memory().activations, Bytes(8 * 184 * 4));
  model.qk_norm = false;
  shape.tensor = shape.vocab_multiple = 2;
  EXPECT_EQ(memory().activations, Bytes(8 * (32 + 128 / 2) * 4));
}

// Embedding: 8 bytes of id per token; head: id and two h-rows.
TEST(MemoryModel, StashedActivationsOfEmbeddingAndHead) {
  const ir::Model model = SmallModel();
  const auto activations = [&](int first, int last) {
    return ComputeMemory(model, JobAt(ir::Precision::kFp32), GpuOf(ir::Backend::kCpu),
                         {.first_layer = first, .last_layer = last})
        .activations;
  };
  EXPECT_EQ(activations(0, 0), Bytes(8 * 8));
  EXPECT_EQ(activations(3, 3), Bytes(8 * (8 + 2 * 4 * 4)));
}

TEST(MemoryModel, ReportRowsAddUpAndSayWhatIsAssumed) {
  const ir::Model model = SmallModel();
  const MemoryBreakdown memory =
      ComputeMemory(model, JobAt(ir::Precision::kFp32), GpuOf(ir::Backend::kCpu), Whole(model, 1));
  Bytes sum = Bytes::Zero();
  for (const ir::MemoryTerm& term : MemoryTerms(memory)) {
    sum += term.bytes;
    EXPECT_NE(term.what, "master weights");  // zero rows are left out
    if (term.what == "framework") {
      EXPECT_EQ(term.provenance, ir::Provenance::kAssumed);
    }
    if (term.what == "parameters") {
      EXPECT_EQ(term.provenance, ir::Provenance::kDerived);
    }
  }
  EXPECT_EQ(sum, memory.Total());
}

// Usable memory times the job's limit: 2 GiB · 0.5 · 0.92.
TEST(MemoryModel, LimitIsAShareOfUsableMemory) {
  ir::Gpu gpu = test::CpuGpu("cpu", 1);
  gpu.usable_memory = 0.5;
  EXPECT_EQ(MemoryLimitOf(gpu, test::TinyJob()), Bytes(static_cast<int64_t>(double(int64_t{1} << 30) * 0.92)));
}

// case opt-18: every byte per parameter is a row of its own, and their sum is what the trainer holds (16 for 16-bit
// parameters and gradients, an fp32 master copy and two moments), so no plan can be computed with fewer.
TEST(MemoryModelCases, Opt18) {
  const ir::Model model = Gpt(4096, 32, 32, 2048, 50304);  // 6.7 G parameters
  const MemoryBreakdown memory =
      ComputeMemory(model, JobAt(ir::Precision::kBf16), GpuOf(ir::Backend::kCuda), Whole(model, 1));
  const int64_t parameters = ir::TotalParameters(model);
  const std::vector<ir::MemoryTerm> terms = MemoryTerms(memory);
  EXPECT_EQ(TermOf(terms, "parameters"), Bytes(2 * parameters));
  EXPECT_EQ(TermOf(terms, "gradients"), Bytes(2 * parameters));
  EXPECT_EQ(TermOf(terms, "master weights"), Bytes(4 * parameters));
  EXPECT_EQ(TermOf(terms, "optimizer states"), Bytes(8 * parameters));
  EXPECT_GT(memory.Total(), Bytes(16 * parameters));
}

// case opt-copy: the step works tensor by tensor, so its transient is one tensor's fp32 gradient and denominator, not
// 4 bytes for every parameter; it is in the forecast. The largest tensor is the table of 50304 · 1024.
TEST(MemoryModelCases, OptCopy) {
  const ir::Model model = Gpt(1024, 16, 24, 1024, 50304);
  const MemoryBreakdown memory =
      ComputeMemory(model, JobAt(ir::Precision::kBf16), GpuOf(ir::Backend::kCuda), Whole(model, 1));
  EXPECT_EQ(TermOf(MemoryTerms(memory), "optimizer step"), Bytes(8 * int64_t{50304} * 1024));
}

// case logits-spike: 8192 · 151936 · 4 bytes = 4.637 GiB of fp32 logits on the last stage, its gradient and a 16-bit
// copy beside it; no other stage has them.
TEST(MemoryModelCases, LogitsSpike) {
  const ir::Model model = Gpt(1024, 16, 4, 8192, 151936);
  const auto terms = [&](int first, int last) {
    return MemoryTerms(ComputeMemory(model, JobAt(ir::Precision::kBf16), GpuOf(ir::Backend::kCuda),
                                     {.first_layer = first, .last_layer = last}));
  };
  const Bytes logits = TermOf(terms(3, 5), "logits");
  EXPECT_NEAR(static_cast<double>(logits.value()) / (1 << 30), 4.637, 5e-4);
  EXPECT_EQ(TermOf(terms(3, 5), "logits gradient"), logits);
  EXPECT_EQ(TermOf(terms(3, 5), "logits 16-bit copy") * 2, logits);
  EXPECT_EQ(TermOf(terms(0, 2), "logits"), Bytes::Zero());
}

// case seq-2049: a sample is 2048 inputs and 2048 shifted targets; memory counts 2048 positions.
TEST(MemoryModelCases, Seq2049) {
  const ir::Model model = Gpt(1024, 16, 4, 2048, 50304);
  const MemoryBreakdown memory =
      ComputeMemory(model, JobAt(ir::Precision::kFp32), GpuOf(ir::Backend::kCpu), Whole(model, 1));
  EXPECT_EQ(memory.logits, Bytes(int64_t{2048} * 50304 * 4));
}

// case vocab-250682-8: padded to 250688 for 8 ranks, 31336 rows on each, in parameters and in logits.
TEST(MemoryModelCases, Vocab250682On8) {
  const ir::Model model = Gpt(1024, 16, 4, 16, 250682);
  const MemoryBreakdown memory = ComputeMemory(model, JobAt(ir::Precision::kFp32), GpuOf(ir::Backend::kCpu),
                                               {.first_layer = 5, .last_layer = 5, .tensor = 8, .vocab_multiple = 8});
  EXPECT_EQ(memory.parameters, Bytes(4 * (int64_t{31336} * 1024 + 2 * 1024)));
  EXPECT_EQ(memory.logits, Bytes(4 * int64_t{16} * 31336));
}

// case vocab-double: 151936 rows divide by two: 75968 on each rank, no padding.
TEST(MemoryModelCases, VocabDouble) {
  const ir::Model model = Gpt(1024, 16, 4, 16, 151936);
  EXPECT_EQ(ParametersOfStage(model, 5, 5, 2, 2), int64_t{75968} * 1024 + 2 * 1024);
}

}  // namespace
}  // namespace sail::sim
