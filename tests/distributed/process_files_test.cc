// What sailrun writes to: one run for each directory, and a standard output that fails or pauses.
#include <fcntl.h>
#include <sys/stat.h>

#include "tests/distributed/process_fixture.h"

namespace sail::rt {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

TEST_F(ProcessTest, ASecondRunInTheSameDirectoryIsRefused) {
  const pid_t first = SpawnRun();
  AwaitSteps(3);
  const std::string lock = fs::canonical(root_).string() + "/run/controller.lock";
  EXPECT_EQ(Wait(Spawn("second", {FAKE_SAILRUN, bundle_, "--metrics", metrics_}), kReaction), 7);
  EXPECT_EQ(Errors("second"),
            absl::StrCat("sailrun: error: another sailrun writes here: process ", first, " holds '", lock, "'\n"));
  // Nor does it disturb the first, and another directory is free.
  fs::create_directory(root_ + "/elsewhere");
  const std::string elsewhere = root_ + "/elsewhere/metrics.jsonl";
  EXPECT_EQ(Wait(Spawn("third", {FAKE_SAILRUN, bundle_, "--metrics", elsewhere, "--steps", "2"}), kStartTime), 0)
      << Errors("third");
  const size_t steps = Metrics().size();
  AwaitSteps(steps + 3);
  ExpectWholeMetrics();

  // Killed, the first leaves its lock behind, which holds nobody up.
  ASSERT_EQ(kill(first, SIGKILL), 0);
  EXPECT_EQ(Wait(first, kReaction), 128 + SIGKILL);
  EXPECT_TRUE(fs::exists(lock));
  EXPECT_EQ(Wait(SpawnRun("", {"--steps", "2"}), kStartTime), 0) << Errors();
  EXPECT_EQ(Metrics().size(), 3u);
  EXPECT_FALSE(fs::exists(lock));
  ExpectNothingLeft();
}

// Of two that start at the same moment one runs.
TEST_F(ProcessTest, OneOfTwoSimultaneousRunsIsRefused) {
  const std::vector<std::string> words = {FAKE_SAILRUN, bundle_, "--metrics", metrics_, "--steps", "100"};
  const pid_t one = Spawn("one", words), two = Spawn("two", words);
  const std::vector<int> codes = {Wait(one, kStartTime), Wait(two, kStartTime)};
  EXPECT_THAT(codes, ::testing::UnorderedElementsAre(0, 7)) << Errors("one") << Errors("two");
  EXPECT_THAT(Errors("one") + Errors("two"), MatchesRegex("sailrun: error: another sailrun writes here: [^\n]*\n"));
  EXPECT_EQ(Metrics().size(), 101u);
  ExpectNothingLeft();
}

// A full disk, no descriptor, a reader that has gone: the run trains to its end and then says what is missing.
TEST_F(ProcessTest, AStandardOutputThatFailsExitsWith7) {
  const std::vector<std::vector<std::string>> outputs = {
      {R"(exec "$0" "$@" >/dev/full)", "No space left on device"},
      {R"(exec "$0" "$@" -q >&-)", "Bad file descriptor"},
      {R"(("$0" "$@"; echo $? >"$CODE") | exec true; exit $(cat "$CODE"))", "Broken pipe"}};
  for (const std::vector<std::string>& output : outputs) {
    const pid_t run =
        Spawn("run", {"/bin/sh", "-c", output[0], FAKE_SAILRUN, bundle_, "--metrics", metrics_, "--steps", "3"},
              {{"CODE", root_ + "/code"}});
    EXPECT_EQ(Wait(run, kStartTime), 7) << output[0];
    EXPECT_EQ(Errors(), "sailrun: error: cannot write to standard output: " + output[1] +
                            "; all steps are trained, see '" + metrics_ + "'\n");
    EXPECT_EQ(Metrics().size(), 4u);
    ExpectWholeMetrics();
  }
  EXPECT_EQ(Wait(Spawn("help", {"/bin/sh", "-c", outputs[0][0], FAKE_SAILRUN, "--help"}), kStartTime), 7);
  EXPECT_EQ(Errors("help"), "sailrun: error: cannot write to standard output: No space left on device\n");
  ExpectNothingLeft();
}

// Nobody reads, as in a terminal after Ctrl-S: training goes on, the summary waits, a stop signal ends the wait.
TEST_F(ProcessTest, APausedStandardOutputDoesNotPauseTheRun) {
  const std::string pipe = root_ + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0666), 0);
  const int reader = open(pipe.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  const std::string page(4096, '.');
  while (write(reader, page.data(), page.size()) > 0) {
  }
  const auto train_all = [&] {
    fs::remove(metrics_);
    const pid_t run = Spawn(
        "run",
        {"/bin/sh", "-c", R"(exec "$0" "$@" >"$OUT")", FAKE_SAILRUN, bundle_, "--metrics", metrics_, "--steps", "30"},
        {{"OUT", pipe}});
    AwaitSteps(30);
    EXPECT_TRUE(WaitUntil([&] { return Ours().size() == 1; }, kStartTime));  // agents and workers are done
    EXPECT_EQ(Wait(run, std::chrono::milliseconds(500)), -1);
    return run;
  };
  const pid_t stopped = train_all();
  ASSERT_EQ(kill(stopped, SIGTERM), 0);
  EXPECT_EQ(Wait(stopped, kReaction), 128 + SIGTERM);
  EXPECT_THAT(Errors(), HasSubstr("cannot write to standard output: nobody reads it; all steps are trained"));

  const pid_t resumed = train_all();
  std::string text(1 << 20, ' ');
  EXPECT_TRUE(WaitUntil(
      [&] {
        (void)!read(reader, text.data(), text.size());
        return absl::StrContains(text, "30 steps: loss 4.0000 -> ");
      },
      kReaction));
  EXPECT_EQ(Wait(resumed, kReaction), 0) << Errors();
  close(reader);
  ExpectNothingLeft();
}

}  // namespace
}  // namespace sail::rt
