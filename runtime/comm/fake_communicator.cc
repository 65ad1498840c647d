#include "runtime/comm/fake_communicator.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"

namespace sail::rt {

// One group of ranks. All fields but the first two are guarded by `mutex`.
struct FakeNetwork::Group {
  // The contributions to one collective.
  struct Round {
    std::vector<at::Tensor> contributions;
    int arrived = 0;
    int left = 0;
  };

  std::vector<ir::Rank> members;
  std::chrono::duration<double> deadline;

  std::mutex mutex;
  std::condition_variable changed;
  int joined = 0;
  std::set<int> gone;               // members whose communicator failed or was destroyed
  std::map<int64_t, Round> rounds;  // by sequence number
  std::map<std::tuple<int, int, int>, std::deque<at::Tensor>> mail;  // by (sender, receiver, tag)

  // Waits until `ready`, a member of `awaited` is gone, or the deadline.
  template <class Ready>
  absl::Status Await(std::unique_lock<std::mutex>& lock, const std::vector<int>& awaited, absl::string_view action,
                     Ready ready) {
    const auto gone_among = [&] {
      std::vector<ir::Rank> ranks;
      for (const int member : awaited) {
        if (gone.count(member) != 0) ranks.push_back(members[member]);
      }
      return ranks;
    };
    const bool in_time = changed.wait_for(lock, deadline, [&] { return ready() || !gone_among().empty(); });
    if (ready()) return absl::OkStatus();
    std::vector<ir::Rank> named = gone_among();
    if (in_time) return absl::UnavailableError(absl::StrCat(action, ": ", RankList(named), " left the group"));
    for (const int member : awaited) named.push_back(members[member]);
    return absl::UnavailableError(
        absl::StrCat(action, ": waited for ", RankList(named), " for ", deadline.count(), " s"));
  }
};

struct FakeNetwork::State {
  std::chrono::duration<double> deadline;
  std::mutex mutex;
  std::map<std::vector<ir::Rank>, std::shared_ptr<Group>> groups;
};

namespace {

class FinishedTransfer : public Transfer {
 public:
  explicit FinishedTransfer(absl::Status status) : status_(std::move(status)) {}
  absl::Status Wait() override { return status_; }

 private:
  absl::Status status_;
};

class FakeCommunicator : public Communicator {
 public:
  FakeCommunicator(std::shared_ptr<FakeNetwork::Group> group, ir::Rank self)
      : Communicator(group->members, self), group_(std::move(group)) {
    for (int i = 0; i < size(); ++i) {
      if (i != index()) peers_.push_back(i);
    }
  }
  ~FakeCommunicator() override { Leave(); }

  absl::Status AwaitMembers() {
    std::unique_lock lock(group_->mutex);
    ++group_->joined;
    group_->changed.notify_all();
    return group_->Await(lock, peers_, "connecting", [&] { return group_->joined >= size(); });
  }

  absl::Status AllReduce(at::Tensor tensor, Reduction reduction) override {
    return Exchange(tensor, "all-reduce", [&](const std::vector<at::Tensor>& all) {
      tensor.copy_(all[0]);  // then in order of the members: the same bits everywhere
      for (size_t i = 1; i < all.size(); ++i) {
        if (reduction == Reduction::kSum) {
          tensor.add_(all[i]);
        } else {
          tensor.copy_(tensor.maximum(all[i]));
        }
      }
    });
  }
  absl::Status Broadcast(at::Tensor tensor, int root) override {
    // Only the root's contribution is read; shapes of the others are not looked at.
    return Exchange(tensor, "broadcast", [&](const std::vector<at::Tensor>& all) { tensor.copy_(all[root]); });
  }
  absl::Status Barrier() override {
    return Exchange(at::Tensor(), "barrier", [](const std::vector<at::Tensor>&) {});
  }

  std::unique_ptr<Transfer> Send(at::Tensor tensor, int peer, int tag) override {
    if (status().ok()) {
      std::unique_lock lock(group_->mutex);
      group_->mail[{index(), peer, tag}].push_back(tensor.clone());
      group_->changed.notify_all();
    }
    return std::make_unique<FinishedTransfer>(status());
  }
  std::unique_ptr<Transfer> Receive(at::Tensor tensor, int peer, int tag) override {
    return std::make_unique<PendingReceive>(this, std::move(tensor), peer, tag);
  }

 private:
  class PendingReceive : public Transfer {
   public:
    PendingReceive(FakeCommunicator* owner, at::Tensor tensor, int peer, int tag)
        : owner_(owner), tensor_(std::move(tensor)), peer_(peer), tag_(tag) {}
    absl::Status Wait() override { return owner_->FinishReceive(tensor_, peer_, tag_); }

   private:
    FakeCommunicator* owner_;
    at::Tensor tensor_;
    int peer_;
    int tag_;
  };

  absl::Status FinishReceive(at::Tensor tensor, int peer, int tag) {
    if (!status().ok()) return status();
    std::unique_lock lock(group_->mutex);
    std::deque<at::Tensor>& queue = group_->mail[{peer, index(), tag}];
    absl::Status waited = group_->Await(lock, {peer}, "receive", [&] { return !queue.empty(); });
    if (!waited.ok()) return Break(lock, std::move(waited));
    tensor.copy_(queue.front());
    queue.pop_front();
    return absl::OkStatus();
  }

  // Deposits a copy of `tensor`, waits for those of all members and runs `use` on them.
  template <class Use>
  absl::Status Exchange(const at::Tensor& tensor, absl::string_view action, Use use) {
    if (!status().ok()) return status();
    const int64_t sequence = sequence_++;
    std::unique_lock lock(group_->mutex);
    FakeNetwork::Group::Round& round = group_->rounds[sequence];
    round.contributions.resize(size());
    if (tensor.defined()) round.contributions[index()] = tensor.clone();
    ++round.arrived;
    group_->changed.notify_all();
    absl::Status waited = group_->Await(lock, peers_, action, [&] { return round.arrived == size(); });
    if (!waited.ok()) return Break(lock, std::move(waited));
    use(round.contributions);
    if (++round.left == size()) group_->rounds.erase(sequence);
    return absl::OkStatus();
  }

  absl::Status Break(std::unique_lock<std::mutex>& lock, absl::Status error) {
    lock.unlock();
    Leave();
    return Keep(std::move(error));
  }
  void Leave() {
    std::unique_lock lock(group_->mutex);
    group_->gone.insert(index());
    group_->changed.notify_all();
  }

  std::shared_ptr<FakeNetwork::Group> group_;
  std::vector<int> peers_;
  int64_t sequence_ = 0;
};

}  // namespace

FakeNetwork::FakeNetwork(Seconds deadline) : state_(std::make_unique<State>()) {
  state_->deadline = std::chrono::duration<double>(deadline.value());
}
FakeNetwork::~FakeNetwork() = default;

absl::StatusOr<std::unique_ptr<Communicator>> FakeNetwork::Connect(const std::vector<ir::Rank>& members,
                                                                   ir::Rank self) {
  std::shared_ptr<Group> group;
  {
    std::lock_guard lock(state_->mutex);
    std::shared_ptr<Group>& slot = state_->groups[members];
    if (slot == nullptr) {
      slot = std::make_shared<Group>();
      slot->members = members;
      slot->deadline = state_->deadline;
    }
    group = slot;
  }
  auto communicator = std::make_unique<FakeCommunicator>(std::move(group), self);
  SAIL_RETURN_IF_ERROR(communicator->AwaitMembers());
  return std::unique_ptr<Communicator>(std::move(communicator));
}

}  // namespace sail::rt
