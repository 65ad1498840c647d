#include "runtime/engine/trainer.h"

#include <chrono>
#include <memory>

#include "ATen/Parallel.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "runtime/comm/gloo_communicator.h"
#include "runtime/engine/rank_trainer.h"
#include "runtime/torch_boundary.h"

namespace sail::rt {
namespace {

absl::Status Train(const Bundle& bundle, ir::Rank rank, const ConnectGroup& connect,
                   const std::function<absl::Status(const StepResult&)>& on_step) {
  SAIL_ASSIGN_OR_RETURN(const std::unique_ptr<RankTrainer> trainer, RankTrainer::Create(bundle, rank, connect));
  for (int64_t step = 1; step <= bundle.problem.job.steps; ++step) {
    const auto start = std::chrono::steady_clock::now();
    SAIL_ASSIGN_OR_RETURN(const double loss, trainer->Step());
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    SAIL_RETURN_IF_ERROR(
        on_step({.step = step, .loss = loss, .seconds = seconds.count(), .samples = bundle.problem.job.global_batch}));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status TrainRank(const Bundle& bundle, ir::Rank rank, const StoreAddress& store,
                       const std::function<absl::Status(const StepResult&)>& on_step) {
  ConnectGroup connect;  // stays empty for a rank that has no peers
  if (ir::Placement(bundle.plan).rank_count() > 1) {
    SAIL_ASSIGN_OR_RETURN(const GlooNetwork network,
                          GlooNetwork::Create(store.host, store.port, bundle.limits.collective_timeout));
    connect = [network](const std::vector<ir::Rank>& members, ir::Rank self) { return network.Connect(members, self); };
  }
  return CatchTorch(absl::StatusCode::kInternal, absl::StrCat("rank ", rank.index()), [&] {
    at::set_num_threads(1);  // a worker is one core of the plan; its node may run others
    return Train(bundle, rank, connect, on_step);
  });
}

}  // namespace sail::rt
