// Loops, bases and params: what blocks come out, and what is said about mistakes.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/passes/check_source.h"

namespace sail {
namespace {

using test::CheckSource;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kMachines[] = R"(sail 1
gpu G { memory = 16 GiB, peak_fp16 = 125 TFLOP/s }
machine m4 {
  gpu = G, gpus_per_node = 4 GPUs, intra_node = 150 GB/s
  price { on_demand = 8 USD/h, spot = 2 USD/h }
}
model tiny { family = gpt, layers = 2 layers, hidden = 64, heads = 4, seq_len = 32 tokens, vocab = 256 }
)";

std::string Job(const std::string& extra = "") {
  return absl::StrCat(R"(
job j {
  model = tiny, resources = lab, precision = fp16
  batch { global = 8 samples, micro = 1 }
  maximize throughput
  )",
                      extra, "\n}\n");
}

std::vector<std::string> PoolsOf(const test::Checked& checked) {
  std::vector<std::string> pools;
  if (!checked.spec.ok()) return pools;
  for (const ir::Pool& pool : checked.spec->jobs.front().problem.cluster.pools) {
    pools.push_back(absl::StrCat(pool.name, " ", pool.quota, " ", ir::ToString(pool.market)));
  }
  return pools;
}

constexpr char kLinks[] = "link * <-> * { bandwidth = 10 Gbps, latency = 1 ms, egress = 0 USD/GB }";

TEST(Expand, ALoopMakesOneBlockForEachKey) {
  const auto checked = CheckSource(absl::StrCat(kMachines, R"(
let zones: List<String> = ["a", "b"]
resources lab {
  region "r" { zone "a" { }, zone "b" { } }
  for z in zones {
    pool "p-${z}" { machine = m4, zone = z, quota = if z == "a" then 8 nodes else 16 nodes }
  }
  for z, n in { a = 2 nodes } if n > 1 nodes { pool "q-${z}" { machine = m4, zone = z, quota = n, market = spot } }
  )",
                                                kLinks, "}", Job()));
  EXPECT_THAT(checked.diagnostics, IsEmpty());
  EXPECT_THAT(PoolsOf(checked), ElementsAre("p-a 8 on_demand", "p-b 16 on_demand", "q-a 2 spot"));
}

TEST(Expand, TheOrderOfItemsNeverMatters) {
  const auto checked = CheckSource(absl::StrCat("sail 1\n", Job(), "resources lab {\n", kLinks, R"(
  for n in counts { pool "p${n}" { machine = mine, zone = "a", quota = n * 1 node } }
  machine mine extends base { override price.on_demand = price }
  zone "a" { }
}
let price = 4 USD/h
let counts = [n * 2 for n in 1..2]
machine base extends m4 { }
)",
                                                std::string(kMachines).substr(7)));
  EXPECT_THAT(checked.diagnostics, IsEmpty());
  EXPECT_THAT(PoolsOf(checked), ElementsAre("p2 2 on_demand", "p4 4 on_demand"));
  ASSERT_TRUE(checked.spec.ok());
  EXPECT_DOUBLE_EQ(checked.spec->jobs[0].problem.cluster.pools[0].price.value() * 3600, 4);
}

TEST(Expand, OfSeveralMarketsTheCheapestIsBought) {
  const auto checked = CheckSource(absl::StrCat(kMachines, R"(
resources lab {
  markets = [on_demand, spot]
  zone "a" {
    pool both  { machine = m4, quota = 1 node, market = [spot, on_demand] }
    pool dear  { machine = m4, quota = 1 node, market = on_demand }
    pool quite { machine = m4, quota = 1 node, market = [reserved, on_demand] }
  }
  )",
                                                kLinks, "}", Job()));
  EXPECT_THAT(checked.diagnostics, IsEmpty());
  EXPECT_THAT(PoolsOf(checked), ElementsAre("both 1 spot", "dear 1 on_demand", "quite 1 on_demand"));
}

