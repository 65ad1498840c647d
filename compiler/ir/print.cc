#include "compiler/ir/print.h"

#include "compiler/ir/names.h"

namespace sail::ir {
namespace {

std::string Text(absl::string_view text) { return std::string(text); }

template <class T>
Json OptionalValue(const std::optional<T>& quantity) {
  return quantity ? Json(quantity->value()) : Json(nullptr);
}

Json EfficiencyJson(const std::optional<Efficiency>& efficiency) {
  if (!efficiency) return nullptr;
  return {{"matmul", efficiency->matmul}, {"ramp_s", efficiency->ramp.value()}, {"memory", efficiency->memory}};
}

}  // namespace

Json ToJson(const Job& job) {
  Json objective = Json::array();
  for (const ObjectiveTerm& term : job.objective) {
    objective.push_back({{"metric", Text(ToString(term.metric))}, {"maximize", term.maximize}});
  }
  Json constraints = Json::array();
  for (const Constraint& constraint : job.constraints) {
    constraints.push_back({{"name", constraint.name},
                           {"metric", Text(ToString(constraint.metric))},
                           {"at_most", constraint.at_most},
                           {"limit", constraint.limit}});
  }
  Json recomputes = Json::array(), shardings = Json::array();
  for (const Recompute recompute : job.recomputes) recomputes.push_back(Text(NameOf(kRecomputes, recompute)));
  for (const OptimizerSharding sharding : job.optimizer_shardings) {
    shardings.push_back(Text(NameOf(kOptimizerShardings, sharding)));
  }
  Json json = {{"name", job.name},
               {"global_batch", job.global_batch},
               {"micro_batches", job.micro_batches},
               {"tensor_degrees", job.tensor_degrees},
               {"pipeline_depths", job.pipeline_depths},
               {"recomputes", recomputes},
               {"optimizer_shardings", shardings},
               {"keep",
                {{"tensor", Text(NameOf(kReaches, job.keep.tensor))},
                 {"pipeline", Text(NameOf(kReaches, job.keep.pipeline))},
                 {"data", Text(NameOf(kReaches, job.keep.data))}}},
               {"precision", Text(ToString(job.precision))},
               {"optimizer",
                {{"learning_rate", job.optimizer.learning_rate},
                 {"beta1", job.optimizer.beta1},
                 {"beta2", job.optimizer.beta2},
                 {"epsilon", job.optimizer.epsilon},
                 {"weight_decay", job.optimizer.weight_decay}}},
               {"trainer",
                {{"attention", Text(NameOf(kAttentionKernels, job.trainer.attention))},
                 {"sequence_parallel", job.trainer.sequence_parallel},
                 {"overlap_gradients", job.trainer.overlap_gradients},
                 {"gradients", Text(NameOf(kGradientPrecisions, job.trainer.gradients))},
                 {"dropout", job.trainer.dropout},
                 {"flat_gradients", job.trainer.flat_gradients},
                 {"whole_boundaries", job.trainer.whole_boundaries},
                 {"paired_sends", job.trainer.paired_sends},
                 {"dispatch_s", OptionalValue(job.trainer.dispatch)}}},
               {"steps", job.steps},
               {"seed", job.seed},
               {"memory_limit", job.memory_limit},
               {"objective", objective},
               {"constraints", constraints}};
  json["data"] = job.data ? Json{{"text", job.data->text}} : Json(nullptr);
  return json;
}

Json ToJson(const Model& model) {
  Json json = {{"name", model.name},
               {"family", Text(NameOf(kModelFamilies, model.family))},
               {"blocks", model.blocks},
               {"hidden", model.hidden},
               {"heads", model.heads},
               {"feed_forward", model.feed_forward},
               {"seq_len", model.seq_len},
               {"vocab", model.vocab},
               {"embedding_width", model.embedding_width},
               {"position_rows", model.position_rows},
               {"tied_head", model.tied_head},
               {"qkv_bias", model.qkv_bias},
               {"activation", Text(NameOf(kActivations, model.activation))},
               {"norm", Text(NameOf(kNormPlacements, model.norm))}};
  if (model.family == ModelFamily::kLlama) {
    json["kv_heads"] = model.kv_head_count();
    json["head_dim"] = model.head_width();
    json["qk_norm"] = model.qk_norm;
  }
  return json;
}

namespace {

Json CurveJson(const LinkCurve& curve) {
  Json points = Json::array();
  for (const LinkPoint& point : curve) points.push_back({point.bytes, point.seconds.value()});
  return points;
}

}  // namespace

Json ToJson(const Cluster& cluster) {
  Json gpus = Json::array();
  for (const Gpu& gpu : cluster.gpus) {
    gpus.push_back({{"name", gpu.name},
                    {"backend", Text(NameOf(kBackends, gpu.backend))},
                    {"memory_bytes", gpu.memory.value()},
                    {"usable_memory", gpu.usable_memory},
                    {"peak_fp32_flop_per_s", OptionalValue(gpu.peak_fp32)},
                    {"peak_fp16_flop_per_s", OptionalValue(gpu.peak_fp16)},
                    {"peak_bf16_flop_per_s", OptionalValue(gpu.peak_bf16)},
                    {"memory_bandwidth_bytes_per_s", OptionalValue(gpu.memory_bandwidth)},
                    {"efficiency", EfficiencyJson(gpu.efficiency)},
                    {"framework_memory_bytes", OptionalValue(gpu.framework_memory)}});
  }
  Json machines = Json::array();
  for (const Machine& machine : cluster.machines) {
    machines.push_back({{"name", machine.name},
                        {"gpu", cluster.gpus[machine.gpu.index()].name},
                        {"gpus_per_node", machine.gpus_per_node},
                        {"intra_node_bytes_per_s", machine.intra_node.value()},
                        {"nic_bytes_per_s", OptionalValue(machine.nic)}});
  }
  Json zones = Json::array();
  for (const Zone& zone : cluster.zones) {
    zones.push_back({{"name", zone.name}, {"region", cluster.regions[zone.region.index()]}});
  }
  Json pools = Json::array();
  for (const Pool& pool : cluster.pools) {
    // Zones may share a short name across regions: pools and links refer to them by index.
    pools.push_back({{"name", pool.name},
                     {"zone", pool.zone.index()},
                     {"machine", cluster.machines[pool.machine.index()].name},
                     {"market", Text(ToString(pool.market))},
                     {"quota_nodes", pool.quota},
                     {"price_usd_per_s", pool.price.value()},
                     {"mean_lifetime_s", OptionalValue(pool.mean_lifetime)}});
  }
  Json links = Json::array();
  for (size_t from = 0; from < cluster.links.size(); ++from) {
    for (size_t to = 0; to < cluster.links[from].size(); ++to) {
      const Link& link = cluster.links[from][to];
      Json& json = links.emplace_back();
      json = {{"from", from},
              {"to", to},
              {"bandwidth_bytes_per_s", link.bandwidth.value()},
              {"latency_s", link.latency.value()},
              {"egress_usd_per_byte", link.egress.value()},
              {"per", Text(NameOf(kLinkShares, link.share))}};
      if (!link.sends.empty()) json["sends"] = CurveJson(link.sends);
      if (!link.all_reduces.empty()) json["all_reduces"] = CurveJson(link.all_reduces);
    }
  }
  return {{"name", cluster.name}, {"gpus", gpus},   {"machines", machines}, {"regions", cluster.regions},
          {"zones", zones},       {"pools", pools}, {"links", links}};
}

Json ToJson(const Profile& profile, const Cluster& cluster) {
  Json entries = Json::array();
  for (const auto& [key, time] : profile.times()) {
    entries.push_back({{"layer", Text(ToString(key.kind))},
                       {"gpu", cluster.gpus[key.gpu.index()].name},
                       {"tensor", key.tensor},
                       {"micro_batch", key.micro_batch},
                       {"forward_s", time.forward.value()},
                       {"backward_s", time.backward.value()},
                       {"optimizer_s", time.optimizer.value()},
                       {"activation_bytes", OptionalValue(time.activations)},
                       {"provenance", Text(ToString(time.provenance))}});
  }
  return entries;
}

Json ToJson(const Problem& problem) {
  return {{"job", ToJson(problem.job)},
          {"model", ToJson(problem.model)},
          {"cluster", ToJson(problem.cluster)},
          {"profile", ToJson(problem.profile, problem.cluster)}};
}

Json ToJson(const Plan& plan, const Cluster& cluster) {
  Json pipelines = Json::array();
  for (const Pipeline& pipeline : plan.pipelines) {
    Json stages = Json::array();
    for (const Stage& stage : pipeline.stages) {
      stages.push_back({{"layers", {stage.first_layer, stage.last_layer}},
                        {"pool", cluster.pool(stage.group.pool).name},
                        {"node", stage.group.node},
                        {"gpus", stage.group.gpus},
                        {"recompute", Text(NameOf(kRecomputes, stage.recompute))}});
    }
    pipelines.push_back(
        {{"micro_batch", pipeline.micro_batch}, {"micro_batches", pipeline.micro_batches}, {"stages", stages}});
  }
  return {{"schedule", Text(NameOf(kSchedules, plan.schedule))},
          {"optimizer_sharding", Text(NameOf(kOptimizerShardings, plan.optimizer_sharding))},
          {"pipelines", pipelines}};
}

namespace {

Json StageJson(const StageReport& stage) {
  Json memory = Json::array();
  for (const MemoryTerm& term : stage.memory) {
    memory.push_back(
        {{"what", term.what}, {"bytes", term.bytes.value()}, {"provenance", Text(ToString(term.provenance))}});
  }
  return {{"pipeline", stage.pipeline},
          {"stage", stage.stage},
          {"busy_s", stage.busy.value()},
          {"idle_s", stage.idle.value()},
          {"memory", memory},
          {"memory_total_bytes", stage.memory_total.value()},
          {"memory_limit_bytes", stage.memory_limit.value()}};
}

}  // namespace

Json ToJson(const Report& report, const Cluster& cluster) {
  Json stages = Json::array();
  for (const StageReport& stage : report.stages) stages.push_back(StageJson(stage));
  Json pools = Json::array();
  for (const PoolCost& pool : report.pools) {
    pools.push_back({{"pool", cluster.pool(pool.pool).name},
                     {"nodes", pool.nodes},
                     {"usd_per_iteration", pool.per_iteration.value()}});
  }
  Json traffic = Json::array();
  for (const LinkTraffic& link : report.traffic) {
    traffic.push_back({{"from", cluster.zones[link.from.index()].name},
                       {"to", cluster.zones[link.to.index()].name},
                       {"bytes_per_iteration", link.bytes.value()},
                       {"egress_usd_per_iteration", link.egress.value()}});
  }
  Json constraints = Json::array();
  for (const ConstraintReport& constraint : report.constraints) {
    constraints.push_back({{"name", constraint.name},
                           {"value", constraint.value},
                           {"limit", constraint.limit},
                           {"holds", constraint.holds},
                           {"slack", constraint.slack}});
  }
  Json spot = nullptr;
  if (report.spot) {
    spot = {{"mean_time_between_failures_s", report.spot->mean_time_between_failures.value()},
            {"checkpoint_s", report.spot->checkpoint.value()},
            {"checkpoint_interval_s", report.spot->checkpoint_interval.value()},
            {"goodput", report.spot->goodput},
            {"expected_cost_usd_per_iteration", report.spot->cost_per_iteration.value()}};
  }
  return {{"iteration_s", report.iteration.value()},
          {"throughput_iters_per_s", Value(report, Metric::kThroughput)},
          {"goodput_iters_per_s", Value(report, Metric::kGoodput)},
          {"samples_per_s", report.samples_per_second},
          {"tokens_per_s", report.tokens_per_second},
          {"cost_usd_per_iteration", report.cost_per_iteration.value()},
          {"steps", report.steps},
          {"job_time_s", Value(report, Metric::kJobTime)},
          {"total_cost_usd", Value(report, Metric::kTotalCost)},
          {"peak_memory", report.peak_memory},
          {"nodes", report.nodes},
          {"gpus", report.gpus},
          {"timing", Text(ToString(report.timing))},
          {"parts",
           {{"fill_s", report.parts.fill.value()},
            {"steady_s", report.parts.steady.value()},
            {"drain_s", report.parts.drain.value()},
            {"gradient_sync_s", report.parts.gradient_sync.value()},
            {"optimizer_s", report.parts.optimizer.value()}}},
          {"stages", stages},
          {"pools", pools},
          {"traffic", traffic},
          {"constraints", constraints},
          {"spot", spot}};
}

Json ToJson(const std::vector<FrontPoint>& front) {
  Json points = Json::array();
  for (const FrontPoint& point : front) {
    points.push_back({{"iteration_s", point.iteration.value()},
                      {"cost_usd_per_iteration", point.cost_per_iteration.value()},
                      {"goodput_iters_per_s", point.goodput},
                      {"nodes", point.nodes},
                      {"gpus", point.gpus},
                      {"chosen", point.chosen}});
  }
  return points;
}

}  // namespace sail::ir
