#include "runtime/elastic/events.h"

#include <cmath>
#include <csignal>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sail::rt {
namespace {

TEST(WorkerMessage, StepsSurviveALine) {
  const std::string line = PrintWorkerMessage(StepResult{.step = 3, .loss = 0.1, .seconds = 1e-3, .samples = 8});
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const absl::StatusOr<WorkerMessage> message = ParseWorkerMessage(line);
  ASSERT_EQ(message.status(), absl::OkStatus());
  const StepResult& step = std::get<StepResult>(*message);
  EXPECT_EQ(step.step, 3);
  EXPECT_EQ(step.loss, 0.1);
  EXPECT_EQ(step.seconds, 1e-3);
  EXPECT_EQ(step.samples, 8);
}

TEST(WorkerMessage, ALossThatIsNoNumberStaysOne) {
  for (const double loss : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    const absl::StatusOr<WorkerMessage> message =
        ParseWorkerMessage(PrintWorkerMessage(StepResult{.step = 1, .loss = loss}));
    ASSERT_EQ(message.status(), absl::OkStatus());
    EXPECT_TRUE(std::isnan(std::get<StepResult>(*message).loss));
  }
}

TEST(WorkerMessage, ErrorsSurviveALineWhateverTheyHold) {
  const absl::Status error = absl::UnavailableError("peer\n\"1\" \xff gone");
  const std::string line = PrintWorkerMessage(error);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const absl::StatusOr<WorkerMessage> message = ParseWorkerMessage(line);
  ASSERT_EQ(message.status(), absl::OkStatus());
  EXPECT_EQ(std::get<absl::Status>(*message), absl::UnavailableError("peer\n\"1\" \xef\xbf\xbd gone"));
}

TEST(WorkerMessage, OtherOutputIsNoMessage) {
  for (const char* line : {"", "warming up", "{}", "[1]", R"({"step":1})", R"({"error":{"code":0,"message":""}})"}) {
    EXPECT_FALSE(ParseWorkerMessage(line).ok()) << line;
  }
}

TEST(Events, EveryKindSurvivesABatch) {
  const std::vector<WorkerEvent> events = {
      {ir::Rank(0), WorkerStarted{.pid = 41}},
      {ir::Rank(1), StepResult{.step = 2, .loss = 3.5, .seconds = 0.25, .samples = 4}},
      {ir::Rank(2), absl::Status(absl::InternalError("x"))},
      {ir::Rank(3), WorkerExited{.exit = {.signal = SIGKILL}, .on_request = true, .log_tail = "a\nb"}}};
  const absl::StatusOr<std::vector<WorkerEvent>> read = ParseEvents(PrintEvents(events));
  ASSERT_EQ(read.status(), absl::OkStatus());
  ASSERT_EQ(read->size(), 4u);
  for (int i = 0; i < 4; ++i) EXPECT_EQ((*read)[i].rank, ir::Rank(i));
  EXPECT_EQ(std::get<WorkerStarted>((*read)[0].what).pid, 41);
  EXPECT_EQ(std::get<StepResult>((*read)[1].what).loss, 3.5);
  EXPECT_EQ(std::get<absl::Status>((*read)[2].what), absl::InternalError("x"));
  const WorkerExited& exited = std::get<WorkerExited>((*read)[3].what);
  EXPECT_EQ(exited.exit.signal, SIGKILL);
  EXPECT_TRUE(exited.on_request);
  EXPECT_EQ(exited.log_tail, "a\nb");
}

TEST(Events, AHeartbeatIsAnEmptyBatch) {
  const absl::StatusOr<std::vector<WorkerEvent>> read = ParseEvents(PrintEvents({}));
  ASSERT_EQ(read.status(), absl::OkStatus());
  EXPECT_TRUE(read->empty());
}

}  // namespace
}  // namespace sail::rt