constexpr char kBase[] = R"(
resources base {
  discount = 0%
  region "r" { zone "a" { }, zone "b" { } }
  pool old { machine = m4, zone = "a", quota = 1 node }
  link * <-> * within zone   { bandwidth = 100 Gbps, latency = 1 us, egress = 0 USD/GB }
  link * <-> * within region { bandwidth = 10 Gbps, latency = 1 ms, egress = 0.01 USD/GB }
}
)";

TEST(Expand, ExtendsCopiesAndTheBodyOverrides) {
  const auto checked = CheckSource(absl::StrCat(kMachines, kBase, R"(
resources lab extends base {
  override discount = 25%
  override link.within_region.bandwidth = 22 Gbps
  machine mine extends m4 { override price.on_demand = 4 USD/h, override gpu.memory = 24 GiB }
  region "r" { zone "b" { pool new { machine = mine, quota = 3 nodes } } }
  pool two { machine = m4, zone = "a", quota = 1 node }
  remove pool old
})",
                                                Job()));
  EXPECT_THAT(checked.diagnostics, ElementsAre(HasSubstr("SAIL0111")));  // two gpus called G in one cluster
  const auto one = CheckSource(absl::StrCat(kMachines, kBase, R"(
resources lab extends base {
  override discount = 25%
  override link.within_region.bandwidth = 22 Gbps
  machine mine extends m4 { override price.on_demand = 4 USD/h, override gpu.memory = 24 GiB }
  region "r" { zone "b" { pool new { machine = mine, quota = 3 nodes } } }
  pool two { machine = mine, zone = "a", quota = 1 node }
  remove pool old
})",
                                            Job()));
  EXPECT_THAT(one.diagnostics, IsEmpty());
  ASSERT_TRUE(one.spec.ok());
  const ir::Cluster& cluster = one.spec->jobs.front().problem.cluster;
  EXPECT_THAT(PoolsOf(one), ElementsAre("new 3 on_demand", "two 1 on_demand"));
  EXPECT_DOUBLE_EQ(cluster.pools[0].price.value() * 3600, 3);  // 4 USD/h less 25 %
  EXPECT_EQ(cluster.gpus[0].memory, Bytes(24LL << 30));
  EXPECT_DOUBLE_EQ(cluster.links[0][1].bandwidth.value(), 22e9 / 8);
}

struct Mistake {
  const char* name;
  const char* body;  // of `resources lab extends base { … }`
  const char* diagnostic;
};
class ExpandMistakes : public ::testing::TestWithParam<Mistake> {};
TEST_P(ExpandMistakes, AreReportedOnce) {
  const auto checked =
      CheckSource(absl::StrCat(kMachines, kBase, "\nresources lab extends base {\n", GetParam().body, "\n}", Job()));
  ASSERT_EQ(checked.diagnostics.size(), 1) << absl::StrJoin(checked.diagnostics, "\n");
  EXPECT_THAT(checked.diagnostics[0], HasSubstr(GetParam().diagnostic));
}
INSTANTIATE_TEST_SUITE_P(
    All, ExpandMistakes,
    ::testing::Values(
        Mistake{"missing_override", "discount = 5%", "SAIL0330 18:1 `discount` is already set in the base"},
        Mistake{"missing_override_in_child", "link.within_zone.latency = 2 us",
                "SAIL0330 18:1 `latency` is already set in the base"},
        Mistake{"needless_override", "override markets = [spot]",
                "SAIL0331 18:1 no `markets` is inherited here, so there is nothing to override"},
        Mistake{"remove_nothing", "remove pool older", "SAIL0332 18:1 the base has no pool `older` to remove"},
        Mistake{"inherited_pool_again", "pool old { machine = m4 }",
                "SAIL0330 18:12 `machine` is already set in the base"},
        Mistake{"new_pool_twice",
                "pool n { machine = m4, zone = \"a\", quota = 1 node }\n"
                "pool n { machine = m4, zone = \"a\", quota = 1 node }",
                "SAIL0111 19:1 pool `n` is declared twice"},
        Mistake{"unkeyed", "for z in [\"a\", \"b\"] { pool p { machine = m4, zone = z, quota = 1 node } }",
                "SAIL0318 18:28 the name of a block in a loop must contain the loop variable `z`"},
        Mistake{"assignment_in_loop", "for z in [\"a\"] { discount = 3% }",
                "SAIL0107 18:18 a `for` makes blocks and links"},
        Mistake{"mistake_in_every_round",
                "for z in [\"a\", \"b\"] { pool \"p-${z}\" { machine = m4, zone = z, quota = 2 } }",
                "SAIL0201 18:71 `quota` needs a unit"},
        Mistake{"shadowing", "for tiny in [\"a\"] { pool \"p-${tiny}\" { machine = m4, zone = tiny, quota = 1 node } }",
                "SAIL0311 18:5 `tiny` is already visible here"},
        Mistake{"unknown_path", "override pool.older.quota = 1 node",
                "SAIL0304 18:15 resources `lab` has no pool `older`"}));

