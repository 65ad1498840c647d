// A training job: what to compute, within which limits, and what is best. All defaults are explicit here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/base/units.h"
#include "compiler/ir/plan.h"

namespace sail::ir {

enum class Precision { kFp32, kFp16, kBf16, kFp64 };  // kFp64 only in the runtime's own tests
absl::string_view ToString(Precision precision);
int BytesPerElement(Precision precision);  // of parameters and activations

enum class Metric {
  kThroughput,     // iters/s
  kIterTime,       // s
  kSampleRate,     // samples/s
  kTokenRate,      // tokens/s
  kCostPerIter,    // USD/iter: nodes and egress
  kCostRate,       // USD/s
  kTotalCost,      // USD for all steps of the job
  kJobTime,        // s for all steps of the job
  kTokensPerUsd,   // tokens/USD; infinite where nothing costs anything
  kGoodput,        // expected iters/s: throughput less what preemptions of spot nodes cost (simulator/spot_model.h)
  kEgressPerIter,  // bytes/iter over links with a price
  kEgressCost,     // USD/iter
  kPeakMemory,     // the largest share of a GPU's usable memory, 0..1: `peak_memory <= 92% * gpu.memory`
  kNodes,
  kGpus,
};
absl::string_view ToString(Metric metric);  // spelling of the language: "cost_per_iter"

struct ObjectiveTerm {
  Metric metric = Metric::kThroughput;
  bool maximize = true;
  friend bool operator==(const ObjectiveTerm&, const ObjectiveTerm&) = default;
};

// `value(metric) <= limit` or `>= limit`, in the metric's base unit.
struct Constraint {
  std::string name;
  Metric metric = Metric::kThroughput;
  bool at_most = true;
  double limit = 0;
  friend bool operator==(const Constraint&, const Constraint&) = default;
};

struct AdamW {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.0;  // decoupled; applied to matrices only, not to norms and biases
  friend bool operator==(const AdamW&, const AdamW&) = default;
};

// What the program that trains does, as far as time and memory depend on it. The defaults are sailrun's; plans for
// other trainers can be simulated, not built.
enum class AttentionKernel {
  kUnfused,  // scores and probabilities are written to memory
  kFused,    // they stay on the chip and are computed again in backward (FlashAttention, Dao et al. 2022)
};
// Bytes of a gradient at 16-bit precision: 2, 4, or 2 + 4. Irrelevant at fp32.
enum class GradientPrecision { kParameter, kFp32, kBoth };
struct Trainer {
  AttentionKernel attention = AttentionKernel::kUnfused;
  bool dropout = false;            // after attention and both halves of a block (Korthikanti et al. 2022 counts it)
  bool sequence_parallel = false;  // what is not tensor-parallel is cut along the sequence (the same paper)
  bool overlap_gradients = false;  // buckets are reduced while earlier layers still run backward
  GradientPrecision gradients = GradientPrecision::kParameter;
  bool flat_gradients = false;      // all gradients are copied into one buffer to be reduced, not bucket by bucket
  bool whole_boundaries = false;    // an activation crosses a boundary whole, over one card; else in slices over all
  bool paired_sends = false;        // in steady state an activation leaves after the gradient of its step has come
  std::optional<Seconds> dispatch;  // host time of one kernel; absent: the backend's
  friend bool operator==(const Trainer&, const Trainer&) = default;
};

struct Data {
  std::vector<std::string>
      text;  // UTF-8 text files, read as bytes (token = byte value), one after the other; paths as written
  friend bool operator==(const Data&, const Data&) = default;
};

// The widest place that the ranks of one communicator may span. Tensor groups never leave a node.
enum class Reach { kNode, kZone, kRegion, kAny };
struct Keep {
  Reach tensor = Reach::kNode;
  Reach pipeline = Reach::kAny;  // the stages of one pipeline
  Reach data = Reach::kAny;      // the replicas of one layer
  friend bool operator==(const Keep&, const Keep&) = default;
};

struct Job {
  std::string name;
  int64_t global_batch = 0;                                // samples per iteration, exact
  std::vector<int> micro_batches;                          // candidates, samples; ascending
  std::vector<int> tensor_degrees;                         // candidates; ascending powers of two
  std::vector<int> pipeline_depths;                        // candidates; ascending
  std::vector<Recompute> recomputes = {Recompute::kNone};  // candidates; ascending
  std::vector<OptimizerSharding> optimizer_shardings = {OptimizerSharding::kNone};  // candidates; ascending
  Keep keep;
  Precision precision = Precision::kFp32;
  AdamW optimizer;
  Trainer trainer;
  int64_t steps = 0;         // iterations to train
  std::optional<Data> data;  // required to build a bundle, not to plan
  uint64_t seed = 0;
  double memory_limit =
      0.92;  // share of usable GPU memory a plan may fill; lowering sets it to the job's peak_memory limit
  std::vector<ObjectiveTerm> objective;  // lexicographic, at least one
  std::vector<Constraint> constraints;
  friend bool operator==(const Job&, const Job&) = default;
};

}  // namespace sail::ir
