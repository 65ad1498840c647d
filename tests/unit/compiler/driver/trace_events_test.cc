#include "compiler/driver/trace_events.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/base/json.h"
#include "compiler/ir/placement.h"
#include "gtest/gtest.h"
#include "simulator/simulate.h"
#include "tests/support/builders.h"
#include "tests/support/random_plan.h"
#include "tests/support/round_problem.h"

namespace sail::driver {
namespace {

using test::MakeStage;

// The events of the trace, which must be JSON in the strict sense.
std::vector<Json> EventsOf(const ir::Problem& problem, const ir::Plan& plan) {
  sim::Recording recording;
  EXPECT_TRUE(sim::Simulate(problem, plan, &recording).ok());
  const std::string text = TraceEvents(problem, plan, recording);
  EXPECT_EQ(text, TraceEvents(problem, plan, recording));
  const absl::StatusOr<Json> json = ParseJson(text, "trace");
  EXPECT_TRUE(json.ok()) << json.status();
  return json.ok() ? (*json)["traceEvents"].get<std::vector<Json>>() : std::vector<Json>();
}

TEST(TraceEvents, NodesAreProcessesAndRanksAreThreads) {
  ir::Problem problem = test::RoundProblem();
  problem.cluster.pools[0].name = "p\"</script>";
  ir::Plan plan;
  plan.pipelines = {
      {.micro_batch = 1, .micro_batches = 2, .stages = {MakeStage(0, 2, 0, 0, {0}), MakeStage(3, 5, 0, 1, {0})}}};
  std::map<int, std::string> processes;
  std::map<int, std::string> threads;
  std::vector<Json> slices;
  for (const Json& event : EventsOf(problem, plan)) {
    if (event["name"] == "process_name") processes[event["pid"]] = event["args"]["name"];
    if (event["name"] == "thread_name") threads[event["tid"]] = event["args"]["name"];
    if (event["ph"] == "X") slices.push_back(event);
  }
  EXPECT_EQ(processes, (std::map<int, std::string>{
                           {1, "node p\"</script>/0 in a"}, {2, "node p\"</script>/1 in a"}, {3, "links"}}));
  EXPECT_EQ(threads[1], "rank 0: pipeline 0, stage 0, gpu 0");
  EXPECT_EQ(threads[2], "rank 1: pipeline 0, stage 1, gpu 0");
  EXPECT_EQ(threads[3], "p\"</script>/0 -> p\"</script>/1");
  ASSERT_EQ(slices.size(), 2u * 5 + 4);
  // The first forward of stage 1 starts at 3 s and takes 2 s (timeline_recording_test).
  const Json& forward = slices[5];
  EXPECT_EQ(forward["name"], "forward");
  EXPECT_EQ(forward["pid"], 2);
  EXPECT_EQ(forward["tid"], 2);
  EXPECT_EQ(forward["ts"], 3e6);
  EXPECT_EQ(forward["dur"], 2e6);
  EXPECT_EQ(forward["args"]["micro_batch"], 0);
  const Json& transfer = slices[10];
  EXPECT_EQ(transfer["name"], "activation");
  EXPECT_EQ(transfer["ts"], 2e6);
  EXPECT_EQ(transfer["args"]["bytes"], 2048);
}

// Viewers draw what is on one row as nested calls: there, nothing may overlap.
TEST(TraceEvents, NothingOverlapsOnARow) {
  Rng rng(7);
  int rows_of_links = 0;
  for (int round = 0; round < 40; ++round) {
    SCOPED_TRACE(round);
    ir::Problem problem = test::TinyProblem();
    problem.cluster.links[0][0].bandwidth = BytesPerSecond(3e6);
    const ir::Plan plan = test::RandomPlan(problem, rng);
    std::map<int, double> ends;  // of the last event, by thread
    std::map<int, int> process_of;
    std::set<int> ranks;
    for (const Json& event : EventsOf(problem, plan)) {
      if (event["ph"] != "X") continue;
      const int tid = event["tid"];
      const double start = event["ts"];
      EXPECT_GE(event["dur"].get<double>(), 0);
      EXPECT_GE(start, ends[tid] - 1e-6) << event.dump();  // sums of microseconds, to a nanosecond
      ends[tid] = start + event["dur"].get<double>();
      EXPECT_EQ(process_of.emplace(tid, event["pid"]).first->second, event["pid"]) << "a thread of two processes";
      if (event["cat"] == "compute") ranks.insert(tid);
      if (event["cat"] == "transfer") ++rows_of_links;
    }
    EXPECT_EQ(static_cast<int>(ranks.size()), ir::Placement(plan).rank_count()) << "one thread for each rank";
  }
  EXPECT_GT(rows_of_links, 0);
}

}  // namespace
}  // namespace sail::driver