TEST(Expand, ABaseOfAnotherKindAndACircleOfBases) {
  EXPECT_THAT(CheckSource(absl::StrCat(kMachines, "resources lab extends m4 { }")).diagnostics,
              ElementsAre(HasSubstr("SAIL0305 8:23 a resources extends a resources, found machine `m4`")));
  EXPECT_THAT(CheckSource("sail 1\nmodel a extends b { }\nmodel b extends a { }\n").diagnostics,
              ElementsAre(HasSubstr("SAIL0310")));
}

TEST(Params, TakeTheirValueFromOutside) {
  const std::string text = absl::StrCat(kMachines, R"(
param nodes_wanted: nodes = 2 nodes where nodes_wanted >= 1 node
resources lab { zone "a" { pool p { machine = m4, quota = nodes_wanted } }, )",
                                        kLinks, " }", Job());
  EXPECT_THAT(PoolsOf(CheckSource(text)), ElementsAre("p 2 on_demand"));
  EXPECT_THAT(PoolsOf(CheckSource(text, {}, {.definitions = {"nodes_wanted = 5 nodes"}})),
              ElementsAre("p 5 on_demand"));
  const std::map<std::string, std::string> files = {{"p.sail", "sail 1\nnodes_wanted = 7 nodes\n"}};
  EXPECT_THAT(PoolsOf(CheckSource(text, files, {.params_file = "p.sail"})), ElementsAre("p 7 on_demand"));
  EXPECT_THAT(PoolsOf(CheckSource(text, files, {.definitions = {"nodes_wanted = 5 nodes"}, .params_file = "p.sail"})),
              ElementsAre("p 5 on_demand"));
  EXPECT_THAT(CheckSource(text, {}, {.definitions = {"nodes_wanted = 0 nodes"}}).diagnostics,
              ElementsAre("SAIL0316 1:16 `nodes_wanted` must satisfy `nodes_wanted >= 1 node`, got 0 nodes"));
  EXPECT_THAT(CheckSource(text, {}, {.definitions = {"nodes_wanted = 5 GPUs"}}).diagnostics,
              ElementsAre("SAIL0204 1:16 `nodes_wanted` expects a number of nodes, found a number of GPUs"));
  EXPECT_THAT(CheckSource(text, {}, {.definitions = {"node_wanted = 5 nodes"}}).diagnostics,
              ElementsAre("SAIL0304 1:1 `dir/job.sail` has no param `node_wanted`"));
}

TEST(Params, AreSetOnceInEachPlace) {
  const std::string text = "sail 1\nparam n: Int = 1\nparam s: String = \"a\"\n";
  EXPECT_THAT(CheckSource(text, {}, {.definitions = {"n = 2\ns = \"b\""}}).diagnostics,
              ElementsAre("SAIL0108 2:1 one -D sets one param"));
  EXPECT_THAT(CheckSource(text, {{"p.sail", "n = 4\nn = 5\n"}}, {.params_file = "p.sail"}).diagnostics,
              ElementsAre("SAIL0110 2:1 `n` is set twice"));
}

