#include "compiler/passes/schema.h"

#include "absl/strings/str_split.h"

namespace sail {
namespace {

using enum ValueType;
using enum Presence;
using enum Bound;

constexpr KindSchema kKinds[] = {
    {"gpu", "file", LabelRule::kRequired, "", "", false, false, "an accelerator, or a CPU core standing in for one"},
    {"efficiency", "gpu", LabelRule::kNone, "", "", true, false, "what training reaches of the datasheet"},
    {"machine", "file|resources", LabelRule::kRequired, "", "", false, false, "a node type: equal GPUs in one box"},
    {"price", "machine|pool", LabelRule::kNone, "", "machine", true, false, "what a node costs, by market"},
    {"resources", "file", LabelRule::kRequired, "", "", false, false, "what can be rented"},
    {"region", "resources", LabelRule::kRequired, "", "", false, false, "zones that lie close together"},
    {"zone", "resources|region", LabelRule::kRequired, "", "", false, false, "one data centre"},
    {"pool", "resources|region|zone", LabelRule::kRequired, "", "", false, false, "equal nodes of one zone and market"},
    {"link", "resources", LabelRule::kNone, "", "", false, false, "the network between the nodes of two zones"},
    {"model", "file", LabelRule::kRequired, "", "", false, false, "the shape of a neural network"},
    {"profile", "model", LabelRule::kNone, "", "", true, true, "measured layer times, one file per gpu"},
    {"job", "file", LabelRule::kRequired, "", "", false, false, "one training run"},
    {"batch", "job", LabelRule::kNone, "", "job", true, false, "how many samples make one iteration"},
    {"parallelism", "job", LabelRule::kNone, "", "", true, false, "what the planner may try"},
    {"data", "job", LabelRule::kNone, "", "", true, false, "what to train on"},
    {"optimizer", "job", LabelRule::kNone, "", "", true, false, "AdamW and its settings"},
    {"trainer", "job", LabelRule::kNone, "", "", true, false,
     "another program than sailrun that trains; its plans can be simulated, not built"},
    {"keep", "parallelism", LabelRule::kRequired, "tensor|pipeline|data", "", false, false,
     "how far a kind of parallelism may reach"},
    {"checkpoint", "job", LabelRule::kNone, "", "", true, false, "when and where the state of training is saved"},
    {"recovery", "job", LabelRule::kNone, "", "", true, false, "what happens when nodes are taken away"},
    {"env", "job", LabelRule::kNone, "", "", true, true, "environment of the training processes"},
    {"emit", "job", LabelRule::kNone, "", "", true, false, "launch files besides the neutral bundle"},
    {"torchrun", "emit", LabelRule::kNone, "", "", true, false, "a launcher script for torchrun"},
    {"slurm", "emit", LabelRule::kNone, "", "", true, false, "a batch script for Slurm"},
    {"jobset", "emit", LabelRule::kNone, "", "", true, false, "a Kubernetes JobSet"},
    {"ssh", "emit", LabelRule::kNone, "", "", true, false, "a script that starts the nodes over ssh"},
};

constexpr int64_t kLargestCount = 1'000'000'000;
constexpr int64_t kLargestMemory = int64_t{1} << 50;  // 1024 TiB
// What a plan file may hold (compiler/ir/parse.cc); a price may be that of one of 1024 GPUs.
constexpr int64_t kLargestRate = 1'000'000'000'000'000'000;  // per second
constexpr int64_t kLargestPrice = 100'000'000'000'000;       // USD per second
constexpr int64_t kLargestEgress = 1;                        // USD per byte
constexpr int64_t kLongestLatency = 1'000'000;               // seconds
constexpr int64_t kLongestTime = 360'000'000'000'000'000;    // seconds: 10^14 hours
constexpr int64_t kLargestSetting = kLargestRate;
constexpr const char* kMarketWords = "spot|on_demand|reserved";

// kind, name, type, unit, presence, default, bound, largest, doc
constexpr AttributeSchema kAttributes[] = {
    {"gpu", "backend", kEnum, "cuda|cpu", kOptional, "cuda", kAny, 0, "what executes the kernels"},
    {"gpu", "memory", kQuantity, "GiB", kRequired, "", kPositive, kLargestMemory, "memory of one GPU"},
    {"gpu", "usable_memory", kShare, "%", kOptional, "100%", kPositive, 0, "share of the memory a process can get"},
    {"gpu", "peak_fp32", kQuantity, "TFLOP/s", kOptional, "", kPositive, kLargestRate, "dense matrix peak in fp32"},
    {"gpu", "peak_fp16", kQuantity, "TFLOP/s", kOptional, "", kPositive, kLargestRate, "dense matrix peak in fp16"},
    {"gpu", "peak_bf16", kQuantity, "TFLOP/s", kOptional, "", kPositive, kLargestRate, "dense matrix peak in bf16"},
    {"gpu", "mem_bandwidth", kQuantity, "GB/s", kOptional, "", kPositive, kLargestRate, "speed of the GPU's memory"},
    {"gpu", "framework_memory", kQuantity, "GB", kOptional, "", kNotNegative, kLargestMemory,
     "memory of a process before it holds a model"},

    {"efficiency", "matmul", kShare, "%", kRequired, "", kPositive, 0, "share of the peak that large products reach"},
    {"efficiency", "ramp", kQuantity, "us", kRequired, "", kNotNegative, kLongestTime,
     "time of every product beside its FLOPs"},
    {"efficiency", "memory", kShare, "%", kRequired, "", kPositive, 0,
     "share of the memory's speed that other kernels reach"},

    {"machine", "gpu", kReference, "gpu", kRequired, "", kAny, 0, "the GPU in every slot"},
    {"machine", "gpus_per_node", kQuantity, "GPUs", kRequired, "", kPositive, 1024, "GPUs in one node"},
    {"machine", "host_memory", kQuantity, "GiB", kOptional, "", kPositive, 0, "main memory of a node"},
    {"machine", "intra_node", kQuantity, "GB/s", kOptional, "", kPositive, kLargestRate,
     "bandwidth of one GPU to the others in its node, one direction; required for more than one GPU"},
    {"machine", "nic", kQuantity, "Gbps", kOptional, "", kPositive, kLargestRate,
     "network card of a node, shared by its GPUs"},

    {"price", "on_demand", kPrice, "USD/h", kOptional, "", kNotNegative, kLargestPrice,
     "list price without commitment"},
    {"price", "spot", kPrice, "USD/h", kOptional, "", kNotNegative, kLargestPrice,
     "price of capacity that may be taken away"},
    {"price", "reserved", kPrice, "USD/h", kOptional, "", kNotNegative, kLargestPrice, "price under a commitment"},

    {"price", "as_of", kDate, "", kOptional, "", kAny, 0, "the day the prices were read"},
    {"price", "source", kText, "", kOptional, "", kAny, 0, "where the prices were read"},

    {"resources", "markets", kEnumList, kMarketWords, kOptional, "", kAny, 0, "markets that may be used; default: all"},
    {"resources", "discount", kShare, "%", kOptional, "0%", kAny, 0, "off every node price of these resources"},

    {"pool", "machine", kReference, "machine", kRequired, "", kAny, 0, "type of every node"},
    {"pool", "zone", kText, "", kOptional, "", kAny, 0, "required unless the pool stands inside a zone"},
    {"pool", "quota", kQuota, "nodes", kRequired, "", kNotNegative, 1'000'000, "how many nodes can be had at most"},
    {"pool", "market", kEnumList, kMarketWords, kOptional, "on_demand", kAny, 0,
     "how the nodes are bought; of several, the cheapest"},
    {"pool", "price", kPrice, "USD/h", kOptional, "", kNotNegative, kLargestPrice, "replaces the machine's price"},
    {"pool", "mean_lifetime", kQuantity, "h", kOptional, "", kPositive, kLongestTime,
     "mean time until a spot node is taken away"},

    {"link", "bandwidth", kQuantity, "Gbps", kRequired, "", kPositive, kLargestRate, "one direction"},
    {"link", "latency", kQuantity, "us", kRequired, "", kNotNegative, kLongestLatency, "one way"},
    {"link", "egress", kQuantity, "USD/GB", kRequired, "", kNotNegative, kLargestEgress,
     "price of data that leaves the first zone"},
    {"link", "profile", kText, "", kOptional, "", kAny, 0, "measured transfer times, a JSON file"},
    {"link", "per", kEnum, "node|flow", kOptional, "node", kAny, 0, "what the bandwidth belongs to"},

    {"model", "family", kEnum, "gpt|llama", kRequired, "", kAny, 0, "architecture"},
    {"model", "layers", kQuantity, "layers", kRequired, "", kPositive, 10'000, "transformer blocks"},
    {"model", "hidden", kInteger, "", kRequired, "", kPositive, 1 << 20, "width of the residual stream"},
    {"model", "heads", kInteger, "", kRequired, "", kPositive, 1 << 20, "attention heads"},
    {"model", "kv_heads", kInteger, "", kOptional, "heads", kPositive, 1 << 20, "key-value heads; llama only"},
    {"model", "head_dim", kInteger, "", kOptional, "hidden / heads", kPositive, 1 << 16, "width of a head; llama only"},
    {"model", "feed_forward", kInteger, "", kOptional, "4 * hidden", kPositive, 1 << 22, "width of the inner layer"},
    {"model", "seq_len", kQuantity, "tokens", kRequired, "", kPositive, 1 << 24, "tokens a sample trains on"},
    {"model", "vocab", kInteger, "", kRequired, "", kPositive, 1 << 24, "different tokens"},
    {"model", "embedding_width", kInteger, "", kOptional, "hidden", kPositive, 1 << 20, "width of a word embedding"},
    {"model", "position_rows", kInteger, "", kOptional, "seq_len", kPositive, 1 << 24, "rows of the position table"},
    {"model", "tied_head", kBoolean, "", kOptional, "true", kAny, 0, "the output head is the word embedding"},
    {"model", "qkv_bias", kBoolean, "", kOptional, "", kAny, 0,
     "bias of queries, keys, values; gpt: true, llama: false"},
    {"model", "qk_norm", kBoolean, "", kOptional, "false", kAny, 0, "queries and keys are normed; llama only"},
    {"model", "activation", kEnum, "gelu|relu|silu", kOptional, "", kAny, 0,
     "of the inner layer; gpt: gelu, llama: silu"},
    {"model", "norm", kEnum, "pre|post", kOptional, "pre", kAny, 0, "norm before or after each part"},

    {"profile", "*", kText, "", kOptional, "", kAny, 0, "the measured profile of a gpu, a JSON file"},

    {"job", "model", kReference, "model", kRequired, "", kAny, 0, "what to train"},
    {"job", "resources", kReference, "resources", kRequired, "", kAny, 0, "where to train"},
    {"job", "precision", kEnum, "fp32|fp16|bf16", kRequired, "", kAny, 0, "of parameters and activations"},
    {"job", "optimizer", kEnum, "adam", kOptional, "adam", kAny, 0, "AdamW; settings go into an `optimizer` block"},
    {"job", "steps", kQuantity, "iters", kOptional, "100 iters", kPositive, kLargestCount, "iterations to train"},
    {"job", "seed", kInteger, "", kOptional, "0", kNotNegative, 0, "of initialisation and data order"},

    {"batch", "global", kQuantity, "samples", kRequired, "", kPositive, kLargestCount, "samples of one iteration"},
    {"batch", "micro", kIntegerList, "", kRequired, "", kPositive, 65'536, "micro-batch sizes to try, in samples"},

    {"parallelism", "tensor", kIntegerList, "", kOptional, "1", kPositive, 1024, "tensor degrees to try"},
    {"parallelism", "pipeline", kIntegerList, "", kOptional, "1", kPositive, 10'002, "pipeline depths to try"},
    {"parallelism", "recompute", kEnumList, "none|selective|full", kOptional, "none", kAny, 0,
     "what stages may compute again in backward to save memory"},
    {"parallelism", "optimizer_sharding", kEnumList, "none|zero1", kOptional, "none", kAny, 0,
     "whether replicas may share the optimizer's state"},
    {"parallelism", "data", kEnum, "any", kOptional, "any", kAny, 0, "replicas: as many as pay"},

    {"keep", "within", kEnum, "node|zone|region|any", kRequired, "", kAny, 0, "the widest place its groups may span"},

    {"checkpoint", "every", kQuantity, "min", kRequired, "", kPositive, 0, "time between two checkpoints"},
    {"checkpoint", "target", kText, "", kRequired, "", kAny, 0, "directory or bucket"},
    {"checkpoint", "keep", kInteger, "", kOptional, "1", kPositive, 1000, "how many of the newest are kept"},

    {"recovery", "on_preempt", kEnum, "replan|wait|stop", kOptional, "replan", kAny, 0, "what to do with fewer nodes"},
    {"recovery", "max_lost_work", kQuantity, "min", kOptional, "", kPositive, 0, "work that may be repeated"},
    {"recovery", "replan_budget", kQuantity, "work", kOptional, "", kPositive, 0, "effort of a new plan"},

    {"env", "*", kTextOrSecret, "", kOptional, "", kAny, 0, "the value of a variable"},

    {"torchrun", "master_port", kInteger, "", kOptional, "29500", kPositive, 65'535, "port of rank 0"},
    {"slurm", "account", kText, "", kOptional, "", kAny, 0, "who pays"},
    {"slurm", "partition", kText, "", kOptional, "", kAny, 0, "where to run"},
    {"slurm", "time_limit", kQuantity, "h", kOptional, "", kPositive, 0, "longest run"},
    {"jobset", "namespace", kText, "", kOptional, "", kAny, 0, "Kubernetes namespace"},
    {"jobset", "queue", kText, "", kOptional, "", kAny, 0, "Kueue queue"},
    {"jobset", "image", kText, "", kOptional, "", kAny, 0, "container image, with its digest"},
    {"ssh", "user", kText, "", kOptional, "", kAny, 0, "account on the nodes"},

    {"trainer", "attention", kEnum, "unfused|fused", kOptional, "unfused", kAny, 0,
     "whether attention scores go through memory"},
    {"trainer", "dropout", kBoolean, "", kOptional, "false", kAny, 0, "after attention and both halves of a block"},
    {"trainer", "sequence_parallel", kBoolean, "", kOptional, "false", kAny, 0,
     "cuts along the sequence what is not tensor-parallel"},
    {"trainer", "overlap_gradients", kBoolean, "", kOptional, "false", kAny, 0,
     "sums gradients while earlier layers run backward"},
    {"trainer", "gradients", kEnum, "parameter|fp32|both", kOptional, "parameter", kAny, 0,
     "precision of gradients at 16 bit"},
    {"trainer", "flat_gradients", kBoolean, "", kOptional, "false", kAny, 0, "copies all gradients to sum them"},
    {"trainer", "whole_boundaries", kBoolean, "", kOptional, "false", kAny, 0,
     "sends an activation whole, not in slices"},
    {"trainer", "paired_sends", kBoolean, "", kOptional, "false", kAny, 0,
     "sends an activation after the gradient of its step has come"},
    {"trainer", "dispatch", kQuantity, "us", kOptional, "", kPositive, kLongestTime, "host time of one kernel"},

    {"data", "text", kTextList, "", kRequired, "", kAny, 0, "UTF-8 text files, read as bytes"},

    {"optimizer", "learning_rate", kNumber, "", kOptional, "0.001", kPositive, kLargestSetting, "step size"},
    {"optimizer", "beta1", kShare, "", kOptional, "0.9", kAny, 0, "decay of the first moment"},
    {"optimizer", "beta2", kShare, "", kOptional, "0.999", kAny, 0, "decay of the second moment"},
    {"optimizer", "epsilon", kNumber, "", kOptional, "0.00000001", kPositive, 1,
     "added to the root of the second moment"},
    {"optimizer", "weight_decay", kNumber, "", kOptional, "0", kNotNegative, kLargestSetting,
     "decoupled; matrices only"},
};

}  // namespace

absl::Span<const KindSchema> Kinds() { return kKinds; }
absl::Span<const AttributeSchema> Attributes() { return kAttributes; }

const KindSchema* FindKind(absl::string_view name) {
  for (const KindSchema& kind : kKinds) {
    if (name == kind.name) return &kind;
  }
  return nullptr;
}

const AttributeSchema* FindAttribute(absl::string_view kind, absl::string_view name) {
  for (const AttributeSchema& attribute : kAttributes) {
    if (kind == attribute.kind && name == attribute.name) return &attribute;
  }
  return nullptr;
}

bool MayContain(absl::string_view parent, const KindSchema& child) {
  for (const absl::string_view allowed : absl::StrSplit(child.parents, '|')) {
    if (allowed == parent) return true;
  }
  return false;
}

std::vector<std::string> AttributeNames(absl::string_view kind) {
  std::vector<std::string> names;
  for (const AttributeSchema& attribute : kAttributes) {
    if (kind == attribute.kind && absl::string_view(attribute.name) != "*") names.push_back(attribute.name);
  }
  for (const KindSchema& child : kKinds) {
    if (MayContain(kind, child)) names.push_back(child.name);
  }
  return names;
}

std::vector<std::string> KindNames() {
  std::vector<std::string> names;
  for (const KindSchema& kind : kKinds) names.push_back(kind.name);
  return names;
}

std::vector<std::string> EnumWords(const AttributeSchema& attribute) {
  const bool is_enum = attribute.type == ValueType::kEnum || attribute.type == ValueType::kEnumList;
  return is_enum ? absl::StrSplit(attribute.unit, '|') : std::vector<std::string>();
}

std::vector<std::string> EnumTypeWords(absl::string_view name) {
  for (const AttributeSchema& attribute : kAttributes) {
    if (name == attribute.name && !EnumWords(attribute).empty()) return EnumWords(attribute);
  }
  return {};
}

std::vector<std::string> LabelWords(const KindSchema& kind) {
  return absl::StrSplit(kind.labels, '|', absl::SkipEmpty());
}

}  // namespace sail
