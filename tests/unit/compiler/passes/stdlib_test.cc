// The standard library is read by the same front end as everything else.
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "compiler/ir/model.h"
#include "gtest/gtest.h"
#include "stdlib/standard_library.h"
#include "tests/unit/compiler/passes/check_source.h"

namespace sail {
namespace {

// Parameters with which each model was published (GPT-2: Radford et al. 2019, the 137022720 of its weight file count 12
// causal masks; OPT: Zhang et al. 2022; GPT-Neo: EleutherAI).
const std::map<std::string, int64_t> kPublished = {
    {"gpt2", 124439808},      {"gpt2_medium", 354823168}, {"gpt2_large", 774030080}, {"gpt2_xl", 1557611200},
    {"opt_125m", 125239296},  {"opt_350m", 331196416},    {"opt_1_3b", 1315758080},  {"opt_2_7b", 2651596800},
    {"opt_6_7b", 6658473984}, {"opt_13b", 12853473280},   {"opt_30b", 29974540288},  {"gpt_neo_2_7b", 2651307520}};

std::string JobOn(const std::string& machine, const std::string& model) {
  return absl::StrCat(R"(sail 1
import "std/gcp" as gcp
import "std/gpus" as gpus
import "std/models" as models
machine one { gpu = gpus.A100_40, gpus_per_node = 1 GPU, price { on_demand = 1 USD/h } }
resources lab {
  region "r" { zone "z" { pool p { machine = )",
                      machine, R"(, quota = 1 node } } }
  link * <-> * within zone { bandwidth = 1 Gbps, latency = 30 us, egress = 0 USD/GB }
}
job j {
  model = )",
                      model, R"(, resources = lab, precision = fp32
  batch { global = 8 samples, micro = 1 }
  maximize throughput
}
)");
}

TEST(StandardLibrary, FilesAreSortedAndCheckCleanly) {
  std::string previous;
  for (const StandardFile& file : StandardLibrary()) {
    EXPECT_LT(previous, file.name);
    previous = file.name;
    const auto checked = test::CheckSource(absl::StrCat("sail 1\nimport \"", file.name, "\" as it\n"));
    EXPECT_TRUE(checked.spec.ok()) << file.name;
    EXPECT_TRUE(checked.diagnostics.empty()) << file.name << ": " << checked.diagnostics.front();
  }
}

TEST(StandardLibrary, ParameterCountsAreThePublishedOnes) {
  for (const auto& [name, published] : kPublished) {
    const auto checked = test::CheckSource(JobOn("one", "models." + name));
    ASSERT_TRUE(checked.spec.ok()) << name << ": " << checked.diagnostics.front();
    EXPECT_EQ(ir::TotalParameters(checked.spec->jobs.front().problem.model), published) << name;
  }
}

TEST(StandardLibrary, EveryPublishedModelIsInTheTest) {
  const std::string text(FindStandardFile("std/models")->text);
  size_t models = 0;
  for (size_t at = text.find("\nmodel "); at != std::string::npos; at = text.find("\nmodel ", at + 1)) ++models;
  EXPECT_EQ(models, kPublished.size());
}

TEST(StandardLibrary, MachinesCarryTheirGpusAndListPrices) {
  const auto checked = test::CheckSource(JobOn("gcp.a2_highgpu_8g", "models.gpt2"));
  ASSERT_TRUE(checked.spec.ok()) << checked.diagnostics.front();
  const ir::Cluster& cluster = checked.spec->jobs.front().problem.cluster;
  ASSERT_EQ(cluster.machines.size(), 1u);
  EXPECT_EQ(cluster.machines[0].name, "a2_highgpu_8g");
  EXPECT_EQ(cluster.machines[0].gpus_per_node, 8);
  EXPECT_DOUBLE_EQ(cluster.machines[0].nic->value(), 12.5e9);  // 100 Gbps
  EXPECT_EQ(cluster.gpus[0].memory.value(), int64_t{40} << 30);
  EXPECT_DOUBLE_EQ(cluster.pools[0].price.value() * 3600, 29.38708);
}

}  // namespace
}  // namespace sail
