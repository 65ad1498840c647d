// The same function on every plan: 20 steps of each plan, ranks as threads over Gloo or over shared memory, against a
// single-process model that shares no parallel code (tests/support/reference_gpt.h).
//
// What is asserted, with |·| the largest absolute element and r the reference:
//   loss        |loss - r| / r           of each of 20 steps    <= 1e-5 in fp32, 1e-10 in fp64
//   gradient    |g - r| / |r|            of each parameter, step 1      1e-5,         1e-12
//   parameter   |p - r|                  of each parameter, step 20     1e-4,         1e-8
//   copies      equal bit for bit: gradients after step 1, values after step 20; padding exactly zero
//
// Adam divides a gradient by its own size, so where the exact gradient is zero (the keys' biases shift all scores of a
// row alike) a step is rounding noise over epsilon. With epsilon = 1e-8 that noise, about 1e-9 in fp32, would move such
// a parameter by as much as a real gradient does, in any implementation. The test uses epsilon = 1e-5: noise stays
// below 1e-4 of a step, while real gradients here, 1e-4 and more, keep theirs. The other settings are ordinary ones.
#include <cmath>
#include <cstdio>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "ATen/Parallel.h"
#include "ATen/TensorOperators.h"
#include "ATen/ops/constant_pad_nd.h"
#include "ATen/ops/empty.h"
#include "compiler/base/rng.h"
#include "compiler/base/status_macros.h"
#include "gtest/gtest.h"
#include "runtime/comm/fake_communicator.h"
#include "runtime/comm/gloo_communicator.h"
#include "runtime/engine/rank_trainer.h"
#include "tests/support/builders.h"
#include "tests/support/rank_threads.h"
#include "tests/support/reference_gpt.h"

namespace sail::rt {
namespace {

constexpr int kSteps = 20;
constexpr int kBatch = 7;  // no plan with several pipelines divides it evenly

// 4 blocks: layers 0 (embedding), 1..4, 5 (head). 37 words and 13 tokens are divisible by no degree.
ir::Model SmallModel(bool tied) {
  ir::Model model = test::TinyModel();
  model.hidden = model.embedding_width = 16;
  model.feed_forward = 32;
  model.seq_len = 13;
  model.position_rows = 13;
  model.tied_head = tied;
  return model;
}

Bundle MakeBundle(const ir::Model& model, ir::Precision precision, ir::Plan plan) {
  Bundle bundle;
  bundle.problem.model = model;
  bundle.problem.job = test::TinyJob();
  bundle.problem.job.global_batch = plan.pipelines.empty() ? kBatch : GlobalBatch(plan);
  bundle.problem.job.precision = precision;
  bundle.problem.job.seed = 5;
  bundle.problem.job.optimizer = {.learning_rate = 1e-3, .epsilon = 1e-5, .weight_decay = 0.1};
  bundle.plan = std::move(plan);
  Rng rng(11);  // 29 windows of 13: step 5 begins a new epoch in its middle
  for (int i = 0; i < 29 * 13 + 1; ++i) bundle.tokens.push_back(static_cast<uint16_t>(rng.Below(model.vocab)));
  return bundle;
}

struct StageSpec {
  int first_layer;
  int last_layer;
  int degree;
};

class PlanBuilder {
 public:
  PlanBuilder& Pipeline(int micro_batch, int micro_batches, const std::vector<StageSpec>& stages) {
    ir::Pipeline pipeline{.micro_batch = micro_batch, .micro_batches = micro_batches, .stages = {}};
    for (const StageSpec& stage : stages) {
      std::vector<int> gpus;
      for (int g = 0; g < stage.degree; ++g) gpus.push_back(g);
      pipeline.stages.push_back(test::MakeStage(stage.first_layer, stage.last_layer, 0, node_++, gpus));
    }
    plan_.pipelines.push_back(std::move(pipeline));
    return *this;
  }
  operator ir::Plan() const { return plan_; }  // NOLINT: reads as a literal

