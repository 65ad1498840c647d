// Consistency of a job with its model and its cluster.
#include <algorithm>
#include <cstdint>
#include <queue>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/ir/names.h"
#include "compiler/passes/lower_job.h"

namespace sail {
namespace {

// The range of the list element that holds `value`, or of the whole list.
SourceRange ElementRange(const CheckedBlock& block, const std::string& attribute, int value) {
  for (const Value& element : std::get<ListValue>(block.Get(attribute).content).elements) {
    if (std::get<Amount>(element.content).value == Rational(value) && element.range.valid()) return element.range;
  }
  return block.RangeOf(attribute);
}

// The sizes nearest to the candidates, on either side, that divide the global batch.
std::string DivisorsNear(int64_t global, int candidate) {
  std::vector<int64_t> divisors;
  for (int64_t below = candidate; below >= 1; --below) {
    if (global % below != 0) continue;
    divisors.push_back(below);
    break;
  }
  const int64_t highest = std::min<int64_t>(global, int64_t{candidate} + 100'000);
  for (int64_t above = int64_t{candidate} + 1; above <= highest; ++above) {
    if (global % above != 0) continue;
    divisors.push_back(above);
    break;
  }
  return absl::StrJoin(divisors, ", ");
}

absl::string_view PeakName(ir::Precision precision) {
  return precision == ir::Precision::kFp16   ? "peak_fp16"
         : precision == ir::Precision::kBf16 ? "peak_bf16"
                                             : "peak_fp32";
}

bool HasPeak(const ir::Gpu& gpu, ir::Precision precision) {
  return precision == ir::Precision::kFp16   ? gpu.peak_fp16.has_value()
         : precision == ir::Precision::kBf16 ? gpu.peak_bf16.has_value()
                                             : gpu.peak_fp32.has_value();
}

}  // namespace

// Smallest reachable sum in each residue class of the smallest part (Dijkstra over residues; Brauer & Shockley 1962).
bool IsSumOf(int64_t total, const std::vector<int>& parts) {
  const int modulus = parts.front();
  std::vector<int64_t> smallest(modulus, INT64_MAX);
  std::priority_queue<std::pair<int64_t, int>, std::vector<std::pair<int64_t, int>>, std::greater<>> open;
  smallest[0] = 0;
  open.emplace(0, 0);
  while (!open.empty()) {
    const auto [sum, residue] = open.top();
    open.pop();
    if (sum != smallest[residue] || sum > total) continue;
    for (const int part : parts) {
      const int next = static_cast<int>((residue + part) % modulus);
      if (sum + part >= smallest[next]) continue;
      smallest[next] = sum + part;
      open.emplace(sum + part, next);
    }
  }
  return smallest[total % modulus] <= total;
}

// Predicting an iteration costs time in proportion to its micro-batches, and so does running it.
constexpr int64_t kMaxMicroBatches = 100'000;

void CheckMicroBatches(const CheckedBlock& block, const ir::Job& job, DiagnosticSink& sink) {
  const CheckedBlock& batch = *block.Child("batch");
  if (job.global_batch / job.micro_batches.front() > kMaxMicroBatches) {
    sink.Report(DiagnosticCode::kTooLarge, batch.RangeOf("global"),
                absl::StrCat("an iteration of ", job.global_batch, " samples has ",
                             job.global_batch / job.micro_batches.front(), " micro-batches, at most ", kMaxMicroBatches,
                             " are supported"),
                {"use a smaller global batch or larger micro-batches"},
                {{batch.RangeOf("micro"), "the micro-batches"}});
    return;
  }
  if (IsSumOf(job.global_batch, job.micro_batches)) return;
  const bool one = job.micro_batches.size() == 1;
  sink.Report(DiagnosticCode::kNoMicroBatchDivides, batch.RangeOf("micro"),
              one ? absl::StrCat("micro-batches of ", job.micro_batches.front(), " cannot make up ", job.global_batch,
                                 " samples")
                  : absl::StrCat("micro-batches of ", absl::StrJoin(job.micro_batches, ", "), " cannot make up ",
                                 job.global_batch, " samples"),
              {absl::StrCat("sizes near ", job.micro_batches.front(), " that divide ", job.global_batch, ": ",
                            DivisorsNear(job.global_batch, job.micro_batches.front()))},
              {{batch.RangeOf("global"), "the global batch"}});
}

void CheckTensorDegrees(const JobParts& parts, DiagnosticSink& sink) {
  const CheckedBlock* parallelism = parts.block.Child("parallelism");
  if (parallelism == nullptr) return;
  const ir::Cluster& cluster = parts.cluster.cluster;
  int largest_node = 0;
  for (const ir::Pool& pool : cluster.pools) {
    if (pool.quota > 0) largest_node = std::max(largest_node, cluster.machines[pool.machine.index()].gpus_per_node);
  }
  for (const int degree : parts.job.tensor_degrees) {
    const SourceRange range = ElementRange(*parallelism, "tensor", degree);
    if ((degree & (degree - 1)) != 0) {
      sink.Report(DiagnosticCode::kTensorDegree, range, absl::StrCat("tensor ", degree, " is not a power of two"),
                  {"use 1, 2, 4, 8, …"});
    } else if (largest_node > 0 && degree > largest_node) {
      sink.Report(DiagnosticCode::kTensorDegree, range,
                  absl::StrCat("tensor ", degree, " needs ", degree, " GPUs in one node; the largest node of `",
                               cluster.name, "` has ", largest_node),
                  {absl::StrCat("drop ", degree)});
    } else if (parts.model.heads % degree != 0) {
      sink.Report(DiagnosticCode::kTensorDegree, range,
                  absl::StrCat("tensor ", degree, " does not divide the ", parts.model.heads, " heads of `",
                               parts.model.name, "`"),
                  {absl::StrCat("drop ", degree)}, {{parts.model_block.RangeOf("heads"), "heads"}});
    } else if (parts.model.kv_head_count() % degree != 0) {
      sink.Report(DiagnosticCode::kTensorDegree, range,
                  absl::StrCat("tensor ", degree, " does not divide the ", parts.model.kv_head_count(),
                               " key-value heads of `", parts.model.name, "`"),
                  {absl::StrCat("drop ", degree)}, {{parts.model_block.RangeOf("kv_heads"), "key-value heads"}});
    } else if (parts.model.feed_forward % degree != 0) {
      sink.Report(DiagnosticCode::kTensorDegree, range,
                  absl::StrCat("tensor ", degree, " does not divide feed_forward ", parts.model.feed_forward, " of `",
                               parts.model.name, "`"),
                  {absl::StrCat("drop ", degree)}, {{parts.model_block.RangeOf("feed_forward"), "inner width"}});
    }
  }
}

void CheckPipelineDepths(const JobParts& parts, DiagnosticSink& sink) {
  const int layers = parts.model.layer_count();
  const int deepest = parts.job.pipeline_depths.back();
  if (deepest <= layers) return;
  const CheckedBlock& parallelism = *parts.block.Child("parallelism");
  sink.Report(
      DiagnosticCode::kPipelineDepth, ElementRange(parallelism, "pipeline", deepest),
      absl::StrCat("pipeline up to ", deepest, " stages but `", parts.model.name, "` has ", layers, " layers to place"),
      {absl::StrCat("write 1..", layers)},
      {{parts.model_block.RangeOf("layers"),
        absl::StrCat(parts.model.blocks, " blocks, and embedding and head are layers of their own")}});
}

bool CheckSizes(const JobParts& parts, DiagnosticSink& sink) {
  using Wide = unsigned __int128;
  const ir::Model& model = parts.model;
  const Wide s = model.seq_len, h = model.hidden, f = model.feed_forward, v = model.vocab, a = model.heads;
  const Wide w = model.attention_width();
  // Generous: 64 bytes for each activation of a block, attention score, logit; and for each parameter.
  const Wide activations = s * (16 * h + 4 * f + 8 * w) + s * s * a;
  const Wide per_sample = model.blocks * activations + s * v;
  const Wide in_flight = Wide(parts.job.pipeline_depths.back()) * parts.job.micro_batches.back();
  const Wide parameters = ir::TotalParameters(model);
  const Wide limit = (Wide(1) << 62) / 64;
  if (per_sample < limit / in_flight && parameters < limit) return true;
  sink.Report(DiagnosticCode::kOverflow, parts.block.RangeOf("model"),
              absl::StrCat("the activations of `", model.name, "` with micro-batches of ",
                           parts.job.micro_batches.back(), " exceed 2^62 bytes"),
              {"check seq_len, hidden, layers and micro"});
  return false;
}

void CheckPeaks(const JobParts& parts, DiagnosticSink& sink) {
  const ir::Cluster& cluster = parts.cluster.cluster;
  std::vector<bool> reported(cluster.gpus.size(), false);
  for (size_t i = 0; i < cluster.pools.size(); ++i) {
    const ir::GpuId gpu_id = cluster.machines[cluster.pools[i].machine.index()].gpu;
    const ir::Gpu& gpu = cluster.gpus[gpu_id.index()];
    const bool measured = std::any_of(parts.profiles.begin(), parts.profiles.end(),
                                      [&](const ProfileSource& profile) { return profile.gpu == gpu_id; });
    if (cluster.pools[i].quota == 0 || measured || HasPeak(gpu, parts.job.precision)) continue;
    if (reported[gpu_id.index()]) continue;
    reported[gpu_id.index()] = true;
    const absl::string_view precision = ir::ToString(parts.job.precision);
    sink.Report(
        DiagnosticCode::kMissingPeak, parts.block.RangeOf("precision"),
        absl::StrCat("gpu `", gpu.name, "` has no ", precision, " peak and `", parts.model.name, "` no profile for it"),
        {absl::StrCat("choose another precision, or set `", PeakName(parts.job.precision), "` if the card has ",
                      precision)},
        {{parts.cluster.pools[i]->RangeOf("machine"), absl::StrCat("used by pool `", cluster.pools[i].name, "`")}});
  }
}

}  // namespace sail
