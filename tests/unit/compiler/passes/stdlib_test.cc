// The standard library is read by the same front end as everything else.
#include "stdlib/standard_library.h"

#include <map>
#include <regex>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/ir/model.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/passes/check_source.h"

namespace sail {
namespace {

struct PublishedModel {
  const char* name;
  const char* written;  // as its doc comment says it
  int64_t parameters;
};

// Parameters with which each model was published (GPT-2: Radford et al. 2019, the 137022720 of its weight file count 12
// causal masks; OPT: Zhang et al. 2022; GPT-Neo: EleutherAI; the others: elements of the published weight files, where
// those of Qwen3-0.6B and 1.7B store the tied head once more).
constexpr PublishedModel kPublished[] = {
    {"gpt2", "124,439,808", 124439808},
    {"gpt2_medium", "354,823,168", 354823168},
    {"gpt2_large", "774,030,080", 774030080},
    {"gpt2_xl", "1,557,611,200", 1557611200},
    {"opt_125m", "125,239,296", 125239296},
    {"opt_350m", "331,196,416", 331196416},
    {"opt_1_3b", "1,315,758,080", 1315758080},
    {"opt_2_7b", "2,651,596,800", 2651596800},
    {"opt_6_7b", "6,658,473,984", 6658473984},
    {"opt_13b", "12,853,473,280", 12853473280},
    {"opt_30b", "29,974,540,288", 29974540288},
    {"gpt_neo_125m", "125,198,592", 125198592},
    {"gpt_neo_1_3b", "1,315,575,808", 1315575808},
    {"gpt_neo_2_7b", "2,651,307,520", 2651307520},
    {"llama_2_7b", "6,738,415,616", 6738415616},
    {"llama_2_13b", "13,015,864,320", 13015864320},
    {"llama_2_70b", "68,976,648,192", 68976648192},
    {"llama_3_8b", "8,030,261,248", 8030261248},
    {"llama_3_70b", "70,553,706,496", 70553706496},
    {"llama_3_1_405b", "405,853,388,800", 405853388800},
    {"llama_3_2_1b", "1,235,814,400", 1235814400},
    {"llama_3_2_3b", "3,212,749,824", 3212749824},
    {"mistral_7b_v0_1", "7,241,732,096", 7241732096},
    {"mistral_7b_v0_3", "7,248,023,552", 7248023552},
    {"mistral_nemo_12b", "12,247,782,400", 12247782400},
    {"mistral_small_24b", "23,572,403,200", 23572403200},
    {"qwen2_5_0_5b", "494,032,768", 494032768},
    {"qwen2_5_1_5b", "1,543,714,304", 1543714304},
    {"qwen2_5_3b", "3,085,938,688", 3085938688},
    {"qwen2_5_7b", "7,615,616,512", 7615616512},
    {"qwen2_5_14b", "14,770,033,664", 14770033664},
    {"qwen2_5_32b", "32,763,876,352", 32763876352},
    {"qwen2_5_72b", "72,706,203,648", 72706203648},
    {"qwen3_0_6b", "596,049,920", 596049920},
    {"qwen3_1_7b", "1,720,574,976", 1720574976},
    {"qwen3_4b", "4,022,468,096", 4022468096},
    {"qwen3_8b", "8,190,735,360", 8190735360},
    {"qwen3_14b", "14,768,307,200", 14768307200},
    {"qwen3_32b", "32,762,123,264", 32762123264},
};

std::string JobOn(const std::string& machine, const std::string& model, const std::string& market = "on_demand") {
  return absl::StrCat(R"(sail 1
import "std/aws@2026.11" as aws
import "std/azure@2026.11" as azure
import "std/gcp@2026.11" as gcp
import "std/gpus@1" as gpus
import "std/lambda@2026.11" as lambda
import "std/models@1" as models
import "std/models/gpt@1" as gpt
machine one { gpu = gpus.A100_40, gpus_per_node = 1 GPU, price { on_demand = 1 USD/h } }
resources lab {
  region "r" { zone "z" { pool p { machine = )",
                      machine, ", market = ", market, R"(, quota = 1 node } } }
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

// A top-level block of the library, from its doc comment to its closing brace.
struct Entry {
  std::string package;
  std::string kind;
  std::string name;
  std::string text;
};

std::vector<Entry> Entries() {
  static const std::regex kBlock(R"(((?:## [^\n]*\n)*)(\w+) (\w+) \{\n[\s\S]*?\n\})");
  std::vector<Entry> entries;
  for (const StandardFile& file : StandardLibrary()) {
    const std::string text(file.text);
    for (std::sregex_iterator it(text.begin(), text.end(), kBlock), end; it != end; ++it) {
      entries.push_back({.package = file.package, .kind = (*it)[2], .name = (*it)[3], .text = it->str()});
    }
  }
  return entries;
}

TEST(StandardLibrary, FilesAreSortedAndCheckCleanly) {
  const StandardFile* previous = nullptr;
  for (const StandardFile& file : StandardLibrary()) {
    if (previous != nullptr) {
      const int order = absl::string_view(previous->package).compare(file.package);
      EXPECT_TRUE(order < 0 || (order == 0 && IsOlderVersion(previous->version, file.version))) << file.package;
    }
    previous = &file;
    const std::string name = absl::StrCat(file.package, "@", file.version);
    const auto checked = test::CheckSource(absl::StrCat("sail 1\nimport \"", name, "\" as it\n"));
    EXPECT_TRUE(checked.spec.ok()) << name;
    // Nothing but that nobody uses the import.
    ASSERT_EQ(checked.diagnostics.size(), 1u) << name;
    EXPECT_TRUE(absl::StartsWith(checked.diagnostics.front(), "SAIL0312")) << name;
  }
}

TEST(StandardLibrary, VersionsAreComparedNumberByNumber) {
  EXPECT_TRUE(IsOlderVersion("2026.9", "2026.11"));
  EXPECT_TRUE(IsOlderVersion("1", "1.1"));
  EXPECT_FALSE(IsOlderVersion("1.1", "1.1"));
  EXPECT_FALSE(IsOlderVersion("10", "9.5"));
}

TEST(StandardLibrary, FindsAVersionAndTheNewest) {
  ASSERT_NE(FindStandardFile("std/gcp", "2026.11"), nullptr);
  EXPECT_EQ(FindStandardFile("std/gcp", "2026.1"), nullptr);
  EXPECT_EQ(FindStandardFile("std/gpc", "2026.11"), nullptr);
  ASSERT_NE(NewestStandardFile("std/models/gpt"), nullptr);
  EXPECT_STREQ(NewestStandardFile("std/models/gpt")->version, "1");
  EXPECT_EQ(NewestStandardFile("std/gpc"), nullptr);
}

TEST(StandardLibrary, AnImportWithoutVersionIsTheNewest) {
  const auto checked = test::CheckSource(
      "sail 1\nimport \"std/gpus@1\" as newest\nimport \"std/gpus@1\" as first\n"
      "machine m { gpu = newest.T4, gpus_per_node = 1 GPU, price { on_demand = 1 USD/h } }\n"
      "machine n { gpu = first.T4, gpus_per_node = 1 GPU, price { on_demand = 1 USD/h } }\n");
  EXPECT_TRUE(checked.spec.ok());
  const auto missing = test::CheckSource("sail 1\nimport \"std/gpus@99\" as gpus\n");
  ASSERT_EQ(missing.diagnostics.size(), 1u);
  EXPECT_EQ(missing.diagnostics[0], "SAIL0306 2:8 cannot find `std/gpus@99`");
}

TEST(StandardLibrary, ImportsInsideAreVersioned) {
  for (const StandardFile& file : StandardLibrary()) {
    for (const absl::string_view line : absl::StrSplit(file.text, '\n')) {
      if (!absl::StartsWith(line, "import ")) continue;
      EXPECT_TRUE(absl::StrContains(line, '@')) << file.package << ": " << line;
    }
  }
}

TEST(StandardLibrary, NothingIsDeclaredTwice) {
  std::map<std::string, std::string> packages;
  for (const Entry& entry : Entries()) {
    const auto [it, is_new] = packages.emplace(absl::StrCat(entry.kind, " ", entry.name), entry.package);
    EXPECT_TRUE(is_new) << entry.kind << " " << entry.name << " in " << it->second << " and " << entry.package;
  }
  EXPECT_GT(packages.size(), 100u);
}

TEST(StandardLibrary, ParameterCountsAreThePublishedOnes) {
  for (const PublishedModel& model : kPublished) {
    const auto checked = test::CheckSource(JobOn("one", absl::StrCat("models.", model.name)));
    ASSERT_TRUE(checked.spec.ok()) << model.name << ": " << checked.diagnostics.front();
    EXPECT_EQ(ir::TotalParameters(checked.spec->jobs.front().problem.model), model.parameters) << model.name;
  }
}

TEST(StandardLibrary, EveryModelIsInTheTestAndSaysItsCount) {
  std::map<std::string, std::string> written;
  for (const PublishedModel& model : kPublished) written[model.name] = model.written;
  size_t models = 0;
  for (const Entry& entry : Entries()) {
    if (entry.package != "std/models") continue;
    ++models;
    EXPECT_EQ(written.count(entry.name), 1u) << entry.name;
    EXPECT_TRUE(absl::StrContains(entry.text, absl::StrCat(": ", written[entry.name], " parameters."))) << entry.text;
  }
  EXPECT_EQ(models, std::size(kPublished));
}

TEST(StandardLibrary, TheTemplateIsACompleteModel) {
  const auto checked = test::CheckSource(JobOn("one", "gpt.decoder"));
  ASSERT_TRUE(checked.spec.ok()) << checked.diagnostics.front();
  EXPECT_EQ(ir::TotalParameters(checked.spec->jobs.front().problem.model), 124439808);
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

// Every machine can be rented on demand and, where it has a spot price, for no more than that.
TEST(StandardLibrary, EveryMachineIsPricedDatedAndConnected) {
  static const std::regex kOrigin(R"(as_of +\= 20\d\d-\d\d-\d\d\n +source +\= "\S)");
  int machines = 0;
  for (const Entry& entry : Entries()) {
    if (entry.kind != "machine") continue;
    ++machines;
    EXPECT_TRUE(std::regex_search(entry.text, kOrigin)) << entry.text;
    EXPECT_TRUE(absl::StartsWith(entry.text, "## ")) << entry.text;
    const std::string path = absl::StrCat(entry.package.substr(4), ".", entry.name);
    const auto on_demand = test::CheckSource(JobOn(path, "models.gpt2"));
    ASSERT_TRUE(on_demand.spec.ok()) << path << ": " << on_demand.diagnostics.front();
    const ir::Cluster& cluster = on_demand.spec->jobs.front().problem.cluster;
    const ir::Machine& machine = cluster.machines[0];
    EXPECT_GT(cluster.pools[0].price.value(), 0) << path;
    EXPECT_TRUE(!machine.nic || machine.nic->value() > 0) << path;
    EXPECT_TRUE(machine.gpus_per_node == 1 || machine.intra_node.value() > 0) << path;
    if (!absl::StrContains(entry.text, "spot ")) continue;
    const auto spot = test::CheckSource(JobOn(path, "models.gpt2", "spot"));
    ASSERT_TRUE(spot.spec.ok()) << path << ": " << spot.diagnostics.front();
    EXPECT_LE(spot.spec->jobs.front().problem.cluster.pools[0].price.value(), cluster.pools[0].price.value()) << path;
  }
  EXPECT_GE(machines, 40);
}

TEST(StandardLibrary, ResourcesAreTemplatesWithoutPools) {
  const auto checked = test::CheckSource(R"(sail 1
import "std/gcp@2026.11" as gcp
import "std/models@1" as models
job j {
  model = models.gpt2, resources = gcp.us_central1, precision = fp32
  batch { global = 8 samples, micro = 1 }
  maximize throughput
}
)");
  ASSERT_EQ(checked.diagnostics.size(), 1u);
  EXPECT_EQ(checked.diagnostics[0], "SAIL0303 5:36 resources `us_central1` has no pool");
}

}  // namespace
}  // namespace sail
