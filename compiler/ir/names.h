// The spelling of every enumeration in artefacts and messages, in one table each; used by print.cc and parse.cc, so
// that what is written can be read back.
#pragma once

#include <array>
#include <optional>
#include <utility>

#include "absl/strings/string_view.h"
#include "compiler/base/check.h"
#include "compiler/ir/job.h"
#include "compiler/ir/model.h"
#include "compiler/ir/plan.h"
#include "compiler/ir/profile.h"

namespace sail::ir {

template <class Enum, size_t N>
using NameTable = std::array<std::pair<Enum, absl::string_view>, N>;

template <class Enum, size_t N>
absl::string_view NameOf(const NameTable<Enum, N>& table, Enum value) {
  for (const auto& [candidate, name] : table) {
    if (candidate == value) return name;
  }
  SAIL_CHECK(false) << "enumerator " << static_cast<int>(value);
}

template <class Enum, size_t N>
std::optional<Enum> ValueOf(const NameTable<Enum, N>& table, absl::string_view name) {
  for (const auto& [value, candidate] : table) {
    if (candidate == name) return value;
  }
  return std::nullopt;
}

inline constexpr NameTable<LayerKind, 3> kLayerKinds{
    {{LayerKind::kEmbedding, "embedding"}, {LayerKind::kBlock, "block"}, {LayerKind::kHead, "head"}}};
inline constexpr NameTable<ModelFamily, 2> kModelFamilies{{{ModelFamily::kGpt, "gpt"}, {ModelFamily::kLlama, "llama"}}};
inline constexpr NameTable<Activation, 3> kActivations{
    {{Activation::kGelu, "gelu"}, {Activation::kRelu, "relu"}, {Activation::kSilu, "silu"}}};
inline constexpr NameTable<NormPlacement, 2> kNormPlacements{
    {{NormPlacement::kPre, "pre"}, {NormPlacement::kPost, "post"}}};
inline constexpr NameTable<Backend, 2> kBackends{{{Backend::kCuda, "cuda"}, {Backend::kCpu, "cpu"}}};
inline constexpr NameTable<Market, 3> kMarkets{
    {{Market::kOnDemand, "on_demand"}, {Market::kSpot, "spot"}, {Market::kReserved, "reserved"}}};
inline constexpr NameTable<LinkShare, 2> kLinkShares{{{LinkShare::kPerNode, "node"}, {LinkShare::kPerFlow, "flow"}}};
inline constexpr NameTable<Precision, 4> kPrecisions{
    {{Precision::kFp32, "fp32"}, {Precision::kFp16, "fp16"}, {Precision::kBf16, "bf16"}, {Precision::kFp64, "fp64"}}};
inline constexpr NameTable<Reach, 4> kReaches{
    {{Reach::kNode, "node"}, {Reach::kZone, "zone"}, {Reach::kRegion, "region"}, {Reach::kAny, "any"}}};
inline constexpr NameTable<Metric, 15> kMetrics{{{Metric::kThroughput, "throughput"},
                                                 {Metric::kIterTime, "iter_time"},
                                                 {Metric::kSampleRate, "sample_rate"},
                                                 {Metric::kTokenRate, "token_rate"},
                                                 {Metric::kCostPerIter, "cost_per_iter"},
                                                 {Metric::kCostRate, "cost_rate"},
                                                 {Metric::kTotalCost, "total_cost"},
                                                 {Metric::kJobTime, "job_time"},
                                                 {Metric::kTokensPerUsd, "tokens_per_usd"},
                                                 {Metric::kGoodput, "goodput"},
                                                 {Metric::kEgressPerIter, "egress_per_iter"},
                                                 {Metric::kEgressCost, "egress_cost_per_iter"},
                                                 {Metric::kPeakMemory, "peak_memory"},
                                                 {Metric::kNodes, "nodes"},
                                                 {Metric::kGpus, "gpus"}}};
inline constexpr NameTable<Provenance, 3> kProvenances{
    {{Provenance::kMeasured, "measured"}, {Provenance::kDerived, "derived"}, {Provenance::kAssumed, "assumed"}}};
inline constexpr NameTable<Schedule, 1> kSchedules{{{Schedule::k1F1B, "1F1B"}}};
inline constexpr NameTable<OptimizerSharding, 2> kOptimizerShardings{
    {{OptimizerSharding::kNone, "none"}, {OptimizerSharding::kZero1, "zero1"}}};
inline constexpr NameTable<Recompute, 3> kRecomputes{
    {{Recompute::kNone, "none"}, {Recompute::kSelective, "selective"}, {Recompute::kFull, "full"}}};
inline constexpr NameTable<AttentionKernel, 2> kAttentionKernels{
    {{AttentionKernel::kUnfused, "unfused"}, {AttentionKernel::kFused, "fused"}}};
inline constexpr NameTable<GradientPrecision, 3> kGradientPrecisions{{{GradientPrecision::kParameter, "parameter"},
                                                                      {GradientPrecision::kFp32, "fp32"},
                                                                      {GradientPrecision::kBoth, "both"}}};

}  // namespace sail::ir
