#include "compiler/passes/lower_job.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/ir/names.h"

namespace sail {
namespace {

std::vector<int> Ints(const CheckedBlock& block, const std::string& attribute) {
  std::vector<int> numbers;
  for (const Value& element : std::get<ListValue>(block.Get(attribute).content).elements) {
    numbers.push_back(static_cast<int>(*std::get<Amount>(element.content).value.ToInt64()));
  }
  return numbers;
}

// The candidates that the words of an attribute name, each once, in the order of the enumeration.
template <class Enum, size_t N>
std::vector<Enum> Candidates(const CheckedBlock& block, const std::string& attribute,
                             const ir::NameTable<Enum, N>& names) {
  std::set<Enum> candidates;
  for (const Value& element : std::get<ListValue>(block.Get(attribute).content).elements) {
    candidates.insert(*ir::ValueOf(names, std::get<TextValue>(element.content).text));
  }
  return {candidates.begin(), candidates.end()};
}

ir::Keep LowerKeep(const CheckedBlock& parallelism) {
  ir::Keep keep;
  for (const CheckedBlock* block : parallelism.Children("keep")) {
    const ir::Reach within = *ir::ValueOf(ir::kReaches, block->GetText("within"));
    (block->label == "tensor" ? keep.tensor : block->label == "pipeline" ? keep.pipeline : keep.data) = within;
  }
  return keep;
}

ir::AdamW LowerOptimizer(const CheckedBlock* block) {
  ir::AdamW optimizer;
  if (block == nullptr) return optimizer;
  optimizer.learning_rate = block->GetDouble("learning_rate");
  optimizer.beta1 = block->GetDouble("beta1");
  optimizer.beta2 = block->GetDouble("beta2");
  optimizer.epsilon = block->GetDouble("epsilon");
  optimizer.weight_decay = block->GetDouble("weight_decay");
  return optimizer;
}

ir::Trainer LowerTrainer(const CheckedBlock* block) {
  ir::Trainer trainer;
  if (block == nullptr) return trainer;
  trainer.attention = *ir::ValueOf(ir::kAttentionKernels, block->GetText("attention"));
  trainer.dropout = block->GetBool("dropout");
  trainer.sequence_parallel = block->GetBool("sequence_parallel");
  trainer.overlap_gradients = block->GetBool("overlap_gradients");
  trainer.gradients = *ir::ValueOf(ir::kGradientPrecisions, block->GetText("gradients"));
  trainer.flat_gradients = block->GetBool("flat_gradients");
  trainer.whole_boundaries = block->GetBool("whole_boundaries");
  trainer.paired_sends = block->GetBool("paired_sends");
  if (block->Has("dispatch")) trainer.dispatch = Seconds(block->GetDouble("dispatch"));
  return trainer;
}

}  // namespace

ir::Job LowerJob(const CheckedBlock& block) {
  ir::Job job;
  job.name = block.label;
  const CheckedBlock& batch = *block.Child("batch");
  job.global_batch = batch.GetInt("global");
  job.micro_batches = Ints(batch, "micro");
  const CheckedBlock* parallelism = block.Child("parallelism");
  job.tensor_degrees = parallelism != nullptr ? Ints(*parallelism, "tensor") : std::vector<int>{1};
  job.pipeline_depths = parallelism != nullptr ? Ints(*parallelism, "pipeline") : std::vector<int>{1};
  if (parallelism != nullptr) {
    job.keep = LowerKeep(*parallelism);
    job.recomputes = Candidates(*parallelism, "recompute", ir::kRecomputes);
    job.optimizer_shardings = Candidates(*parallelism, "optimizer_sharding", ir::kOptimizerShardings);
  }
  job.precision = *ir::ValueOf(ir::kPrecisions, block.GetText("precision"));
  job.optimizer = LowerOptimizer(block.Child("optimizer"));
  job.trainer = LowerTrainer(block.Child("trainer"));
  job.steps = block.GetInt("steps");
  job.seed = static_cast<uint64_t>(block.GetInt("seed"));
  if (const CheckedBlock* data = block.Child("data")) {
    job.data.emplace();
    for (const Value& text : std::get<ListValue>(data->Get("text").content).elements) {
      job.data->text.push_back(FromMainDirectory(*block.module, std::get<TextValue>(text.content).text));
    }
  }
  return job;
}

std::vector<ProfileSource> LowerProfiles(const CheckedBlock& model, const ir::Cluster& cluster,
                                         const CheckedBlocks& blocks, DiagnosticSink& sink) {
  std::vector<ProfileSource> sources;
  const CheckedBlock* profile = model.Child("profile");
  if (profile == nullptr) return sources;
  std::set<std::string> known;
  for (const auto& block : blocks.top) {
    if (absl::string_view(block->kind->name) == "gpu") known.insert(block->label);
  }
  for (const auto& [name, attribute] : profile->attributes) {
    if (!known.contains(name)) {
      sink.Report(DiagnosticCode::kUndefinedName, attribute.name_range, absl::StrCat("`", name, "` is not a gpu"),
                  DidYouMean(Nearest(name, {known.begin(), known.end()})));
    }
    for (size_t i = 0; i < cluster.gpus.size(); ++i) {
      if (cluster.gpus[i].name != name) continue;
      sources.push_back({.gpu = ir::GpuId(static_cast<int>(i)),
                         .path = FromMainDirectory(*model.module, profile->GetText(name)),
                         .range = attribute.expr->range});
    }
  }
  return sources;
}

}  // namespace sail
