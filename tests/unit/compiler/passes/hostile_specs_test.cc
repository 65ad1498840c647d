// Specs at the edge of what is accepted: sizes, numbers, names.
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/passes/check_source.h"

namespace sail {
namespace {

using test::CheckSource;
using test::Evaluated;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kMachine[] = R"(sail 1
gpu G { memory = 16 GiB, peak_fp16 = 125 TFLOP/s }
machine m { gpu = G, gpus_per_node = 1 GPU, price { on_demand = 8 USD/h } }
)";
constexpr char kLinks[] = "link * <-> * { bandwidth = 10 Gbps, latency = 1 ms, egress = 0 USD/GB }\n";

std::string ZonesWithPools(int count) {
  return absl::StrCat(kMachine, "resources lab {\n", kLinks, "region \"r\" { for i in 1..", count,
                      " { zone \"z${i}\" { pool \"p${i}\" { machine = m, quota = 1 node } } } }\n}\n");
}

TEST(HostileSpecs, AThousandZonesAreAllowed) {
  EXPECT_THAT(CheckSource(ZonesWithPools(1000)).diagnostics, IsEmpty());
  EXPECT_THAT(CheckSource(ZonesWithPools(1001)).diagnostics,
              ElementsAre("SAIL0119 4:1 the pools of `lab` stand in 1001 zones, at most 1000 are supported"));
}

TEST(HostileSpecs, AThousandPoolsAreAllowed) {
  const auto in_one_zone = [](int count) {
    return absl::StrCat(kMachine, "resources lab {\n", kLinks, "region \"r\" { zone \"z\" { for i in 1..", count,
                        " { pool \"p${i}\" { machine = m, quota = 1 node } } } }\n}\n");
  };
  EXPECT_THAT(CheckSource(in_one_zone(1000)).diagnostics, IsEmpty());
  EXPECT_THAT(CheckSource(in_one_zone(1001)).diagnostics,
              ElementsAre("SAIL0119 4:1 `lab` has 1001 pools, at most 1000 are supported"));
}

TEST(HostileSpecs, RangesMayEndAtTheLargestNumber) {
  EXPECT_EQ(Evaluated("[n for n in 9223372036854775806..9223372036854775807]"),
            "[9223372036854775806, 9223372036854775807]");
}

TEST(HostileSpecs, NamesHoldNothingThatCannotBePrinted) {
  EXPECT_THAT(CheckSource("sail 1\ngpu \"a\\u{1b}[31m\" { memory = 1 GiB }\n").diagnostics,
              ElementsAre("SAIL0101 2:5 character U+001B is not allowed in a name"));
  EXPECT_THAT(CheckSource("sail 1\nfor x in [\"a\\nb\"] { gpu \"g-${x}\" { memory = 1 GiB } }\n").diagnostics,
              ElementsAre("SAIL0101 2:25 character U+000A is not allowed in a name"));
  EXPECT_THAT(CheckSource("sail 1\ngpu \"\u65e5\u672c\" { memory = 1 GiB }\n").diagnostics, IsEmpty());
}

constexpr char kThreeZones[] = R"(
region "r" { for z in ["a", "b", "c"] { zone "${z}" { pool "p-${z}" { machine = m, quota = 1 node } } } }
link * <-> * within zone { bandwidth = 10 Gbps, latency = 1 ms, egress = 0 USD/GB }
)";

TEST(HostileSpecs, LinkEndsMayBeMembersOfALoopVariable) {
  const std::string links = R"(
    for e in [{ f = "a", t = "b" }, { f = "c", t = "b" }, { f = "a", t = "c" }] {
      link e.f <-> e.t { bandwidth = 5 Gbps, latency = 1 ms, egress = 0 USD/GB }
    })";
  EXPECT_THAT(CheckSource(absl::StrCat(kMachine, "resources lab {", kThreeZones, links, "\n}\n")).diagnostics,
              IsEmpty());
}

// A rule is found by either of its ends, and the more specific one holds whatever their order.
TEST(HostileSpecs, LinkRulesOfOneZoneCoverBothDirections) {
  const std::string links = "link \"b\" <-> * { bandwidth = 5 Gbps, latency = 1 ms, egress = 0 USD/GB }\n";
  const auto checked = CheckSource(absl::StrCat(kMachine, "resources lab {", kThreeZones, links, "\n}\n"));
  EXPECT_THAT(checked.diagnostics, ElementsAre(HasSubstr("SAIL0401 4:1 no link rule for \"a\" -> \"c\"")));
}

}  // namespace
}  // namespace sail