 private:
  ir::Plan plan_;
  int node_ = 0;
};

struct NamedPlan {
  const char* name;
  ir::Plan plan;
};

std::vector<NamedPlan> Plans() {
  const auto plan = [] { return PlanBuilder(); };
  return {
      {"one rank", plan().Pipeline(7, 1, {{0, 5, 1}})},
      {"one rank, 7 micro-batches", plan().Pipeline(1, 7, {{0, 5, 1}})},
      {"tensor 2, 7 micro-batches", plan().Pipeline(1, 7, {{0, 5, 2}})},
      {"tensor 4", plan().Pipeline(7, 1, {{0, 5, 4}})},
      {"pipeline 2, layers 2+4", plan().Pipeline(1, 7, {{0, 1, 1}, {2, 5, 1}})},
      {"pipeline 3, layers 3+1+2", plan().Pipeline(1, 7, {{0, 2, 1}, {3, 3, 1}, {4, 5, 1}})},
      {"pipeline 4, bare embedding and head", plan().Pipeline(1, 7, {{0, 0, 1}, {1, 3, 1}, {4, 4, 1}, {5, 5, 1}})},
      {"pipeline 4, one micro-batch", plan().Pipeline(7, 1, {{0, 1, 1}, {2, 2, 1}, {3, 3, 1}, {4, 5, 1}})},
      {"replicas 4x1 and 1x3", plan().Pipeline(4, 1, {{0, 5, 1}}).Pipeline(1, 3, {{0, 5, 1}})},
      {"replicas of depth 1, 2, 3", plan()
                                        .Pipeline(3, 1, {{0, 5, 1}})
                                        .Pipeline(1, 2, {{0, 3, 1}, {4, 5, 1}})
                                        .Pipeline(2, 1, {{0, 1, 1}, {2, 4, 1}, {5, 5, 1}})},
      {"stages of tensor 1 -> 2", plan().Pipeline(1, 7, {{0, 2, 1}, {3, 5, 2}})},
      {"stages of tensor 2 -> 1", plan().Pipeline(7, 1, {{0, 2, 2}, {3, 5, 1}})},
      {"stages of tensor 4 -> 1 -> 2", plan().Pipeline(7, 1, {{0, 1, 4}, {2, 3, 1}, {4, 5, 2}})},
      {"stages of tensor 2 -> 4", plan().Pipeline(7, 1, {{0, 2, 2}, {3, 5, 4}})},
      {"replicas of tensor 1 and 2", plan().Pipeline(2, 2, {{0, 5, 1}}).Pipeline(1, 3, {{0, 5, 2}})},
      {"replicas of tensor 4 and 2 -> 1", plan().Pipeline(3, 1, {{0, 5, 4}}).Pipeline(2, 2, {{0, 3, 2}, {4, 5, 1}})},
      {"mixed: 2 -> 1 -> 4, 1 -> 2, 1", plan()
                                            .Pipeline(2, 2, {{0, 1, 2}, {2, 3, 1}, {4, 5, 4}})
                                            .Pipeline(2, 1, {{0, 4, 1}, {5, 5, 2}})
                                            .Pipeline(1, 1, {{0, 5, 1}})},
  };
}

// What one rank holds of a parameter.
struct Copy {
  ParameterSpec spec;
  int64_t first = 0;
  at::Tensor gradient;  // of step 1
  at::Tensor value;     // after the last step
};
struct Trained {
  std::vector<double> losses;  // the same on every rank
  std::vector<std::vector<Copy>> by_rank;
};

ConnectGroup OverGloo() {
  const absl::StatusOr<GlooNetwork> network = GlooNetwork::CreateInProcess(Seconds(60));
  SAIL_CHECK(network.ok()) << network.status().ToString();
  return [network = *network](const std::vector<ir::Rank>& members, ir::Rank self) {
    return network.Connect(members, self);
  };
}

// Faster: for what does not depend on the backend.
ConnectGroup OverThreads() {
  auto network = std::make_shared<FakeNetwork>(Seconds(60));
  return [network](const std::vector<ir::Rank>& members, ir::Rank self) { return network->Connect(members, self); };
}

Trained Train(const Bundle& bundle, const ConnectGroup& connect) {
  const int count = ir::Placement(bundle.plan).rank_count();
  Trained run;
  run.by_rank.resize(count);
  std::mutex mutex;
  std::set<std::vector<double>> losses;
  const auto results = test::RunRanks(count, [&](ir::Rank rank) -> absl::Status {
    at::set_num_threads(1);
    SAIL_ASSIGN_OR_RETURN(const auto trainer, RankTrainer::Create(bundle, rank, connect));
    std::vector<Copy>& copies = run.by_rank[rank.index()];
    std::vector<double> mine;
    for (int step = 0; step < kSteps; ++step) {
      SAIL_ASSIGN_OR_RETURN(const double loss, trainer->Step());
      mine.push_back(loss);
      for (const Parameter& parameter : trainer->parameters()) {
        if (step == 0) copies.push_back({parameter.spec, parameter.first, parameter.value.grad().clone(), {}});
      }
    }
    for (size_t i = 0; i < copies.size(); ++i) copies[i].value = trainer->parameters()[i].value.detach().clone();
    std::lock_guard lock(mutex);
    losses.insert(mine);
    return absl::OkStatus();
  });
  for (const absl::Status& result : results) EXPECT_TRUE(result.ok()) << result.ToString();
  EXPECT_EQ(losses.size(), 1u) << "ranks report different losses";
  if (!losses.empty()) run.losses = *losses.begin();
  return run;
}

struct Reference {
  std::vector<double> losses;
  std::map<std::string, at::Tensor> gradients;  // of step 1
  std::map<std::string, at::Tensor> values;     // after the last step
};

Reference TrainReference(const Bundle& bundle) {
  const ir::Model& model = bundle.problem.model;
  const at::ScalarType type = bundle.problem.job.precision == ir::Precision::kFp64 ? at::kDouble : at::kFloat;
  const int64_t batch = bundle.problem.job.global_batch;
  test::ReferenceGpt gpt(model, bundle.problem.job.seed, type);
  const SampleOrder order(static_cast<int64_t>(bundle.tokens.size()), model.seq_len, bundle.problem.job.seed);
  Reference reference;
  for (int step = 0; step < kSteps; ++step) {
    at::Tensor tokens = at::empty({batch, model.seq_len + 1}, at::kLong);
    for (int64_t i = 0; i < tokens.numel(); ++i) {
      const int64_t sample = step * batch + i / (model.seq_len + 1);
      tokens.data_ptr<int64_t>()[i] = bundle.tokens[order.FirstToken(sample) + i % (model.seq_len + 1)];
    }
    reference.losses.push_back(gpt.Step(tokens, bundle.problem.job.optimizer));
    for (const auto& [name, value] : gpt.parameters()) {
      if (step == 0) reference.gradients[name] = value.grad().clone();
    }
  }
  for (const auto& [name, value] : gpt.parameters()) reference.values[name] = value.detach().clone();
  return reference;
}

double Largest(const at::Tensor& tensor) { return tensor.abs().max().item<double>(); }

// The piece of a whole tensor that a copy holds; what lies beyond the end of the whole is zero.
at::Tensor PieceOf(const at::Tensor& whole, const Copy& copy) {
  if (copy.spec.cut_dim < 0) return whole;
  const int64_t length = copy.value.size(copy.spec.cut_dim);
  const int64_t missing = std::max<int64_t>(0, copy.first + length - whole.size(copy.spec.cut_dim));
  std::vector<int64_t> padding(2 * whole.dim(), 0);  // from the last dimension to the first, (before, after)
  padding[2 * (whole.dim() - 1 - copy.spec.cut_dim) + 1] = missing;
  return at::constant_pad_nd(whole, padding).narrow(copy.spec.cut_dim, copy.first, length);
}

// Where two copies hold the same elements they hold the same bits.
void ExpectCopiesEqual(const Copy& a, const Copy& b) {
  if (a.spec.cut_dim < 0) {
    EXPECT_TRUE(a.gradient.equal(b.gradient)) << a.spec.name << ", gradient";
    EXPECT_TRUE(a.value.equal(b.value)) << a.spec.name << ", value";
    return;
  }
  const int dim = a.spec.cut_dim;
  const int64_t begin = std::max(a.first, b.first);
  const int64_t end = std::min(a.first + a.value.size(dim), b.first + b.value.size(dim));
  if (begin >= end) return;
  const auto part = [&](const Copy& copy, const at::Tensor& t) {
    return t.narrow(dim, begin - copy.first, end - begin);
  };
  EXPECT_TRUE(part(a, a.gradient).equal(part(b, b.gradient))) << a.spec.name << ", gradient";
  EXPECT_TRUE(part(a, a.value).equal(part(b, b.value))) << a.spec.name << ", value";
}

struct Tolerance {
  double loss, gradient, parameter;
};
struct Deviation {
  double loss = 0, gradient = 0, parameter = 0;
};

Deviation Compare(const Trained& run, const Reference& reference) {
  Deviation worst;
  for (int step = 0; step < kSteps; ++step) {
    worst.loss = std::max(worst.loss, std::abs(run.losses[step] / reference.losses[step] - 1));
  }
  std::map<std::string, std::vector<const Copy*>> by_name;
  for (const std::vector<Copy>& copies : run.by_rank) {
    for (const Copy& copy : copies) by_name[copy.spec.name].push_back(&copy);
  }
  EXPECT_EQ(by_name.size(), reference.values.size()) << "parameters are missing";
  for (const auto& [name, copies] : by_name) {
    const at::Tensor& gradient = reference.gradients.at(name);
    const at::Tensor& value = reference.values.at(name);
    for (const Copy* copy : copies) {
      worst.gradient = std::max(worst.gradient, Largest(copy->gradient - PieceOf(gradient, *copy)) / Largest(gradient));
      worst.parameter = std::max(worst.parameter, Largest(copy->value - PieceOf(value, *copy)));
      ExpectCopiesEqual(*copies.front(), *copy);
      for (const Copy* other : copies) ExpectCopiesEqual(*other, *copy);
      if (name != "wte.weight" && name != "lm_head.weight") continue;
      const int64_t words = std::clamp<int64_t>(value.size(0) - copy->first, 0, copy->value.size(0));
      EXPECT_TRUE(copy->value.slice(0, words).eq(0).all().item<bool>()) << "padding of " << name;
    }
  }
  return worst;
}

// Every element of every parameter lies on some rank of every pipeline.
void ExpectPipelinesWhole(const Bundle& bundle, const Trained& run) {
  const ir::Placement placement(bundle.plan);
  for (size_t p = 0; p < bundle.plan.pipelines.size(); ++p) {
    std::map<std::string, std::set<int64_t>> held;  // indices along the cut
    for (int rank = 0; rank < placement.rank_count(); ++rank) {
      if (placement.place(ir::Rank(rank)).pipeline != static_cast<int>(p)) continue;
      for (const Copy& copy : run.by_rank[rank]) {
        const int dim = std::max(copy.spec.cut_dim, 0);
        for (int64_t i = 0; i < copy.value.size(dim); ++i) held[copy.spec.name].insert(copy.first + i);
      }
    }
    for (int layer = 0; layer < bundle.problem.model.layer_count(); ++layer) {
      for (const ParameterSpec& spec : ParametersOfLayer(bundle.problem.model, layer)) {
        EXPECT_GE(static_cast<int64_t>(held[spec.name].size()), spec.shape[std::max(spec.cut_dim, 0)])
            << spec.name << " of pipeline " << p;
      }
    }
  }
}

void ExpectEqual(const char* name, const Bundle& bundle, const Trained& run, const Reference& reference,
                 const Tolerance& tolerance) {
  SCOPED_TRACE(name);
  ASSERT_EQ(run.losses.size(), static_cast<size_t>(kSteps));
  ExpectPipelinesWhole(bundle, run);
  const Deviation worst = Compare(run, reference);
  std::printf("%-40s %10.1e %10.1e %10.1e\n", name, worst.loss, worst.gradient, worst.parameter);
  EXPECT_LE(worst.loss, tolerance.loss);
  EXPECT_LE(worst.gradient, tolerance.gradient);
  EXPECT_LE(worst.parameter, tolerance.parameter);
}

void ExpectPlansEqualTheReference(const std::vector<NamedPlan>& plans, const ir::Model& model, ir::Precision precision,
                                  const Tolerance& tolerance, const std::function<ConnectGroup()>& network) {
  at::set_num_threads(1);
  const Reference reference = TrainReference(MakeBundle(model, precision, {}));
  EXPECT_LT(reference.losses.back(), reference.losses.front());
  std::printf("%-40s %10s %10s %10s\n", "largest deviation", "loss", "gradient", "parameter");
  for (const NamedPlan& named : plans) {
    const Bundle bundle = MakeBundle(model, precision, named.plan);
    ExpectEqual(named.name, bundle, Train(bundle, network()), reference, tolerance);
  }
}

constexpr Tolerance kFp32{.loss = 1e-5, .gradient = 1e-5, .parameter = 1e-4};
constexpr Tolerance kFp64{.loss = 1e-10, .gradient = 1e-12, .parameter = 1e-8};

TEST(Equivalence, Fp32TiedHead) {
  ExpectPlansEqualTheReference(Plans(), SmallModel(true), ir::Precision::kFp32, kFp32, OverGloo);
}
TEST(Equivalence, Fp64TiedHead) {
  ExpectPlansEqualTheReference(Plans(), SmallModel(true), ir::Precision::kFp64, kFp64, OverThreads);
}
TEST(Equivalence, Fp64OwnHead) {
  ExpectPlansEqualTheReference(Plans(), SmallModel(false), ir::Precision::kFp64, kFp64, OverThreads);
}

// The rest on the plan that mixes everything.
TEST(Equivalence, Fp64TiedHeadOverGloo) {
  ExpectPlansEqualTheReference({Plans().back()}, SmallModel(true), ir::Precision::kFp64, kFp64, OverGloo);
}
TEST(Equivalence, Fp32OwnHeadOverGloo) {
  ExpectPlansEqualTheReference({Plans().back()}, SmallModel(false), ir::Precision::kFp32, kFp32, OverGloo);
}
// OPT: ReLU, two unused rows before the positions. GPT-Neo: no bias in qkv.
TEST(Equivalence, Fp64OptAndNeoVariants) {
  ir::Model model = SmallModel(true);
  model.activation = ir::Activation::kRelu;
  model.position_rows = model.seq_len + 2;
  model.qkv_bias = false;
  ExpectPlansEqualTheReference({Plans().back()}, model, ir::Precision::kFp64, kFp64, OverThreads);
}

// Gradient norm of a run: every element of every parameter once, from the first pipeline's first copy of it.
double GradientNorm(const Bundle& bundle, const Trained& run) {
  const ir::Placement placement(bundle.plan);
  std::set<std::pair<std::string, int64_t>> seen;
  double squares = 0;
  for (int rank = 0; rank < placement.rank_count(); ++rank) {
    if (placement.place(ir::Rank(rank)).pipeline != 0) continue;
    for (const Copy& copy : run.by_rank[rank]) {
      if (seen.insert({copy.spec.name, copy.first}).second) squares += copy.gradient.square().sum().item<double>();
    }
  }
  return std::sqrt(squares);
}

TEST(Cases, AccumLost_AllMicroBatchesAreInTheGradient) {
  // 4 micro-batches, pipeline 2. If only the last one counted, the norm would be about half.
  const Bundle bundle =
      MakeBundle(SmallModel(true), ir::Precision::kFp64, PlanBuilder().Pipeline(1, 4, {{0, 2, 1}, {3, 5, 1}}));
  const Reference reference = TrainReference(bundle);
  double squares = 0;
  for (const auto& [name, gradient] : reference.gradients) squares += gradient.square().sum().item<double>();
  EXPECT_NEAR(GradientNorm(bundle, Train(bundle, OverThreads())) / std::sqrt(squares), 1, 1e-12);
}

TEST(Cases, TiedMissing_BothCopiesOfATiedTableAreEqual) {
  const Bundle bundle =
      MakeBundle(SmallModel(true), ir::Precision::kFp32, PlanBuilder().Pipeline(1, 4, {{0, 2, 1}, {3, 5, 1}}));
  const Trained run = Train(bundle, OverThreads());
  std::vector<Copy> tables;
  for (const std::vector<Copy>& copies : run.by_rank) {
    for (const Copy& copy : copies) {
      if (copy.spec.name == "wte.weight") tables.push_back(copy);
    }
  }
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_TRUE(tables[0].gradient.equal(tables[1].gradient));
  EXPECT_TRUE(tables[0].value.equal(tables[1].value));
}

TEST(Cases, TiedMissing_OneRankThatHoldsBothLayersMakesNoCopy) {
  const Bundle bundle = MakeBundle(SmallModel(true), ir::Precision::kFp32, PlanBuilder().Pipeline(1, 2, {{0, 5, 1}}));
  const Trained run = Train(bundle, OverThreads());
  int tables = 0;
  for (const Copy& copy : run.by_rank[0]) tables += copy.spec.name == "wte.weight" ? 1 : 0;
  EXPECT_EQ(tables, 1);
}

TEST(Cases, Mem8_16_ReplicasOfSixAndTwelveSamplesEqualOneGpu) {
  // Gradients are weighted by samples: an average of the two replicas' means would weigh the six like the twelve.
  const Bundle bundle = MakeBundle(SmallModel(true), ir::Precision::kFp64,
                                   PlanBuilder().Pipeline(6, 1, {{0, 5, 1}}).Pipeline(12, 1, {{0, 5, 1}}));
  ASSERT_EQ(bundle.problem.job.global_batch, 18);
  ExpectEqual("mem-8-16", bundle, Train(bundle, OverThreads()), TrainReference(bundle), kFp64);
}

}  // namespace
}  // namespace sail::rt
