// Wall clocks that differ and jump are of no effect.
#include "tests/distributed/process_fixture.h"

namespace sail::rt {
namespace {

using ::testing::ContainsRegex;
using ::testing::MatchesRegex;

// Times of the wall clock in the log of a rank of skewed_sailrun, after each step.
class WallClockTest : public ProcessTest {
 protected:
  std::vector<double> Times(int rank) {
    std::vector<double> times;
    std::ifstream log(absl::StrCat(root_, "/run/rank-", rank, ".log"));
    for (std::string line; std::getline(log, line);) {
      if (std::atof(line.c_str()) > 1e9) times.push_back(std::atof(line.c_str()));
    }
    return times;
  }
  pid_t SpawnSkewed(double skew, double jump) {
    return Spawn("run", {SKEWED_SAILRUN, bundle_, "--metrics", metrics_},
                 {{"SAIL_WALL_CLOCK", absl::StrCat(skew, " ", jump, " ", root_, "/jump")}});
  }
  void Jump() { std::ofstream(root_ + "/jump") << "now"; }

  // Node slow-0 is `skew` seconds ahead and `jump` further during the run, which must not notice: no rank is lost, no
  // wait becomes longer or shorter, and a stop is still prompt. All deadlines are 2 s.
  void ExpectNoEffect(double skew, double jump) {
    const pid_t run = SpawnSkewed(skew, jump);
    AwaitSteps(3);
    EXPECT_EQ(Wait(run, std::chrono::milliseconds(2500)), -1) << Errors();  // longer than the deadline
    const double before = Times(1).back() - Times(0).back();
    Jump();
    EXPECT_EQ(Wait(run, std::chrono::milliseconds(2500)), -1) << Errors();
    const size_t steps = Metrics().size();
    AwaitSteps(steps + 3);
    EXPECT_NEAR(before, skew, 0.7);  // the clocks did differ …
    EXPECT_NEAR(Times(1).back() - Times(0).back(), skew + jump, 0.7);
    ASSERT_EQ(kill(run, SIGTERM), 0);
    EXPECT_EQ(Wait(run, kReaction), 128 + SIGTERM);  // … and nothing came of it
    EXPECT_THAT(Errors(), MatchesRegex("sailrun: error: stopped by SIGTERM; last step [0-9]+\n"));
    ExpectNothingLeft();
  }
};

// clock-27s, clock-076: liveness is judged by each process's own monotonic clock, and no message carries a time of day.
TEST_F(WallClockTest, Clock27s_ClocksThatDifferAndJumpBackHaveNoEffect) { ExpectNoEffect(27, -60); }
TEST_F(WallClockTest, Clock27s_AClockThatJumpsAheadHasNoEffect) { ExpectNoEffect(-27, 3600); }
TEST_F(WallClockTest, Clock076_ASmallSkewHasNoEffect) { ExpectNoEffect(0.76, 0); }

// The other way round: a rank that is really lost is found in time, though its clock and its agent's went back.
TEST_F(WallClockTest, Clock27s_ALostRankIsFoundInTime) {
  const pid_t run = SpawnSkewed(27, -60);
  AwaitSteps(3);
  const pid_t victim = Worker(1);
  Jump();
  EXPECT_EQ(Wait(run, std::chrono::milliseconds(500)), -1) << Errors();
  ASSERT_EQ(kill(victim, SIGSTOP), 0);
  EXPECT_EQ(Wait(run, std::chrono::seconds(2 + 2) + kReaction), 7);
  EXPECT_THAT(Errors(), ContainsRegex("rank 1 \\(.*\\) stopped answering after step [0-9]+: the others waited 2 s\n"));
  ExpectNothingLeft();
}

}  // namespace
}  // namespace sail::rt
