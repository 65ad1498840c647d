#include "compiler/driver/report_page.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "simulator/simulate.h"
#include "tests/support/builders.h"

namespace sail::driver {
namespace {

std::string PageOf(const ir::Problem& problem, const ir::Plan& plan, std::vector<ir::FrontPoint> front = {}) {
  sim::Recording recording;
  const absl::StatusOr<ir::Report> report = sim::Simulate(problem, plan, &recording);
  EXPECT_TRUE(report.ok()) << report.status();
  const ir::PlanFile file{.problem = problem, .plan = plan, .plan_hash = "sha256:0", .front = std::move(front)};
  const std::string page = ReportPage(file, *report, recording);
  EXPECT_EQ(page, ReportPage(file, *report, recording));
  return page;
}

int Count(absl::string_view text, absl::string_view word) {
  int count = 0;
  for (size_t at = text.find(word); at != absl::string_view::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

TEST(ReportPage, HasFivePicturesEachWithATable) {
  const std::string page = PageOf(test::TinyProblem(), test::TinyPlan());
  for (const char* id : {"parts", "timeline", "memory", "map", "cost"}) {
    EXPECT_EQ(Count(page, absl::StrCat("id=\"", id, "-title\"")), 1) << id;
  }
  EXPECT_EQ(Count(page, "<svg "), 5);
  EXPECT_EQ(Count(page, "<svg "), Count(page, "</svg>"));
  EXPECT_EQ(Count(page, "<table>"), Count(page, "</table>"));
  EXPECT_EQ(Count(page, "<section>"), Count(page, "</section>"));
  for (const char* caption : {"Along the slowest pipeline", "Seconds that the GPUs of a stage compute and wait",
                              "Memory of each GPU of pipeline 0", "Memory of each GPU of pipeline 1",
                              "Bytes between nodes", "Nodes by pool, egress by link"}) {
    EXPECT_EQ(Count(page, absl::StrCat("<caption>", caption, "</caption>")), 1) << caption;
  }
}

TEST(ReportPage, DrawsTheFrontOfThePlanFile) {
  const std::vector<ir::FrontPoint> front = {
      {.iteration = Seconds(1), .cost_per_iteration = Usd(2), .goodput = 1, .nodes = 2, .gpus = 8},
      {.iteration = Seconds(2), .cost_per_iteration = Usd(1), .goodput = 0.5, .nodes = 1, .gpus = 4, .chosen = true}};
  const std::string page = PageOf(test::TinyProblem(), test::TinyPlan(), front);
  EXPECT_EQ(Count(page, "<svg "), 6);
  EXPECT_EQ(Count(page, "id=\"front-title\""), 1);
  EXPECT_EQ(Count(page, "2 s, 1 USD/iter, 4 GPUs; the plan chosen"), 1);
  EXPECT_EQ(Count(page, "1 s, 2 USD/iter, 8 GPUs<"), 1);
  EXPECT_EQ(Count(page, "<caption>Plans that no other beats in time and money at once</caption>"), 1);
}

TEST(ReportPage, FetchesNothingAndRunsNothing) {
  const std::string page = PageOf(test::TinyProblem(), test::TinyPlan());
  for (const char* word : {"http:", "https:", "<script", "<link", "<img", "@import", "src=", "href=", "javascript"}) {
    EXPECT_FALSE(absl::StrContains(page, word)) << word;
  }
  EXPECT_TRUE(absl::StrContains(page, "default-src 'none'"));
}

// Whatever a specification calls its things, the page has the same elements.
TEST(ReportPage, NamesOfASpecificationAreText) {
  const std::string hostile = "</title></text><svg onload=alert(1)>&'\"";
  ir::Problem problem = test::TinyProblem();
  const std::string tame_page = PageOf(problem, test::TinyPlan());
  problem.job.name = problem.model.name = problem.cluster.name = hostile;
  problem.cluster.regions[0] = hostile;
  for (ir::Zone& zone : problem.cluster.zones) zone.name = absl::StrCat(zone.name, hostile);
  for (ir::Pool& pool : problem.cluster.pools) pool.name = absl::StrCat(pool.name, hostile);
  for (ir::Gpu& gpu : problem.cluster.gpus) gpu.name = absl::StrCat(gpu.name, hostile);
  problem.job.constraints = {{.name = hostile, .metric = ir::Metric::kGpus, .at_most = true, .limit = 100}};
  const std::string page = PageOf(problem, test::TinyPlan());
  EXPECT_FALSE(absl::StrContains(page, "<svg onload"));
  EXPECT_TRUE(absl::StrContains(page, "&lt;svg onload=alert(1)&gt;&amp;&#39;&quot;"));
  for (const char* element : {"<svg ", "<text ", "<rect ", "<title", "<path ", "<g ", "<section>"}) {
    EXPECT_EQ(Count(page, element), Count(tame_page, element)) << element;
  }
}

TEST(ReportPage, SaysWhatPreemptionsCost) {
  ir::Problem problem = test::TinyProblem();
  EXPECT_FALSE(absl::StrContains(PageOf(problem, test::TinyPlan()), "preemptions"));
  for (ir::Pool& pool : problem.cluster.pools) {
    pool.market = ir::Market::kSpot;
    pool.mean_lifetime = Seconds(1e6);
  }
  EXPECT_TRUE(absl::StrContains(PageOf(problem, test::TinyPlan()), "expected with preemptions"));
}

TEST(ReportPage, SaysWhichLimitsAreBroken) {
  ir::Problem problem = test::TinyProblem();
  problem.job.constraints = {{.name = "few", .metric = ir::Metric::kGpus, .at_most = true, .limit = 1},
                             {.name = "enough", .metric = ir::Metric::kGpus, .at_most = true, .limit = 100}};
  EXPECT_TRUE(absl::StrContains(PageOf(problem, test::TinyPlan()), "Broken: 1 of 2."));
  problem.job.constraints.erase(problem.job.constraints.begin());
  EXPECT_TRUE(absl::StrContains(PageOf(problem, test::TinyPlan()), "All limits hold."));
}

}  // namespace
}  // namespace sail::driver