TEST(Params, WithoutAValueAreMissing) {
  EXPECT_THAT(CheckSource("sail 1\nparam p: Int\n").diagnostics, ElementsAre("SAIL0303 2:1 param `p` has no value"));
}

TEST(Assertions, AboutTheSpecAreChecked) {
  EXPECT_THAT(CheckSource("sail 1\nlet a = 3\nassert a > 4, \"a is ${a}\"\nwarn a > 5\n").diagnostics,
              ElementsAre("SAIL0510 3:8 a is 3", "SAIL0511 4:6 `a > 5` does not hold"));
}

TEST(Expand, AnUnsetAttributeWithADefaultIsAValue) {
  EXPECT_EQ(test::Evaluated("a.usable_memory",
                            "gpu a { memory = 1 GiB }\ngpu b { memory = 1 GiB, usable_memory = a.usable_memory }"),
            "100%");
  EXPECT_THAT(CheckSource("sail 1\ngpu a { memory = 1 GiB }\nassert a.usable_memory > 50%\n").diagnostics, IsEmpty());
}

TEST(Expand, AnEmptyNameIsNone) {
  EXPECT_THAT(CheckSource("sail 1\nfor x in [\"\", \"a\"] { gpu \"${x}\" { memory = 1 GiB } }\n").diagnostics,
              ElementsAre(HasSubstr("SAIL0303")));
}

TEST(Assertions, InALoopAtTheTopLevelCount) {
  EXPECT_THAT(CheckSource("sail 1\nfor x in [\"a\"] { assert 1 > 2, \"${x}\" }\n").diagnostics,
              ElementsAre(HasSubstr("SAIL0510")));
}

// The right side of `and` is not looked at when the left one is false; neither is it explained.
TEST(Assertions, ExplainWhatWasEvaluated) {
  EXPECT_THAT(CheckSource("sail 1\nlet xs: List<Int> = []\nwarn len(xs) > 0 and xs[0] > 3, \"few\"\n").diagnostics,
              ElementsAre("SAIL0511 3:6 few"));
}

TEST(Modules, CirclesHashesAndVersions) {
  EXPECT_THAT(
      CheckSource("sail 1\nimport \"./b.sail\" as b\n", {{"dir/b.sail", "sail 1\nimport \"./job.sail\" as a\n"}})
          .diagnostics,
      ::testing::Contains(HasSubstr("SAIL0309")));
  EXPECT_THAT(CheckSource("sail 1\nimport \"./b.sail\" sha256 \"" + std::string(64, '0') + "\" as b\nlet x = b.y\n",
                          {{"dir/b.sail", "sail 1\nlet y = 1\n"}})
                  .diagnostics,
              ElementsAre(HasSubstr("SAIL0308 2:26 `./b.sail` has another content than this hash says")));
  EXPECT_THAT(CheckSource("sail 1\nimport \"https://x.org/a.sail\" as b\n").diagnostics,
              ElementsAre(HasSubstr("SAIL0307")));
  EXPECT_THAT(CheckSource("sail 1\nimport \"std/gpus\" as g\nlet x = g.T4.memory\n").diagnostics,
              ElementsAre(HasSubstr("SAIL0321")));
}

TEST(Lints, UnusedDeclarations) {
  EXPECT_THAT(CheckSource(absl::StrCat(kMachines, R"(
import "std/gpus@1" as gpus
let spare = 3
resources lab { zone "a" { let inner = 2, pool p { machine = m4, quota = 1 node } }, )",
                                       kLinks, " }", Job()))
                  .diagnostics,
              ElementsAre(HasSubstr("SAIL0312 9:24 import `gpus` is never used"),
                          HasSubstr("SAIL0312 10:5 let `spare` is never used"),
                          HasSubstr("SAIL0312 11:32 let `inner` is never used")));
}

}  // namespace
}  // namespace sail
