// Geometry of the drawings, read back from their text.
#include "compiler/driver/svg.h"

#include <regex>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "compiler/driver/alike_pipelines.h"
#include "compiler/driver/svg_cost.h"
#include "compiler/driver/svg_map.h"
#include "compiler/driver/svg_memory.h"
#include "compiler/driver/svg_timeline.h"
#include "gtest/gtest.h"
#include "simulator/simulate.h"
#include "tests/support/builders.h"
#include "tests/support/round_problem.h"

namespace sail::driver {
namespace {

using test::MakeStage;

struct Drawn {
  std::string classes;
  double x = 0;
  double width = 0;
};

double Number(const std::string& text) {
  double value = 0;
  EXPECT_TRUE(absl::SimpleAtod(text, &value)) << text;
  return value;
}

// The boxes of a drawing, or of its row "pipeline.stage"; those of patterns have no place and are not among them.
std::vector<Drawn> Boxes(std::string svg, const std::string& row = "") {
  if (!row.empty()) {
    const size_t begin = svg.find(absl::StrCat("data-row=\"", row, "\""));
    EXPECT_NE(begin, std::string::npos) << "no row " << row;
    svg = svg.substr(begin, svg.find("</g>", begin) - begin);
  }
  static const std::regex rect("<rect class=\"([^\"]*)\" x=\"([^\"]*)\" y=\"[^\"]*\" width=\"([^\"]*)\" height=");
  std::vector<Drawn> boxes;
  for (std::sregex_iterator it(svg.begin(), svg.end(), rect), end; it != end; ++it) {
    boxes.push_back({(*it)[1], Number((*it)[2]), Number((*it)[3])});
  }
  return boxes;
}

std::vector<Drawn> OfClass(const std::vector<Drawn>& boxes, const std::string& classes) {
  std::vector<Drawn> found;
  for (const Drawn& box : boxes) {
    if (box.classes == classes) found.push_back(box);
  }
  return found;
}

// Each box starts where the one before it ends.
void ExpectTouching(const std::vector<Drawn>& boxes) {
  for (size_t i = 1; i < boxes.size(); ++i) EXPECT_NEAR(boxes[i].x, boxes[i - 1].x + boxes[i - 1].width, 1e-9) << i;
}

// Two stages of two blocks, and what is simulated of them.
struct Scene {
  ir::Problem problem = test::RoundProblem();
  ir::Plan plan;
  sim::Recording recording;
  ir::Report report;
  explicit Scene(int micro_batches) {
    plan.pipelines = {{.micro_batch = 1,
                       .micro_batches = micro_batches,
                       .stages = {MakeStage(0, 2, 0, 0, {0}), MakeStage(3, 5, 1, 0, {0})}}};
    report = *sim::Simulate(problem, plan, &recording);
  }
  std::string Timeline() const { return TimelinePicture(problem, plan, report, recording, PicturedGroups(plan)); }
};

TEST(Pixels, TwoDecimalsAndNoMinusZero) {
  EXPECT_EQ(Pixels(12.5), "12.5");
  EXPECT_EQ(Pixels(1.0 / 3), "0.33");
  EXPECT_EQ(Pixels(-0.001), "0");
  EXPECT_EQ(Pixels(-3), "-3");
  EXPECT_EQ(Pixels(1079.996), "1080");
}

// Thirds of 100: rounded widths would be 33.33 each and leave a gap.
TEST(Svg, BoxesThatTouchStillDoWhenRounded) {
  Svg svg(100, "s", "t", "d");
  for (int i = 0; i < 3; ++i) svg.Rect({.x = 100.0 * i / 3, .y = 0, .width = 100.0 / 3, .height = 1}, "a");
  const std::vector<Drawn> boxes = Boxes(svg.Finish(1));
  ASSERT_EQ(boxes.size(), 3u);
  ExpectTouching(boxes);
  EXPECT_NEAR(boxes[2].x + boxes[2].width, 100, 1e-9);
}

TEST(Svg, TextsAreEscaped) {
  Svg svg(10, "s", "<t>", "a & b");
  svg.Text(0, 0, "c", "</text><script>");
  svg.Rect({}, "c", "</title>");
  const std::string text = svg.Finish(10);
  EXPECT_EQ(text.find("<script>"), std::string::npos);
  EXPECT_NE(text.find("&lt;/text&gt;&lt;script&gt;"), std::string::npos);
  EXPECT_NE(text.find("<title>&lt;/title&gt;</title>"), std::string::npos);
  EXPECT_NE(text.find("&lt;t&gt;</title>"), std::string::npos);
}

TEST(AxisTicks, AreRoundAndFewEnough) {
  EXPECT_EQ(AxisTicks(21, 10), (std::vector<double>{0, 5, 10, 15, 20}));
  EXPECT_EQ(AxisTicks(10, 11), (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  for (const double end : {1e-9, 0.037, 1.0, 999.0, 3e13}) {
    for (const int most : {2, 5, 10}) {
      const std::vector<double> ticks = AxisTicks(end, most);
      EXPECT_GE(ticks.size(), 1u);
      EXPECT_LE(static_cast<int>(ticks.size()), most);
      EXPECT_LE(ticks.back(), end);
    }
  }
}

TEST(Timeline, BoxesOfAStageAreAsWideAsItIsBusy) {
  const Scene scene(4);
  for (const ir::StageReport& stage : scene.report.stages) {
    const std::vector<Drawn> boxes = Boxes(scene.Timeline(), absl::StrCat("0.", stage.stage));
    EXPECT_EQ(OfClass(boxes, "fwd").size(), 4u);
    EXPECT_EQ(OfClass(boxes, "bwd").size(), 4u);
    EXPECT_EQ(OfClass(boxes, "step").size(), 1u);
    const std::vector<Drawn> whole = OfClass(boxes, "idle");  // behind everything: the whole iteration
    ASSERT_EQ(whole.size(), 1u);
    double busy = 0;
    for (const char* classes : {"fwd", "bwd", "step"}) {
      for (const Drawn& box : OfClass(boxes, classes)) busy += box.width;
    }
    EXPECT_NEAR(busy / whole[0].width, stage.busy / scene.report.iteration, 1e-3);
  }
}

// 400 micro-batches are 801 computations. Stage 0 of two: forwards 0 and 1, then backward 0, forward 2, …, backward
// 397, forward 399 in turn (398 of each), then backwards 398 and 399.
TEST(Timeline, ALongSteadyPhaseIsOneBox) {
  const Scene scene(400);
  const std::string svg = scene.Timeline();
  const std::vector<Drawn> boxes = Boxes(svg, "0.0");
  EXPECT_EQ(OfClass(boxes, "mix").size(), 1u);
  EXPECT_EQ(OfClass(boxes, "fwd").size(), 2u);
  EXPECT_EQ(OfClass(boxes, "bwd").size(), 2u);
  EXPECT_NE(svg.find("796 forwards and backwards in turn"), std::string::npos);
}

TEST(Timeline, AlikePipelinesAreOneGroupAndManyRowsAreCutOff) {
  ir::Plan plan;
  for (int node = 0; node < 4; ++node) {
    plan.pipelines.push_back({.micro_batch = 1, .micro_batches = 2, .stages = {MakeStage(0, 5, 0, node, {0})}});
  }
  EXPECT_EQ(PicturedGroups(plan), (std::vector<Alike>{{0, 1, 2, 3}}));
  for (int shape = 0; shape < 100; ++shape) {
    plan.pipelines.push_back({.micro_batch = 1, .micro_batches = 3 + shape, .stages = {MakeStage(0, 5, 0, 0, {1})}});
  }
  EXPECT_EQ(PicturedGroups(plan).size(), 64u);
}

TEST(Parts, TheBarIsTheWholeIteration) {
  const std::vector<Drawn> boxes = Boxes(PartsPicture(Scene(4).report));
  ASSERT_GE(boxes.size(), 4u);  // no gradient synchronisation here
  EXPECT_EQ(boxes.front().x, 0);
  ExpectTouching(boxes);
  EXPECT_NEAR(boxes.back().x + boxes.back().width, 1080, 1e-9);
}

TEST(Memory, TermsAreStackedToTheTotal) {
  const Scene scene(4);
  const std::string svg = MemoryPicture(scene.problem, scene.plan, scene.report, PicturedGroups(scene.plan));
  for (const ir::StageReport& stage : scene.report.stages) {
    const std::vector<Drawn> boxes = Boxes(svg, absl::StrCat("0.", stage.stage));
    ASSERT_EQ(boxes.size(), stage.memory.size());
    ExpectTouching(boxes);
    const double width = boxes.back().x + boxes.back().width - boxes.front().x;
    // The scale ends at the limit, which both stages share: 730 pixels.
    EXPECT_NEAR(
        width,
        730.0 * static_cast<double>(stage.memory_total.value()) / static_cast<double>(stage.memory_limit.value()),
        0.02);
  }
}

TEST(Cost, TheWaterfallEndsInTheTotal) {
  const Scene scene(4);
  std::vector<Drawn> boxes = Boxes(CostPicture(scene.problem, scene.report));
  ASSERT_EQ(boxes.size(), 5u);  // two pools, two links with egress, the total
  EXPECT_EQ(boxes[0].classes, "nodes");
  EXPECT_EQ(boxes[2].classes, "egress");
  const Drawn total = boxes.back();
  boxes.pop_back();
  ExpectTouching(boxes);
  EXPECT_EQ(boxes.front().x, total.x);
  EXPECT_NEAR(boxes.back().x + boxes.back().width, total.x + total.width, 1e-9);
  EXPECT_GE(boxes[0].width, boxes[1].width) << "the dearest pool is first";
}

TEST(Cost, ManyItemsAreMergedAndNothingIsNoPicture) {
  Scene scene(4);
  for (int i = 0; i < 40; ++i)
    scene.report.pools.push_back({.pool = ir::PoolId(0), .nodes = 1, .per_iteration = Usd(1)});
  scene.report.cost_per_iteration += Usd(40);
  const std::string svg = CostPicture(scene.problem, scene.report);
  EXPECT_EQ(Boxes(svg).size(), 21u);
  EXPECT_NE(svg.find("25 more"), std::string::npos);  // 44 items, 19 of their own
  scene.report.cost_per_iteration = Usd(0);
  EXPECT_EQ(CostPicture(scene.problem, scene.report), "");
}

TEST(Map, AnArcForEachDirectionBetweenZones) {
  const Scene scene(4);
  const std::string svg = MapPicture(scene.problem, scene.report);
  EXPECT_EQ(OfClass(Boxes(svg), "zone").size(), 2u);
  EXPECT_EQ(OfClass(Boxes(svg), "region").size(), 1u);
  // 4 · 2048 bytes each way at 0.001 USD/B.
  const std::regex arc("class=\"edge paid\"");
  EXPECT_EQ(std::distance(std::sregex_iterator(svg.begin(), svg.end(), arc), std::sregex_iterator()), 2);
  EXPECT_NE(svg.find("8 KiB/iter"), std::string::npos);
}

}  // namespace
}  // namespace sail::driver
