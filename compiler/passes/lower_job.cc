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

// A path as a bundle or the planner sees it: relative to the directory of the main file.
std::string FromMainDirectory(const Module& module, const std::string& written) {
  return module.directory.empty() ? written : JoinPath(module.directory, written);
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

}  // namespace

std::optional<ir::Model> LowerModel(const CheckedBlock& block, DiagnosticSink& sink) {
  ir::Model model;
  model.name = block.label;
  model.family = *ir::ValueOf(ir::kModelFamilies, block.GetText("family"));
  model.blocks = static_cast<int>(block.GetInt("layers"));
  model.hidden = block.GetInt("hidden");
  model.heads = block.GetInt("heads");
  model.feed_forward = block.GetIntOr("feed_forward", 4 * model.hidden);
  model.seq_len = block.GetInt("seq_len");
  model.vocab = block.GetInt("vocab");
  model.embedding_width = block.GetIntOr("embedding_width", model.hidden);
  model.position_rows = block.GetIntOr("position_rows", model.seq_len);
  model.tied_head = block.GetBool("tied_head");
  model.qkv_bias = block.GetBool("qkv_bias");
  model.activation = *ir::ValueOf(ir::kActivations, block.GetText("activation"));
  model.norm = *ir::ValueOf(ir::kNormPlacements, block.GetText("norm"));
  const auto report = [&](const char* attribute, std::string message, const char* other) {
    sink.Report({.code = DiagnosticCode::kModelShape,
                 .message = std::move(message),
                 .primary = {block.RangeOf(attribute), ""},
                 .secondary = {{block.RangeOf(other), ""}},
                 .notes = {},
                 .helps = {}});
  };
  if (model.hidden % model.heads != 0) {
    report("heads", absl::StrCat("hidden ", model.hidden, " cannot be divided into ", model.heads, " heads"), "hidden");
    return std::nullopt;
  }
  if (model.position_rows < model.seq_len) {
    report(
        "position_rows",
        absl::StrCat("sequences of ", model.seq_len, " tokens need as many position rows, not ", model.position_rows),
        "seq_len");
    return std::nullopt;
  }
  return model;
}

ir::Job LowerJob(const CheckedBlock& block) {
  ir::Job job;
  job.name = block.label;
  const CheckedBlock& batch = *block.Child("batch");
  job.global_batch = batch.GetInt("global");
  job.micro_batches = Ints(batch, "micro");
  const CheckedBlock* parallelism = block.Child("parallelism");
  job.tensor_degrees = parallelism != nullptr ? Ints(*parallelism, "tensor") : std::vector<int>{1};
  job.pipeline_depths = parallelism != nullptr ? Ints(*parallelism, "pipeline") : std::vector<int>{1};
  job.precision = *ir::ValueOf(ir::kPrecisions, block.GetText("precision"));
  job.optimizer = LowerOptimizer(block.Child("optimizer"));
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
      const std::string nearest = Nearest(name, {known.begin(), known.end()});
      sink.Report({.code = DiagnosticCode::kUndefinedName,
                   .message = absl::StrCat("`", name, "` is not a gpu"),
                   .primary = {attribute.name_range, ""},
                   .secondary = {},
                   .notes = {},
                   .helps = nearest.empty() ? std::vector<std::string>{}
                                            : std::vector<std::string>{absl::StrCat("did you mean `", nearest, "`?")}});
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
