// sailrun with the wall clock of wall_clock.cc. Each rank notes the time of that clock after every step in its log, so
// that a test can see that the clocks really differed.
#include <chrono>
#include <cstdio>

#include "runtime/elastic/command_line.h"
#include "runtime/engine/trainer.h"

namespace sail::rt {
namespace {

absl::Status TrainAndNoteTime(const Bundle& bundle, ir::Rank rank, const StoreAddress& store,
                              const std::function<absl::Status(const StepResult&)>& on_step) {
  return TrainRank(bundle, rank, store, [&](const StepResult& step) {
    const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
    std::fprintf(stderr, "%.3f\n", now.count());
    return on_step(step);
  });
}

}  // namespace
}  // namespace sail::rt

int main(int argc, char** argv) { return sail::rt::SailrunMain(argc, argv, sail::rt::TrainAndNoteTime); }
